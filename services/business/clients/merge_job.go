package clients

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// mergeStep is how many records a step moves.
const mergeStep = 500

// stragglersWait is when the job looks again for records of the client that was merged: those that were made of what was read before the merge.
// It is longer than a request may take.
const stragglersWait = 40 * time.Second

var mergeJob = job.Type{Name: "client.merge", Resources: []string{group.Scope}}

// mergeOrder is what the job is given.
type mergeOrder struct {
	From uuid.UUID `json:"from"`
}

// mergeState is where the job goes on.
type mergeState struct {
	Kind  int  `json:"kind"`  // of records
	Again bool `json:"again"` // behind the wait
}

// Jobs returns the handlers of the jobs of this domain.
func (s *Service) Jobs() []job.Handler {
	// Each statement moves what belongs to the client then, so no common snapshot is needed.
	return []job.Handler{{Type: mergeJob, Step: s.mergeStep, Tx: []db.Option{db.ReadCommitted()}}}
}

// mergeStep moves the next records of a client that was merged to the one that it is now.
func (s *Service) mergeStep(_ context.Context, t job.Task) (job.Store, error) {
	var o mergeOrder
	var start mergeState
	if err := errors.Join(t.Input(&o), t.State(&start)); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
		at, left := start, int64(mergeStep)
		into, err := mergedInto(ctx, tx, t.Company, o.From)
		if err != nil {
			return job.Progress{}, err
		}
		for ; left > 0 && at.Kind < len(s.follow); at.Kind++ {
			n, err := s.follow[at.Kind].Move(ctx, tx, t.Company, o.From, into, left)
			if err != nil {
				return job.Progress{}, fmt.Errorf("merge client: %w", err)
			}
			if left -= n; left == 0 {
				break // there may be more of this kind
			}
		}
		p := job.Progress{State: at, Done: t.Done + mergeStep - left}
		switch {
		case at.Kind < len(s.follow):
		case at.Again:
			p.End = true
		default:
			p.State, p.Wait = mergeState{Again: true}, stragglersWait
		}
		return p, nil
	}, nil
}
