package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Kafka's acknowledgement makes a row published. It stays in the outbox for a moment, so that one transaction settles the rows of
// many batches: it deletes them and writes the event log. Until then scans leave them out. What a relay that is killed has not
// settled, the next owner of the bucket publishes again.
const (
	settleEvery = 150 * time.Millisecond // how long the first published row waits for others
	settleRows  = 1000                   // so many of all buckets do not wait; nor is a bucket read that has as many
	settleBytes = insertBytes            // the same for bytes
)

var errGivenUp = errors.New("published rows before these could not be settled")

// published are rows that Kafka has accepted, or will never take, and that are still in the outbox.
type published struct {
	batches []*batch // in the order of their publication
	rows    int
	bytes   int
}

func (u *published) add(b *batch) {
	u.batches, u.rows, u.bytes = append(u.batches, b), u.rows+len(b.decided), u.bytes+b.bytes
}

// keep notes what a batch has published, to be settled later. It reports false if rows before it are published again: the batch
// must be, too, because the event log has those of a record in order.
func (r *Relay) keep(b *batch) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case b.p.republish:
		repeated.Add(float64(len(b.decided)))
		return false
	case len(b.decided) == 0:
		return true
	case r.unsettled == 0:
		r.settleAt = time.Now().Add(settleEvery)
		r.signal() // to wait for that
	}
	b.p.published.add(b)
	r.unsettled, r.unsettledBytes = r.unsettled+len(b.decided), r.unsettledBytes+b.bytes
	return true
}

// unsettled lists the ids of rows that scans leave out. The caller holds mu.
func (p *part) unsettled(ids []uuid.UUID) []uuid.UUID {
	for _, u := range []published{p.settling, p.published} {
		for _, b := range u.batches {
			for i := range b.decided {
				ids = append(ids, b.decided[i].ID)
			}
		}
	}
	return ids
}

// settled reports whether the outbox has no published rows of the bucket. The caller holds mu.
func (p *part) settled() bool { return p.published.rows+p.settling.rows == 0 }

// crowded reports whether scans would have to pass too many rows that are not settled. The caller holds mu.
func (p *part) crowded() bool {
	return p.published.rows+p.settling.rows >= settleRows || p.published.bytes+p.settling.bytes >= settleBytes
}

// collect takes the published rows of some buckets, to be settled. Those of a bucket follow one another: what is published while
// others are being settled is left. The caller holds mu.
func (r *Relay) collect(of []*part) (all []decided) {
	for _, p := range of {
		if p.settling.rows > 0 || p.published.rows == 0 {
			continue
		}
		p.settling, p.published = p.published, published{}
		r.unsettled, r.unsettledBytes = r.unsettled-p.settling.rows, r.unsettledBytes-p.settling.bytes
		all = append(all, decided{p: p, published: p.settling})
	}
	return all
}

// settleNow settles what some buckets have published so far.
func (r *Relay) settleNow(ctx context.Context, of []*part) {
	r.mu.Lock()
	all := r.collect(of)
	r.mu.Unlock()
	r.settle(ctx, all)
}

// settleFull settles everything that there is enough of. The worker whose batch made it enough does it, which slows it down.
func (r *Relay) settleFull(ctx context.Context) {
	r.mu.Lock()
	var all []decided
	if r.unsettled >= settleRows || r.unsettledBytes >= settleBytes {
		all = r.collect(r.parts[:])
	}
	r.mu.Unlock()
	r.settle(ctx, all)
}

// settleDue starts to settle what has waited for long enough. It returns how long the rest waits; 0 = there is none.
func (r *Relay) settleDue(work context.Context) (wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsettled == 0 {
		return 0
	}
	if wait = time.Until(r.settleAt); wait > 0 {
		return wait
	}
	if all := r.collect(r.parts[:]); len(all) > 0 {
		r.workers.Go(func() { r.settle(work, all) })
	}
	if r.unsettled == 0 {
		return 0
	}
	r.settleAt = time.Now().Add(settleEvery) // what is left belongs to buckets of which others are being settled
	return settleEvery
}

// settle completes what was collected. What it cannot complete is published again.
func (r *Relay) settle(ctx context.Context, all []decided) {
	if len(all) == 0 {
		return
	}
	err := r.complete(ctx, all)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range all {
		p := d.p
		if err != nil {
			r.giveUp(p)
			r.failed(ctx, p, err)
			continue
		}
		p.settling = published{}
		if p.again && !p.busy {
			p.again = false
			r.enqueue(p)
		}
	}
	r.signalReady()
}

// giveUp forgets what a bucket has published, so that it is published again. The caller holds mu.
func (r *Relay) giveUp(p *part) {
	repeated.Add(float64(p.published.rows + p.settling.rows))
	r.unsettled, r.unsettledBytes = r.unsettled-p.published.rows, r.unsettledBytes-p.published.bytes
	p.published, p.settling = published{}, published{}
	p.low = 0
	p.republish = p.busy
}
