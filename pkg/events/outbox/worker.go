package outbox

import (
	"context"
	"math/rand/v2"
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
		s.r.signalReady()
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

// conclude notes the outcome of publications that are done.
func (r *Relay) conclude(ctx context.Context, done []*publication) {
	for _, pub := range done {
		b, err := r.result(pub)
		if err == nil && !r.keep(b) {
			err = errGivenUp
		}
		if err != nil {
			r.finish(ctx, pub.view.p, false, err)
			continue
		}
		r.advance(pub.view, b)
		if r.failing(b.p) {
			r.settleNow(ctx, []*part{b.p}) // alone, so that it does not fail others
		}
		r.finish(ctx, b.p, pub.view.full(), b.failure)
	}
	r.settleFull(ctx)
}

func (r *Relay) failing(p *part) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.failures > 0
}

// finish lets the next batch of a bucket start: at once if there may be more rows, after a pause if this one failed.
func (r *Relay) finish(ctx context.Context, p *part, more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.busy, p.bytes = false, 0
	switch {
	case p.republish:
		p.republish = false // [Relay.settle] has said why, and how long the bucket waits
	case err != nil:
		r.failed(ctx, p, err)
	default:
		p.failures = 0
		if more || p.again {
			p.again = false
			r.enqueue(p)
		}
	}
	r.signalReady()
}

// failed has a bucket wait before its next batch. The caller holds mu.
func (r *Relay) failed(ctx context.Context, p *part, err error) {
	p.failures++
	p.limit = min(r.cfg.BatchSize, retryLimit)
	wait := min(retryMax, retryFirst<<min(p.failures-1, 10))
	p.notBefore = time.Now().Add(wait/2 + rand.N(wait/2))
	if ctx.Err() == nil {
		r.log.WarnContext(ctx, "outbox batch failed", "bucket", p.bucket, "failures", p.failures, "retry_in", wait.String(), "error", err)
	}
}
