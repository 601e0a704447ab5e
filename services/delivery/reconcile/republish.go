package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	republishRows  = 20_000          // events of one step; the next one waits until they have left the outbox
	republishFor   = 4 * time.Second // the same as time; the lease of the sweeper lasts longer
	settleDeadline = time.Minute     // an event is in the log at most this long after Kafka has acknowledged it
)

// republication publishes again what the log has after the progress of the routers and what has no deliveries. Its state is
// lost with the process; the next owner starts over, finds what is still missing, and the routers recognise repeats.
type republication struct {
	began  time.Time
	to     outbox.LogHeads // end of the part of the log
	after  uuid.UUID       // companies up to this one are done
	seq    int64           // events up to this one of the next company are done; 0 = none
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
	to, err := outbox.ReadLogHeads(ctx, r.db)
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
	if holds, err = outbox.Holds(ctx, r.db, buckets, w.lastPos); err == nil && !holds {
		clear(w.buckets)
	}
	return holds, err
}

// republishSome goes over companies until the limits of a step are reached.
func (r *Reconciler) republishSome(ctx context.Context, w *republication) error {
	in := outbox.LogRange{Low: r.progress.heads, High: w.to}
	end := r.now().Add(republishFor)
	for limit := w.events + republishRows; w.events < limit && r.now().Before(end); {
		page, err := r.companies(ctx, w.after)
		if err != nil {
			return err
		}
		active, err := in.Active(ctx, r.db, page)
		if err != nil {
			return err
		}
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

// republishCompany goes over the events of a company, as long as there may be more.
func (r *Reconciler) republishCompany(ctx context.Context, w *republication, company uuid.UUID, in *outbox.LogRange, more func() bool) error {
	for more() {
		events, err := in.After(ctx, r.db, tenant.ID(company), w.seq, maxEvents)
		if err != nil {
			return err
		}
		open(ctx, events, r.cfg.Log)
		read := len(events)
		if read > 0 {
			w.seq = events[read-1].Seq
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

// withoutDelivery lists the events that lack a delivery. Unlike the comparison it does not leave out subscriptions that were
// changed lately: the routers take the present state of a subscription for an event that comes late.
func (r *Reconciler) withoutDelivery(ctx context.Context, company uuid.UUID, events []outbox.CompanyEntry) ([]outbox.CompanyEntry, error) {
	matched, _, err := r.match(ctx, []uuid.UUID{company}, events)
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
	return slices.DeleteFunc(events, func(e outbox.CompanyEntry) bool { return !missing[e.ID] }), nil
}

// append writes events to the outbox again, in the order of the log.
func (r *Reconciler) append(ctx context.Context, w *republication, events []outbox.CompanyEntry) error {
	if len(events) == 0 {
		return nil
	}
	now := r.now().UTC().Truncate(time.Microsecond)
	pos := max(now.UnixMicro(), w.lastPos+1)
	err := r.db.RunTx(ctx, "reconciler.republish", func(ctx context.Context, tx *db.Tx) error {
		for i, e := range events {
			if err := outbox.AppendLogged(ctx, tx, e.Company, e.LogEntry, pos+int64(i), now); err != nil {
				return err
			}
		}
		return nil
	}, db.ReadCommitted())
	if err != nil {
		return fmt.Errorf("publish events again: %w", err)
	}
	w.lastPos = pos + int64(len(events)) - 1
	w.buckets[outbox.Bucket(events[0].Company)] = true
	w.events += len(events)
	republished.Add(float64(len(events)))
	return nil
}
