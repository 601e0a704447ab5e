package outbox

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// slot limits how many workers use the database and the client at the same time; it is released once.
type slot struct {
	r        *Relay
	released bool
}

func (s *slot) release() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !s.released {
		s.released = true
		s.r.running--
		s.r.signal()
	}
}

// work reads, publishes and completes one batch of a group of buckets.
func (r *Relay) work(ctx context.Context, group []*part) {
	s := &slot{r: r}
	defer s.release()
	views, err := r.scan(ctx, group)
	if err != nil {
		for _, p := range group {
			r.finish(ctx, p, false, err)
		}
		return
	}
	var sent []*publication
	for _, v := range views {
		if len(v.rows) == 0 {
			r.advance(v, &batch{})
			r.finish(ctx, v.p, false, nil)
			continue
		}
		r.countStragglers(ctx, v)
		pub, err := r.publish(ctx, v)
		if err != nil {
			r.finish(ctx, v.p, false, err)
			continue
		}
		sent = append(sent, pub)
	}
	late := r.await(ctx, sent)
	for _, pub := range late {
		// A partition without a leader must not block the other buckets, nor their slot.
		r.workers.Go(func() {
			select {
			case <-pub.done:
				r.conclude(ctx, []*publication{pub})
			case <-r.abort:
				pub.abandon(errAbandoned)
				r.finish(ctx, pub.view.p, false, errAbandoned)
			}
		})
	}
}

// await completes together what Kafka responds to in time. It returns the publications without a response.
func (r *Relay) await(ctx context.Context, sent []*publication) (late []*publication) {
	slow := time.NewTimer(slowAfter)
	defer slow.Stop()
	var done []*publication
	for i, pub := range sent {
		select {
		case <-pub.done:
			done = append(done, pub)
			continue
		default:
		}
		select {
		case <-pub.done:
			done = append(done, pub)
		case <-slow.C:
			slow.Reset(0) // the others get no more time
			late = append(late, pub)
		case <-r.abort:
			r.conclude(ctx, done)
			return append(late, sent[i:]...)
		}
	}
	r.conclude(ctx, done)
	return late
}

// completePause is how long a completion lets others go first, while there is no traffic that waits for it. The router stores its
// deliveries at that moment: a webhook waits for that commit and nobody for this one, but a disk takes one after the other.
const completePause = 3 * time.Millisecond

// pressed reports whether rows wait until batches are completed: rows of the same buckets, or those of others, for a slot.
func (r *Relay) pressed(batches []*batch) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running > 1 || len(r.ready) > 0 ||
		slices.ContainsFunc(batches, func(b *batch) bool { return b.view.p.again || b.view.full() })
}

// conclude stores the outcome of publications that are done.
func (r *Relay) conclude(ctx context.Context, done []*publication) {
	var batches []*batch
	for _, pub := range done {
		b, err := r.result(pub)
		if err != nil {
			r.finish(ctx, pub.view.p, false, err)
			continue
		}
		batches = append(batches, b)
	}
	if len(batches) > 0 && !r.pressed(batches) {
		select {
		case <-time.After(completePause):
		case <-r.abort:
		}
	}
	err := r.complete(ctx, batches)
	for _, b := range batches {
		if err != nil {
			r.finish(ctx, b.view.p, false, err)
			continue
		}
		r.advance(b.view, b)
		r.finish(ctx, b.view.p, b.view.full(), b.failure)
	}
}

// finish lets the next batch of a bucket start: at once if there may be more rows, after a pause if this one failed.
func (r *Relay) finish(ctx context.Context, p *part, more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.busy = false
	switch {
	case err != nil:
		p.failures++
		p.limit = min(r.cfg.BatchSize, retryLimit)
		wait := min(retryMax, retryFirst<<min(p.failures-1, 10))
		p.notBefore = time.Now().Add(wait/2 + rand.N(wait/2))
		if ctx.Err() == nil {
			r.log.WarnContext(ctx, "outbox batch failed", "bucket", p.bucket, "failures", p.failures, "retry_in", wait.String(), "error", err)
		}
	case more || p.again:
		p.failures = 0
		r.enqueue(p)
	default:
		p.failures = 0
	}
	r.signal()
}
