package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/job"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

const (
	// MaxReplay is how many events one replay may cover; see docs/reference/limits.md#webhooks.
	MaxReplay  = 10_000
	replayStep = 50 // events per step; each may have 256 KiB
)

// What a replay sends again.
const (
	replayFailed = "failed"
	replayAll    = "all"
)

var replayJob = job.Type{Name: "webhook.replay", Resources: []string{group.Scope}}

// ReplayInput says which events are sent again.
type ReplayInput struct {
	From   jsontype.Time `json:"from" required:"true" doc:"earliest occurredAt"`
	To     jsontype.Time `json:"to" required:"true" doc:"latest occurredAt"`
	Status string        `json:"status,omitempty" enum:"failed,all" default:"failed" doc:"failed: events whose delivery failed and that did not arrive since; all: every event in the log that the subscription matches"`
	Events []string      `json:"events,omitempty" maxItems:"100" maxLength:"100" pattern:"^(\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*\\.\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+)$" patternDescription:"an event name such as order.created, a prefix such as order.*, or *" doc:"names and prefixes such as order.*; default: those of the subscription"`
}

// replayOrder is what the job is given.
type replayOrder struct {
	Subscription uuid.UUID `json:"subscription"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Status       string    `json:"status"`
	Events       []string  `json:"events"`
}

// replayState is where the job goes on: behind the last position of the log, or behind the last failed delivery.
type replayState struct {
	Position int64     `json:"position"`
	Delivery uuid.UUID `json:"delivery"`
}

// Replay sends the events of an interval to a subscription again, as a job.
func (s *Service) Replay(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in ReplayInput) (job.Record, error) {
	var faults apierr.Fields
	s.checkPatterns(&faults, in.Events)
	if in.From.Std().After(in.To.Std()) {
		faults.Add("from", apierr.Conflict, "must not be after to")
	}
	if err := faults.Err(); err != nil {
		return job.Record{}, err
	}
	sub, err := table.Get(ctx, tx, by.Company, id)
	if err != nil {
		return job.Record{}, err
	}
	if err := by.Expect(sub.Version); err != nil {
		return job.Record{}, err
	}
	if err := mayRead(by, sub, "send its events again"); err != nil {
		return job.Record{}, err
	}
	order := replayOrder{Subscription: id, From: in.From.Std(), To: in.To.Std(), Status: in.Status, Events: in.Events}
	if len(order.Events) == 0 {
		order.Events = sub.Events
	}
	total, err := countReplay(ctx, tx, by.Company, order)
	if err != nil {
		return job.Record{}, err
	}
	if total > MaxReplay {
		return job.Record{}, apierr.InvalidField("from", apierr.Max, "the interval has more than %d events; choose a shorter one, or fewer events", MaxReplay)
	}
	return job.Start(ctx, tx, by, replayJob, job.Options{Input: order, Total: total})
}

// Jobs returns the handlers of the jobs of this domain.
func (s *Service) Jobs() []job.Handler {
	return []job.Handler{{Type: replayJob, Step: s.replayStep, Tx: []db.Option{db.ReadCommitted()}}}
}

// The ids of deliveries sort by the time of their events.
const (
	sqlCountFailed = `SELECT count(*) FROM (SELECT 1 FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 AND id BETWEEN $3 AND $4 AND redelivery_no = 0 AND NOT is_test LIMIT $5) AS d`
	sqlSelectFailed = `SELECT id, event_id, event FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 AND id > $3 AND id <= $4 AND redelivery_no = 0 AND NOT is_test
ORDER BY company_id, subscription_id, id LIMIT $5`
	// Of each event: the number of its last redelivery, and whether a delivery of it arrived or is under way.
	sqlSelectSent = `SELECT event_id, max(redelivery_no), bool_or(state <> 3) FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id BETWEEN $3 AND $4 AND event_id = ANY($5::UUID[]) GROUP BY event_id`
)

// countReplay counts the events that a replay looks at, up to one more than it may.
func countReplay(ctx context.Context, q db.Querier, company tenant.ID, o replayOrder) (n int64, err error) {
	if o.Status == replayAll {
		return outbox.CountLog(ctx, q, company, o.filter(), MaxReplay+1)
	}
	low, high := record.IDsBetween(o.From, o.To)
	if err := q.QueryRow(ctx, sqlCountFailed, company, o.Subscription, low, high, MaxReplay+1).Scan(&n); err != nil {
		return 0, fmt.Errorf("count failed deliveries: %w", err)
	}
	return n, nil
}

func (o replayOrder) filter() outbox.LogFilter {
	return outbox.LogFilter{Events: o.Events, From: o.From, To: o.To}
}

// candidate is an event that a replay may send.
type candidate struct {
	outbox.LogEntry
	original *uuid.UUID // its delivery that failed; nil = not known
}

// replayStep sends the next events again. The subscription is locked, so that each delivery gets a number of its own.
func (s *Service) replayStep(_ context.Context, t job.Task) (job.Store, error) {
	var o replayOrder
	var at replayState
	if err := errors.Join(t.Input(&o), t.State(&at)); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
		sub, err := table.Lock(ctx, tx, t.By, o.Subscription)
		if err != nil {
			return job.Progress{}, err
		}
		next := at
		seen, more, found, err := s.candidates(ctx, tx, t.Company, o, &next)
		if err != nil {
			return job.Progress{}, err
		}
		if err := s.sendAgain(ctx, tx, t.By, sub, o, found); err != nil {
			return job.Progress{}, err
		}
		return job.Progress{State: next, Done: t.Done + int64(seen), Total: t.Total, End: !more}, nil
	}, nil
}

// candidates reads the next events, moves the state behind them, and returns how many it looked at and whether there may be more.
func (s *Service) candidates(
	ctx context.Context, q db.Querier, company tenant.ID, o replayOrder, at *replayState,
) (seen int, more bool, found []candidate, err error) {
	if o.Status == replayAll {
		entries, more, err := outbox.ReadLog(ctx, q, company, at.Position, replayStep, o.filter())
		for _, e := range entries {
			at.Position, found = e.Seq, append(found, candidate{LogEntry: e})
		}
		return len(entries), more, found, err
	}
	low, high := record.IDsBetween(o.From, o.To)
	if at.Delivery == uuid.Nil {
		at.Delivery = low
	}
	failed, err := selectFailed(ctx, q, sqlSelectFailed, company, o.Subscription, at.Delivery, high, replayStep)
	if err != nil {
		return 0, false, nil, err
	}
	if len(failed) > 0 {
		at.Delivery = failed[len(failed)-1].ID
	}
	found, err = failedEvents(ctx, q, company, failed)
	return len(failed), len(failed) == replayStep, found, err
}

// failure is a delivery that failed.
type failure struct {
	ID, EventID uuid.UUID
	Event       string
}

func selectFailed(ctx context.Context, q db.Querier, sql string, args ...any) ([]failure, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("select failed deliveries: %w", err)
	}
	failed, err := pgx.CollectRows(rows, pgx.RowToStructByPos[failure])
	if err != nil {
		return nil, fmt.Errorf("select failed deliveries: %w", err)
	}
	return failed, nil
}

// failedEvents reads the events of failed deliveries; one that the event log no longer has is left out.
func failedEvents(ctx context.Context, q db.Querier, company tenant.ID, failed []failure) (found []candidate, err error) {
	wanted := make([]uuid.UUID, len(failed))
	for i, f := range failed {
		wanted[i] = f.EventID
	}
	entries, err := outbox.LogEvents(ctx, q, company, wanted)
	if err != nil {
		return nil, err
	}
	for _, f := range failed {
		if e, ok := entries[f.EventID]; ok {
			found = append(found, candidate{LogEntry: e, original: &f.ID})
		}
	}
	return found, nil
}

// sendAgain makes a delivery of each event that the subscription still wants and may carry.
func (s *Service) sendAgain(ctx context.Context, tx *db.Tx, by access.Caller, sub Subscription, o replayOrder, found []candidate) error {
	wants, err := s.wants(by, sub, o.Events)
	if err != nil {
		return err
	}
	numbers, arrived, err := sent(ctx, tx, sub, found)
	if err != nil {
		return err
	}
	for _, e := range found {
		if !wants(e.LogEntry) || (o.Status == replayFailed && arrived[e.ID]) {
			continue
		}
		if err := s.sendLogged(ctx, tx, sub, e, numbers[e.ID]+1); err != nil {
			return err
		}
	}
	return nil
}

// sent tells of each event the number of its last delivery to the subscription, and whether one arrived or is under way.
func sent(ctx context.Context, q db.Querier, sub Subscription, found []candidate) (numbers map[uuid.UUID]int, arrived map[uuid.UUID]bool, err error) {
	numbers, arrived = map[uuid.UUID]int{}, map[uuid.UUID]bool{}
	if len(found) == 0 {
		return numbers, arrived, nil
	}
	low, high := found[0].ID, found[0].ID
	ids := make([]uuid.UUID, len(found))
	for i, e := range found {
		ids[i] = e.ID
		if string(e.ID[:6]) < string(low[:6]) {
			low = e.ID
		}
		if string(e.ID[:6]) > string(high[:6]) {
			high = e.ID
		}
	}
	from, to := uuid.Nil, uuid.Max
	copy(from[:6], low[:])
	copy(to[:6], high[:])
	rows, err := q.Query(ctx, sqlSelectSent, sub.CompanyID, sub.ID, from, to, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("select redeliveries: %w", err)
	}
	var id uuid.UUID
	var number int
	var well bool
	_, err = pgx.ForEachRow(rows, []any{&id, &number, &well}, func() error {
		numbers[id], arrived[id] = number, well
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("select redeliveries: %w", err)
	}
	return numbers, arrived, nil
}

// wants returns whether a replay sends an event: it must match the names asked for and the subscription as it is now, and
// the subscription must be allowed to carry it.
func (s *Service) wants(by access.Caller, sub Subscription, names []string) (func(outbox.LogEntry) bool, error) {
	now := sub.version()
	terms, err := now.terms()
	if err != nil {
		return nil, err
	}
	asked := patternsOf(names)
	return func(e outbox.LogEntry) bool {
		t, known := s.cfg.Registry.Lookup(e.Event)
		return known && webhook.MatchAny(asked, e.Event) &&
			terms.Decide(&webhook.Candidate{Name: e.Event, Module: t.Module, Scope: t.Scope, Doc: webhook.NewDoc(e.Body)}, by.Components) == webhook.Wanted
	}, nil
}

func patternsOf(names []string) []webhook.EventPattern {
	patterns := make([]webhook.EventPattern, len(names))
	for i, name := range names {
		patterns[i] = webhook.EventPattern(name)
	}
	return patterns
}
