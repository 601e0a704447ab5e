package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	republishRows  = 20_000          // events of one step; the next one waits until they have left the outbox
	republishFor   = 4 * time.Second // the same as time; the lease of the sweeper lasts longer
	settleDeadline = time.Minute     // an event is in the log at most this long after Kafka has acknowledged it
)

const (
	sqlSelectEvents = `SELECT seq, id, event, agg_type, agg_id, agg_version, body FROM events
WHERE company_id = $1 AND seq > $2 AND seq <= $3 ORDER BY company_id, seq LIMIT $4`
	sqlOutboxHolds = `SELECT EXISTS (SELECT 1 FROM unnest($1::INT4[]) AS u(b)
WHERE EXISTS (SELECT 1 FROM outbox WHERE outbox.bucket = u.b AND outbox.pos <= $2))`
)

// republication publishes again what the log has after the progress of the routers and what has no deliveries. Its state is
// lost with the process; the next owner starts over, finds what is still missing, and the routers recognise repeats.
type republication struct {
	began  time.Time
	to     heads     // end of the part of the log
	after  uuid.UUID // companies up to this one are done
	seq    int64     // events up to this one of the next company are done; 0 = none
	done   bool
	events int // published again so far
	// buckets and lastPos tell which rows of the outbox must be gone before the routers can have all of it.
	buckets map[int32]bool
	lastPos int64
}

// republish makes one step. It reports true once everything that was missing has reached the topic.
func (r *Reconciler) republish(ctx context.Context) (finished bool, err error) {
	w := r.republication
	switch {
	case w == nil, w.done && w.began.Sub(*r.progress.lostAt) < settleDeadline && r.now().Sub(*r.progress.lostAt) >= settleDeadline:
		// The log may have got events of the lost topic since the first look at it, so there is a second one.
		if w, err = r.newRepublication(ctx, w); err != nil {
			return false, err
		}
	}
	if waits, err := r.outboxHolds(ctx, w); waits || err != nil {
		return false, err
	}
	if !w.done {
		if err := r.republishSome(ctx, w); err != nil || !w.done {
			return false, err
		}
		r.cfg.Log.WarnContext(ctx, "events of a lost topic published again", "events", w.events)
	}
	waits, err := r.outboxHolds(ctx, w)
	return !waits && w.began.Sub(*r.progress.lostAt) >= settleDeadline, err
}

func (r *Reconciler) newRepublication(ctx context.Context, before *republication) (*republication, error) {
	to, err := selectHeads(ctx, r.db)
	if err != nil {
		return nil, err
	}
	w := &republication{began: r.now(), to: to, buckets: map[int32]bool{}}
	if before != nil {
		w.buckets, w.lastPos = before.buckets, before.lastPos
	}
	r.republication = w
	return w, nil
}

// outboxHolds reports whether rows of the republication wait for a relay.
func (r *Reconciler) outboxHolds(ctx context.Context, w *republication) (holds bool, err error) {
	if len(w.buckets) == 0 {
		return false, nil
	}
	buckets := make([]int32, 0, len(w.buckets))
	for b := range w.buckets {
		buckets = append(buckets, b)
	}
	if err := r.db.QueryRow(ctx, sqlOutboxHolds, buckets, w.lastPos).Scan(&holds); err != nil {
		return false, fmt.Errorf("read outbox for republished events: %w", err)
	}
	if !holds {
		clear(w.buckets)
	}
	return holds, nil
}

// republishSome goes over companies until the limits of a step are reached.
func (r *Reconciler) republishSome(ctx context.Context, w *republication) error {
	in := logRange{low: r.progress.heads, high: w.to}
	end := r.now().Add(republishFor)
	for limit := w.events + republishRows; w.events < limit && r.now().Before(end); {
		page, err := r.companies(ctx, w.after)
		if err != nil {
			return err
		}
		low, high := in.columns(page)
		active, err := selectActive(ctx, r.db, page, low, high)
		if err != nil {
			return err
		}
		slices.SortFunc(active, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) // after is a cursor
		for _, company := range active {
			more := func() bool { return w.events < limit && r.now().Before(end) }
			if err := r.republishCompany(ctx, w, company, &in, more); err != nil || w.after != company {
				return err
			}
		}
		if len(page) < pageSize {
			w.done = true
			return nil
		}
		w.after = page[len(page)-1]
	}
	return nil
}

