package outbox

import (
	"context"
	"math/rand/v2"
	"time"
)

// schedule finds buckets with rows and starts workers for them until ctx is done; the workers run with the context work.
func (r *Relay) schedule(ctx, work context.Context) {
	tick := r.cfg.tickMin
	var active time.Time
	poll, start, settle := time.NewTimer(0), time.NewTimer(time.Hour), time.NewTimer(time.Hour)
	defer poll.Stop()
	defer start.Stop()
	defer settle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-start.C:
		case <-settle.C:
		case <-poll.C:
			began := time.Now()
			missed, err := r.probe(ctx)
			switch {
			case err != nil && ctx.Err() == nil:
				r.log.WarnContext(ctx, "outbox scan failed", "error", err)
				tick = r.cfg.TickMax
			case missed > 0:
				active, tick = time.Now(), r.cfg.tickMin
			case time.Since(active) > activeFor:
				tick = min(2*tick, r.cfg.TickMax)
			}
			// Probes are slow while an old snapshot keeps dead rows in the index; probe less often then.
			poll.Reset(max(tick, 2*time.Since(began)))
		}
		if wait := r.launch(work); wait > 0 {
			start.Reset(wait)
		}
		if wait := r.settleDue(work); wait > 0 {
			settle.Reset(wait)
		}
	}
}

// swept schedules the next full sweep, with jitter so that the buckets are not all swept at once.
func (p *part) swept(now time.Time, cfg RelayConfig) {
	p.nextSweep = now.Add(cfg.FullSweep - rand.N(cfg.FullSweep/4+1))
}

// behind returns the lowest position of rows that are still to be committed: Lookback before the database's clock at the given time.
func (r *Relay) behind(at time.Time) int64 {
	if r.dbTime.IsZero() {
		return 0
	}
	return r.dbTime.Add(at.Sub(r.dbSeen)).Add(-r.cfg.Lookback).UnixMicro()
}

// enqueue queues a bucket for a slot. The caller holds mu.
func (r *Relay) enqueue(p *part) {
	switch {
	case p.busy, p.crowded():
		p.again = true
	case p.held && !p.queued && !p.leaving && !p.paused:
		p.queued = true
		r.ready = append(r.ready, p)
	}
}

// launch starts workers for the buckets that have waited longest, as long as slots are free. It waits between two starts, so that a
// batch carries what many small ones would, but not for buckets with a backlog, whose batches are full. It returns how long it waits.
func (r *Relay) launch(work context.Context) (wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for now := time.Now(); r.running < r.cfg.Parallel && len(r.ready) > 0 && r.holds() < heldBytes; {
		if wait := r.pace.pause(r.running > 0) - now.Sub(r.launched); wait > 0 && !r.ready[0].backlog {
			return wait
		}
		group := r.next(now)
		if len(group) == 0 {
			continue
		}
		r.running++
		r.launched = now
		r.workers.Go(func() { r.work(work, group) })
	}
	return 0
}

// holds is how many bytes of payloads are in flight or not settled. The caller holds mu.
func (r *Relay) holds() (bytes int) {
	for _, p := range r.parts {
		bytes += p.bytes + p.published.bytes + p.settling.bytes
	}
	return bytes
}

// next takes the buckets of the next batch from the queue: an equal share for each free slot, and at least minGroup.
// A bucket that failed goes alone, so that it does not fail others. The caller holds mu.
func (r *Relay) next(now time.Time) (group []*part) {
	most, backlogs := min(max(len(r.ready)/(r.cfg.Parallel-r.running), minGroup), maxGroup), 0
	for len(r.ready) > 0 && len(group) < most && backlogs < groupRows {
		p := r.ready[0]
		if p.failures > 0 && len(group) > 0 {
			break
		}
		r.ready = r.ready[1:]
		p.queued = false
		if p.busy || !p.usable(now) || p.leaving || p.paused || now.Before(p.notBefore) {
			continue
		}
		p.busy, p.again = true, false
		group = append(group, p)
		if p.backlog {
			backlogs++
		}
		if p.failures > 0 {
			break
		}
	}
	return group
}
