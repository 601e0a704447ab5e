package operations

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/topics"
)

// Names in the record of changes.
const (
	redeliverOperation = "redeliverDeadLetters"
	purgeOperation     = "purgeDeadLetters"
)

// Redelivered is what [Platform.Redeliver] did.
type Redelivered struct {
	Source  string `json:"source"`
	Found   int    `json:"found"`
	Sent    int    `json:"sent"`        // 0 if it only counts
	Without int    `json:"notPossible"` // whose event is not in the event log, or that do not name it
}

// redelivery is one run of [Platform.Redeliver].
type redelivery struct {
	*Platform

	of     DeadFilter
	record Recorded // nil = only count
	done   Redelivered
}

// Redeliver sends dead letters of a source again, each by its own way; a nil record only counts them. What was sent stays sent if an
// error ends it, and receivers recognise repeats by the ids of events.
func (p *Platform) Redeliver(ctx context.Context, of DeadFilter, record Recorded) (Redelivered, error) {
	r := &redelivery{Platform: p, of: of, record: record, done: Redelivered{Source: of.Source}}
	if of.Source == DeadInOutbox {
		err := r.outbox(ctx)
		return r.done, err
	}
	client, err := p.client()
	if err != nil {
		return r.done, err
	}
	defer client.Close()
	if of.Source == DeadEvents {
		err = r.events(ctx, client)
	} else {
		err = r.deliveries(ctx, client)
	}
	return r.done, err
}

// outbox moves the rows back from where the relays publish.
func (r *redelivery) outbox(ctx context.Context) error {
	return r.eachDeadRow(ctx, outbox.DeadFilter{Company: r.of.Company, Before: time.Now()}, func(rows []outbox.DeadRow) error {
		r.done.Found += len(rows)
		if r.record == nil {
			return nil
		}
		for company, some := range byCompany(rows, func(r outbox.DeadRow) tenant.ID { return r.Company }) {
			if err := r.record(ctx, redeliverOperation, company, func(_ context.Context, tx *db.Tx) (any, error) {
				outbox.RestoreDead(tx, some)
				return len(some), nil
			}); err != nil {
				return err
			}
			r.done.Sent += len(some)
		}
		return nil
	})
}

func byCompany[T any](all []T, of func(T) tenant.ID) map[tenant.ID][]T {
	some := map[tenant.ID][]T{}
	for _, v := range all {
		some[of(v)] = append(some[of(v)], v)
	}
	return some
}

// events publishes again what the event log has of them.
func (r *redelivery) events(ctx context.Context, client *kgo.Client) error {
	letters := map[tenant.ID]map[uuid.UUID]int{} // how many there are of an event
	if err := deadletter.Read(ctx, client, topics.EventsDead, 0, func(l deadletter.Letter) error {
		if !r.of.of(l.Company) {
			return nil
		}
		r.done.Found++
		if l.Company.IsZero() || l.EventID == uuid.Nil {
			r.done.Without++
			return nil
		}
		if letters[l.Company] == nil {
			letters[l.Company] = map[uuid.UUID]int{}
		}
		letters[l.Company][l.EventID]++
		return nil
	}); err != nil {
		return err
	}
	for company, of := range letters {
		for some := range slices.Chunk(slices.Collect(maps.Keys(of)), deadRowsPage) {
			if err := r.eventsOf(ctx, company, some, of); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *redelivery) eventsOf(ctx context.Context, company tenant.ID, ids []uuid.UUID, letters map[uuid.UUID]int) error {
	logged, err := outbox.LogEvents(ctx, r.cfg.DB, company, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, ok := logged[id]; !ok {
			r.done.Without += letters[id]
		}
	}
	if r.record == nil || len(logged) == 0 {
		return nil
	}
	err = r.record(ctx, redeliverOperation, company, func(ctx context.Context, tx *db.Tx) (any, error) {
		inOrder := slices.SortedFunc(maps.Values(logged), func(x, y outbox.LogEntry) int { return cmp.Compare(x.Seq, y.Seq) })
		for i, e := range inOrder {
			if err := outbox.AppendLogged(ctx, tx, company, e, tx.Now().UnixMicro()+int64(i), tx.Now()); err != nil {
				return i, err
			}
		}
		return len(inOrder), nil
	})
	if err == nil {
		r.done.Sent += len(logged)
	}
	return err
}

// deliveries makes new deliveries of those that failed.
func (r *redelivery) deliveries(ctx context.Context, client *kgo.Client) error {
	type receiver struct {
		company      tenant.ID
		subscription uuid.UUID
	}
	since := map[receiver]time.Time{}
	if err := deadletter.Read(ctx, client, topics.DeliveriesDead, 0, func(l deadletter.Letter) error {
		if !r.of.of(l.Company) {
			return nil
		}
		r.done.Found++
		if l.Company.IsZero() || l.Subscription == uuid.Nil {
			r.done.Without++
			return nil
		}
		key := receiver{l.Company, l.Subscription}
		if at, ok := since[key]; !ok || l.At.Before(at) {
			since[key] = l.At
		}
		return nil
	}); err != nil || r.record == nil {
		return err
	}
	for of, at := range since {
		if err := r.record(ctx, redeliverOperation, of.company, func(context.Context, *db.Tx) (any, error) { return of.subscription, nil }); err != nil {
			return err
		}
		// A dead letter is written before its delivery is stored as failed; clocks may differ.
		for after := uuid.Nil; after != uuid.Max; {
			last, made, err := r.cfg.Deliveries.RedeliverFailed(ctx, of.company, of.subscription, at.Add(-time.Minute), after, deadRowsPage)
			if err != nil {
				return err
			}
			r.done.Sent, after = r.done.Sent+made, last
		}
	}
	return nil
}

// Purged is what [Platform.Purge] did.
type Purged struct {
	Source  string `json:"source"`
	Found   int64  `json:"found"`
	Deleted int64  `json:"deleted"` // 0 if it only counts
}

// Purge deletes the dead letters of a source that were given up until a time; a nil record only counts them. Deliveries and the event
// log keep what they have.
func (p *Platform) Purge(ctx context.Context, source string, before time.Time, record Recorded) (done Purged, err error) {
	done.Source = source
	if source == DeadInOutbox {
		done.Found, err = p.purgeOutbox(ctx, before, record)
	} else {
		done.Found, err = p.purgeTopic(ctx, source, before, record)
	}
	if record != nil && err == nil {
		done.Deleted = done.Found
	}
	return done, err
}

func (p *Platform) purgeTopic(ctx context.Context, source string, before time.Time, record Recorded) (int64, error) {
	admin, err := p.admin()
	if err != nil {
		return 0, err
	}
	if record != nil {
		// It is no change of one company.
		if err := record(ctx, purgeOperation, tenant.ID{}, func(context.Context, *db.Tx) (any, error) { return source, nil }); err != nil {
			return 0, err
		}
	}
	return deadletter.Purge(ctx, admin, deadTopics[source], before, record == nil)
}

func (p *Platform) purgeOutbox(ctx context.Context, before time.Time, record Recorded) (found int64, err error) {
	err = p.eachDeadRow(ctx, outbox.DeadFilter{Before: before}, func(rows []outbox.DeadRow) error {
		found += int64(len(rows))
		if record == nil {
			return nil
		}
		for company, some := range byCompany(rows, func(r outbox.DeadRow) tenant.ID { return r.Company }) {
			if err := record(ctx, purgeOperation, company, func(_ context.Context, tx *db.Tx) (any, error) {
				outbox.DeleteDead(tx, some)
				return len(some), nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}
