package webhooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	replaySends = 100                    // events that a step sends at most; at most those of a second
	replayLooks = 500                    // events that a step looks at, where few are to be sent
	replayBytes = 1 << 20                // of their bodies, unless a single one is larger
	replayCount = 50_000                 // events that a step counts
	replayBurst = 300 * time.Millisecond // a replay that is late may catch up on so much
)

// replayState is where the job goes on.
type replayState struct {
	Counted  uuid.UUID     `json:"counted"`          // up to this event, or failed delivery
	Total    int64         `json:"total"`            // counted so far
	Begun    bool          `json:"begun"`            // all are counted
	Event    uuid.UUID     `json:"event"`            // the last one looked at
	Delivery uuid.UUID     `json:"delivery"`         // the last failed one looked at
	Rare     bool          `json:"rare,omitempty"`   // none of the last ones looked at was sent
	Due      time.Time     `json:"due"`              // when the next event may be sent
	Unsent   []uuid.UUID   `json:"unsent,omitempty"` // deliveries without an attempt, when last looked at
	Summary  ReplaySummary `json:"summary"`
}

// replayStep counts the next events, or sends them again. The subscription is locked, so that each delivery gets a number of
// its own.
func (s *Service) replayStep(_ context.Context, t job.Task) (job.Store, error) {
	var o replayOrder
	var at replayState
	if err := errors.Join(t.Input(&o), t.State(&at)); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
		r, err := s.newReplay(ctx, tx, t.By, o, at)
		if err != nil {
			return job.Progress{}, err
		}
		return r.step(ctx, t.Done)
	}, nil
}

// newReplay prepares a step.
func (s *Service) newReplay(ctx context.Context, tx *db.Tx, by access.Caller, o replayOrder, at replayState) (*replay, error) {
	sub, err := table.Lock(ctx, tx, by.Unconditional(), o.Subscription)
	if err != nil {
		return nil, err
	}
	r := &replay{service: s, tx: tx, by: by, sub: sub, replayOrder: o, replayState: at}
	r.Summary.Events = maps.Clone(at.Summary.Events) // a step may be made several times
	if r.Summary.Events == nil {
		r.Summary.Events = map[string]int64{}
	}
	return r, nil
}

// replay is a step of the job.
type replay struct {
	replayOrder
	replayState

	service *Service
	tx      *db.Tx
	by      access.Caller
	sub     Subscription
}

func (r *replay) step(ctx context.Context, done int64) (p job.Progress, err error) {
	p.Done = done
	if !r.Begun {
		err = r.count(ctx)
	} else if p.Wait, err = r.wait(ctx); p.Wait == 0 && err == nil {
		var seen int
		seen, p.End, err = r.advance(ctx)
		p.Done += int64(seen)
		if !p.End {
			p.Wait = r.pause()
		}
	}
	r.Summary.SubscriptionID, r.Summary.DryRun, r.Summary.Seconds = r.sub.ID, r.DryRun, (r.Summary.Selected+int64(r.Rate)-1)/int64(r.Rate)
	p.State, p.Summary = r.replayState, r.Summary
	if r.Begun {
		p.Total = r.Total
	}
	return p, err
}

// The ids of deliveries sort by the time of their events.
const (
	sqlCountFailed = `SELECT count(*), COALESCE(max(d.id::TEXT), '') FROM (SELECT id FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 AND id > $3 AND id <= $4 AND redelivery_no = 0 AND NOT is_test
ORDER BY company_id, subscription_id, id LIMIT $5) AS d`
	sqlSelectUnsent = `SELECT id FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id = ANY($3::UUID[]) AND state < 2 AND attempt = 0`
)

// count adds the next events to the total.
func (r *replay) count(ctx context.Context) error {
	var n int64
	var err error
	if r.Status == replayFailed {
		n, err = r.countFailed(ctx)
	} else {
		n, r.Counted, err = r.interval().Count(ctx, r.tx, r.sub.CompanyID, r.Counted, replayCount)
	}
	r.Total += n
	r.Begun = n < replayCount
	return err
}

func (r *replay) countFailed(ctx context.Context) (n int64, err error) {
	low, high := record.IDsBetween(r.From, r.To)
	if r.Counted != uuid.Nil {
		low = r.Counted
	}
	var last string
	if err := r.tx.QueryRow(ctx, sqlCountFailed, r.sub.CompanyID, r.sub.ID, low, high, replayCount).Scan(&n, &last); err != nil {
		return 0, fmt.Errorf("count failed deliveries: %w", err)
	}
	if n > 0 {
		r.Counted, err = uuid.Parse(last)
	}
	return n, err
}

// wait is how long to wait until more may be sent: until the pace allows it, and while as much as two seconds' worth has not had
// an attempt, because the receiver is slow, fails or is paused. So a replay never fills the pipeline for others.
func (r *replay) wait(ctx context.Context) (time.Duration, error) {
	if r.DryRun {
		return 0, nil
	}
	if len(r.Unsent) > 0 {
		rows, err := r.tx.Query(ctx, sqlSelectUnsent, r.sub.CompanyID, r.sub.ID, r.Unsent)
		if err != nil {
			return 0, fmt.Errorf("select deliveries of replay: %w", err)
		}
		if r.Unsent, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err != nil {
			return 0, fmt.Errorf("select deliveries of replay: %w", err)
		}
	}
	if r.free() <= 0 {
		return time.Second, nil
	}
	return r.pause(), nil
}

// pause is how long to wait for the pace.
func (r *replay) pause() time.Duration {
	if r.DryRun {
		return 0
	}
	return max(0, r.Due.Sub(r.tx.Now()))
}

// gap is the least time between the beginnings of two requests, a little less than the rate wants. What a step sends is stored and
// published together, which costs least, and then spread: many requests at once would delay those of others.
func (r *replay) gap() time.Duration {
	return time.Second * 9 / 10 / time.Duration(r.Rate)
}

// free is how many events more may be without an attempt.
func (r *replay) free() int { return 2*r.Rate - len(r.Unsent) }

// advance looks at the next events and sends those that are to be sent.
func (r *replay) advance(ctx context.Context) (seen int, end bool, err error) {
	limit := min(r.Rate, replaySends, r.free())
	looks := limit
	if r.DryRun || r.Rare {
		looks = replayLooks
	}
	if r.DryRun {
		limit = looks
	}
	found, last, err := r.candidates(ctx, looks)
	if err != nil {
		return 0, false, err
	}
	choose, err := r.chooser(ctx, found)
	if err != nil {
		return 0, false, err
	}
	sent := 0
	for _, e := range found {
		if sent == limit {
			return seen, false, nil
		}
		seen++
		r.passed(e)
		number, wanted := choose(e)
		if !wanted {
			continue
		}
		sent++
		if err := r.send(ctx, e, number); err != nil {
			return 0, false, err
		}
	}
	r.Rare = sent == 0
	if sent > 0 && !r.DryRun {
		earliest := r.tx.Now().Add(-replayBurst)
		if r.Due.Before(earliest) {
			r.Due = earliest
		}
		r.Due = r.Due.Add(time.Duration(sent) * time.Second / time.Duration(r.Rate))
	}
	return seen, last, nil
}