// loggedEvent is an entry of the event log with all that its record needs.
type loggedEvent struct {
	logged
	seq     int64
	aggType string
	aggID   uuid.UUID
	version int64
}

// republishCompany goes over the events of a company, as long as there may be more.
func (r *Reconciler) republishCompany(ctx context.Context, w *republication, company uuid.UUID, in *logRange, more func() bool) error {
	bucket := outbox.Bucket(tenant.ID(company))
	for more() {
		events, err := selectEvents(ctx, r.db, company, max(w.seq, in.low[bucket]), in.high[bucket], maxEvents, r.cfg.Log)
		if err != nil {
			return err
		}
		read := len(events)
		if read > 0 {
			w.seq = events[read-1].seq
		}
		lacking, err := r.withoutDelivery(ctx, company, events)
		if err != nil {
			return err
		}
		if err := r.append(ctx, w, lacking); err != nil {
			return err
		}
		if read < maxEvents {
			w.after, w.seq = company, 0
			return nil
		}
	}
	return nil
}

func selectEvents(ctx context.Context, q db.Querier, company uuid.UUID, low, high int64, limit int, log *slog.Logger) ([]loggedEvent, error) {
	rows, err := q.Query(ctx, sqlSelectEvents, company, low, high, limit)
	if err != nil {
		return nil, fmt.Errorf("read events to publish again: %w", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e loggedEvent, err error) {
		e.company = tenant.ID(company)
		return e, row.Scan(&e.seq, &e.id, &e.event, &e.aggType, &e.aggID, &e.version, &e.body)
	})
	if err != nil {
		return nil, fmt.Errorf("read events to publish again: %w", err)
	}
	for i := range events {
		events[i].open(ctx, log)
	}
	return events, nil
}

// withoutDelivery lists the events that lack a delivery. Unlike the comparison it does not leave out subscriptions that were
// changed lately: the routers take the present state of a subscription for an event that comes late.
func (r *Reconciler) withoutDelivery(ctx context.Context, company uuid.UUID, events []loggedEvent) ([]loggedEvent, error) {
	plain := make([]logged, len(events))
	for i := range events {
		plain[i] = events[i].logged
	}
	matched, _, err := r.match(ctx, []uuid.UUID{company}, plain)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, len(matched))
	for i, d := range matched {
		pairs[i] = pair{d.Company, d.Subscription, d.ID}
	}
	absent, err := r.absent(ctx, pairs)
	if err != nil {
		return nil, err
	}
	reconcilerChecked.Add(float64(len(pairs)))
	missing := map[uuid.UUID]bool{}
	for _, p := range absent {
		missing[p.eventID] = true
		r.note(p)
	}
	reconcilerDifference.Set(float64(len(r.missing)))
	return slices.DeleteFunc(events, func(e loggedEvent) bool { return !missing[e.id] }), nil
}

// append writes events to the outbox again, in the order of the log.
func (r *Reconciler) append(ctx context.Context, w *republication, events []loggedEvent) error {
	if len(events) == 0 {
		return nil
	}
	now := r.now().UTC().Truncate(time.Microsecond)
	pos := max(now.UnixMicro(), w.lastPos+1)
	err := r.db.RunTx(ctx, "reconciler.republish", func(ctx context.Context, tx *db.Tx) error {
		for i, e := range events {
			again := outbox.LogEntry{ID: e.id, Event: e.event, AggType: e.aggType, AggID: e.aggID, AggVersion: e.version, Body: e.body}
			if err := outbox.AppendLogged(ctx, tx, e.company, again, pos+int64(i), now); err != nil {
				return err
			}
		}
		return nil
	}, db.ReadCommitted())
	if err != nil {
		return fmt.Errorf("publish events again: %w", err)
	}
	w.lastPos = pos + int64(len(events)) - 1
	w.buckets[outbox.Bucket(events[0].company)] = true
	w.events += len(events)
	republished.Add(float64(len(events)))
	return nil
}
