package webhooks

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// What a replay sends again.
const (
	replayFailed = "failed"
	replayMissed = "missed"
	replayAll    = "all"
)

// ReplayJob is the type of the jobs that [Service.Replay] starts.
var ReplayJob = job.Type{Name: "webhook.replay", Resources: []string{group.Scope}, Control: group.Scope, MaxAge: 30 * 24 * time.Hour}

// ReplayInput says which events are sent again.
type ReplayInput struct {
	From   *jsontype.Time `json:"from,omitempty" doc:"earliest occurredAt; default: the oldest event in the log"`
	To     *jsontype.Time `json:"to,omitempty" doc:"latest occurredAt; default: now"`
	Status string         `json:"status,omitempty" enum:"failed,missed,all" default:"failed" doc:"failed: events whose delivery failed and that did not arrive since; missed: these, and those that occurred while the subscription was disabled; all: every event in the log that the subscription matches"`
	Events []string       `json:"events,omitempty" maxItems:"100" maxLength:"100" pattern:"^(\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*\\.\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+)$" patternDescription:"an event name such as order.created, a prefix such as order.*, or *" doc:"names and prefixes such as order.*; default: those of the subscription"`
	Rate   int            `json:"rate,omitempty" minimum:"1" maximum:"500" default:"50" doc:"events sent per second at most"`
	DryRun bool           `json:"dryRun,omitempty" doc:"only count what would be sent; the job's summary tells"`
}

// replayOrder is what the job is given.
type replayOrder struct {
	Subscription uuid.UUID `json:"subscription"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Status       string    `json:"status"`
	Events       []string  `json:"events"`
	Rate         int       `json:"rate"`
	DryRun       bool      `json:"dryRun"`
}

// ReplaySummary is the summary of the job; see docs/reference/jobs.md#replays.
type ReplaySummary struct {
	SubscriptionID uuid.UUID `json:"subscriptionId"`

	DryRun   bool             `json:"dryRun"`
	Selected int64            `json:"selected"` // events that are to be sent, of those looked at
	Sent     int64            `json:"sent"`
	Events   map[string]int64 `json:"events"`  // those selected, by name
	Seconds  int64            `json:"seconds"` // that sending those takes at the rate
}

// Replay sends the events of an interval to a subscription again, as a job.
func (s *Service) Replay(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in ReplayInput) (job.Record, error) {
	admission, err := job.Admit(ctx, tx, s.cfg.DB, by.Company)
	if err != nil {
		return job.Record{}, err
	}
	order, err := s.replayOrder(ctx, tx, by, id, in, tx.Now())
	if err != nil {
		return job.Record{}, err
	}
	return job.Start(ctx, tx, by, admission, ReplayJob, job.Options{Input: order})
}

// StartedReplay is a job with what was asked for.
type StartedReplay struct {
	job.Record
	Input ReplayInput
}

// Replays lists the replays to a subscription among the last 200 jobs of the company, newest first.
func (s *Service) Replays(ctx context.Context, by access.Caller, id uuid.UUID) ([]StartedReplay, error) {
	if _, err := table.Get(ctx, s.cfg.DB, by.Company, id); err != nil {
		return nil, err
	}
	all, err := job.Recent(ctx, s.cfg.DB, by, ReplayJob)
	if err != nil {
		return nil, err
	}
	var found []StartedReplay
	for _, g := range all {
		var o replayOrder
		if json.Unmarshal(g.Input, &o) != nil || o.Subscription != id {
			continue
		}
		in := ReplayInput{Status: o.Status, Events: o.Events, Rate: o.Rate, DryRun: o.DryRun}
		for at, to := range map[*time.Time]**jsontype.Time{&o.From: &in.From, &o.To: &in.To} {
			if !at.IsZero() {
				bound := jsontype.At(*at)
				*to = &bound
			}
		}
		found = append(found, StartedReplay{g.Record, in})
	}
	return found, nil
}

// CountReplay counts the events that a replay would send, without a job.
func (s *Service) CountReplay(ctx context.Context, by access.Caller, id uuid.UUID, in ReplayInput) (ReplaySummary, error) {
	in.DryRun = true
	order, err := s.replayOrder(ctx, s.cfg.DB, by, id, in, s.cfg.DB.Now())
	if err != nil {
		return ReplaySummary{}, err
	}
	at := replayState{Begun: true} // the total is of no use here
	for end := false; !end; {
		var next replayState
		err := s.cfg.DB.RunTx(ctx, "webhook.count_replay", func(ctx context.Context, tx *db.Tx) error {
			r, err := s.newReplay(ctx, tx, by, order, at)
			if err != nil {
				return err
			}
			p, err := r.step(ctx, 0)
			next, end = r.replayState, p.End
			return err
		}, db.ReadCommitted())
		if err != nil {
			return ReplaySummary{}, err
		}
		at = next
	}
	return at.Summary, nil
}

// replayOrder checks what is asked for.
func (s *Service) replayOrder(ctx context.Context, q db.Querier, by access.Caller, id uuid.UUID, in ReplayInput, now time.Time) (replayOrder, error) {
	order := replayOrder{Subscription: id, To: now, Status: in.Status, Events: in.Events, Rate: in.Rate, DryRun: in.DryRun}
	if in.From != nil {
		order.From = in.From.Std()
	}
	if in.To != nil {
		order.To = in.To.Std()
	}
	var faults apierr.Fields
	s.checkPatterns(&faults, in.Events)
	if order.From.After(order.To) {
		faults.Add("from", apierr.Conflict, "must not be after to, which is now by default")
	}
	if err := faults.Err(); err != nil {
		return order, err
	}
	sub, err := table.Get(ctx, q, by.Company, id)
	if err != nil {
		return order, err
	}
	if err := by.Expect(sub.Version); err != nil {
		return order, err
	}
	if len(order.Events) == 0 {
		order.Events = sub.Events
	}
	return order, mayRead(by, sub, "send its events again")
}

// Jobs returns the handlers of the jobs of this domain.
func (s *Service) Jobs() []job.Handler {
	opts := []db.Option{db.ReadCommitted()}
	return []job.Handler{{Type: ReplayJob, Step: s.replayStep, Tx: opts}}
}

func (o replayOrder) interval() outbox.Interval {
	return outbox.Interval{Events: o.Events, From: o.From, To: o.To}
}
