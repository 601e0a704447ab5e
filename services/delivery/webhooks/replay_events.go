package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const (
	sqlSelectFailed = `SELECT id, event_id, event FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 AND id > $3 AND id <= $4 AND redelivery_no = 0 AND NOT is_test
ORDER BY company_id, subscription_id, id LIMIT $5`
	// Of each event: the number of its last redelivery, and whether a delivery of it arrived or is under way.
	sqlSelectSent = `SELECT event_id, max(redelivery_no), bool_or(state <> 3) FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id BETWEEN $3 AND $4 AND event_id = ANY($5::UUID[]) GROUP BY event_id`
	sqlSelectStates = `SELECT valid_from, status FROM webhook_subscription_versions
WHERE company_id = $1 AND subscription_id = $2 ORDER BY company_id, subscription_id, version`
)

// candidate is an event that a replay may send.
type candidate struct {
	outbox.LogEntry            // zero = the log no longer has it
	original        *uuid.UUID // its delivery that failed; nil = not known
}

// candidates reads the events that come next, and reports whether they are the last.
func (r *replay) candidates(ctx context.Context, limit int) (found []candidate, last bool, err error) {
	if r.Status != replayFailed {
		entries, more, err := r.interval().Read(ctx, r.tx, r.sub.CompanyID, r.Event, limit, replayBytes)
		for _, e := range entries {
			found = append(found, candidate{LogEntry: e})
		}
		return found, !more, err
	}
	low, high := record.IDsBetween(r.From, r.To)
	if r.Delivery != uuid.Nil {
		low = r.Delivery
	}
	failed, err := selectFailed(ctx, r.tx, sqlSelectFailed, r.sub.CompanyID, r.sub.ID, low, high, min(limit, replaySends))
	if err != nil {
		return nil, false, err
	}
	found, err = failedEvents(ctx, r.tx, r.sub.CompanyID, failed)
	return found, len(failed) < min(limit, replaySends), err
}

// passed notes that an event was looked at.
func (r *replay) passed(e candidate) {
	if r.Status == replayFailed {
		r.Delivery = *e.original
	} else {
		r.Event = e.ID
	}
}

// failure is a delivery that failed.
type failure struct {
	ID, EventID uuid.UUID
	Event       string
}

func selectFailed(ctx context.Context, q db.Querier, sql string, args ...any) ([]failure, error) {
	return db.Collect(ctx, q, "select failed deliveries", pgx.RowToStructByPos[failure], sql, args...)
}

// failedEvents reads the events of failed deliveries.
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
		found = append(found, candidate{LogEntry: entries[f.EventID], original: &f.ID})
	}
	return found, nil
}

// chooser returns the function that says which of the events are to be sent, and the number of the delivery.
func (r *replay) chooser(ctx context.Context, found []candidate) (func(candidate) (number int, wanted bool), error) {
	wants, err := r.service.wants(r.by, r.sub, r.Events)
	if err != nil {
		return nil, err
	}
	numbers, arrived, err := sent(ctx, r.tx, r.sub, found)
	if err != nil {
		return nil, err
	}
	var states []subscriptionState
	if r.Status == replayMissed {
		if states, err = selectStates(ctx, r.tx, r.sub); err != nil {
			return nil, err
		}
	}
	return func(e candidate) (int, bool) {
		number, tried := numbers[e.ID]
		switch {
		case !wants(e.LogEntry):
			return 0, false
		case r.Status == replayAll:
			return number + 1, true
		case r.Status == replayMissed && !tried && !disabledAt(states, e.OccurredAt):
			return 0, false
		}
		return number + 1, !arrived[e.ID]
	}, nil
}

// send counts an event that is to be sent, and makes a delivery of it unless the run is dry.
func (r *replay) send(ctx context.Context, e candidate, number int) error {
	r.Summary.Selected++
	r.Summary.Events[e.Event]++
	if r.DryRun {
		return nil
	}
	r.Summary.Sent++
	id, err := r.service.sendLogged(ctx, r.tx, r.sub, e, number, r.gap())
	r.Unsent = append(r.Unsent, id)
	return err
}

// subscriptionState is a status of a subscription, from a time on.
type subscriptionState struct {
	From   time.Time
	Status string
}

func selectStates(ctx context.Context, q db.Querier, sub Subscription) ([]subscriptionState, error) {
	return db.Collect(ctx, q, "select versions of subscription", pgx.RowToStructByPos[subscriptionState], sqlSelectStates, sub.CompanyID, sub.ID)
}

// maxRoutingDelay is how long after an event it was decided at the latest that a subscription does not get it.
const maxRoutingDelay = time.Hour

// disabledAt reports whether a subscription was disabled when an event may have been routed.
func disabledAt(states []subscriptionState, occurred time.Time) bool {
	for i, s := range states {
		if s.Status == statusDisabled && !s.From.After(occurred.Add(maxRoutingDelay)) && (i+1 == len(states) || states[i+1].From.After(occurred)) {
			return true
		}
	}
	return false
}

// sent tells of each event the number of its last delivery to the subscription, and whether one arrived or is under way.
func sent(ctx context.Context, q db.Querier, sub Subscription, found []candidate) (numbers map[uuid.UUID]int, arrived map[uuid.UUID]bool, err error) {
	numbers, arrived = map[uuid.UUID]int{}, map[uuid.UUID]bool{}
	low, high := uuid.Max, uuid.Nil
	ids := make([]uuid.UUID, 0, len(found))
	for _, e := range found {
		if e.ID == uuid.Nil {
			continue
		}
		ids = append(ids, e.ID)
		if string(e.ID[:6]) < string(low[:6]) {
			low = e.ID
		}
		if string(e.ID[:6]) > string(high[:6]) {
			high = e.ID
		}
	}
	if len(ids) == 0 {
		return numbers, arrived, nil
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
			terms.Decide(&webhook.Candidate{Name: e.Event, Component: t.Component, Scope: t.Scope, Doc: webhook.NewDoc(e.Body)}, by.Components) == webhook.Wanted
	}, nil
}

func patternsOf(names []string) []webhook.EventPattern {
	patterns := make([]webhook.EventPattern, len(names))
	for i, name := range names {
		patterns[i] = webhook.EventPattern(name)
	}
	return patterns
}
