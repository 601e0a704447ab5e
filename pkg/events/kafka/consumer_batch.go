package kafka

import (
	"context"
	"sync"
	"time"
)

// longestPause bounds how long records wait for others before a call of HandleBatch.
const longestPause = 25 * time.Millisecond

// batcher collects the records of several partitions for the calls of HandleBatch. The next batch grows while a call is under
// way, and for twice as long afterwards: where processors or brokers are busy, calls take longer, and fewer of them do the work.
// Records that come alone do not wait, and are not waited for. A call that takes very long holds up only its own partitions.
type batcher struct {
	max  int           // records of a batch
	turn chan struct{} // held by the one that collects the next batch
	wake chan struct{} // capacity 1: there are records, or a call has ended

	mu    sync.Mutex
	ready []*partition            // with records, in the order in which they got them
	state map[*partition]progress // of partitions that are in ready or in a call
	calls int                     // under way
	next  time.Time               // when the next call may begin whose batch is not full
}

type progress int

const (
	waiting progress = iota + 1
	inCall
)

// prepare makes an empty batcher ready for batches of up to n records.
func (b *batcher) prepare(n int) {
	b.max, b.turn, b.wake, b.state = n, make(chan struct{}, 1), make(chan struct{}, 1), map[*partition]progress{}
}

// offer queues a partition that has records.
func (b *batcher) offer(p *partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	idle := len(b.ready) == 0
	if b.state[p] == 0 { // one that is in a call is queued after it
		b.queue(p)
	}
	if len(b.ready) > 0 && (idle || b.full()) {
		b.notify()
	}
}

// queue queues a partition. The caller holds mu.
func (b *batcher) queue(p *partition) {
	b.state[p] = waiting
	b.ready = append(b.ready, p)
}

func (b *batcher) notify() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run makes one call after the other until ctx is done. Of those that run, one collects, so that a call needs no hand-over.
func (b *batcher) run(ctx context.Context, cfg ConsumerConfig) {
	for {
		select {
		case b.turn <- struct{}{}:
		case <-ctx.Done():
			return
		}
		batch, from := b.collect(ctx)
		<-b.turn
		if len(batch) == 0 {
			return
		}
		began := time.Now()
		cfg.HandleBatch(ctx, batch)
		b.release(from, len(batch), time.Since(began))
	}
}

// collect waits for the next batch; it is empty when ctx is done.
func (b *batcher) collect(ctx context.Context) (batch []*Record, from []*partition) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for ctx.Err() == nil {
		var wait time.Duration
		if batch, from, wait = b.gather(); len(batch) > 0 {
			return batch, from
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
		case <-b.wake:
		case <-pause.C:
		}
	}
	return nil, nil
}

// gather takes records of the partitions that have waited longest, or says how long to wait for more.
func (b *batcher) gather() (batch []*Record, from []*partition, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait = time.Until(b.next); wait > 0 && !b.full() {
		return nil, nil, wait
	}
	for len(b.ready) > 0 && len(batch) < b.max {
		p := b.ready[0]
		b.ready = b.ready[1:]
		taken := p.take(b.max - len(batch))
		if len(taken) == 0 {
			delete(b.state, p)
			continue
		}
		b.state[p] = inCall
		batch, from = append(batch, taken...), append(from, p)
	}
	if len(batch) > 0 {
		b.calls++
		b.next = time.Now().Add(longestPause)
	}
	return batch, from, time.Hour
}

// full reports whether there are records for a whole batch. The caller holds mu.
func (b *batcher) full() bool {
	n := b.max
	for _, p := range b.ready {
		if n -= p.queued(); n <= 0 {
			return true
		}
	}
	return false
}

// release ends a call. It queues its partitions again; those without records leave with the next batch.
func (b *batcher) release(from []*partition, records int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range from {
		delete(b.state, p)
		if p.queued() > 0 {
			b.queue(p)
		}
	}
	if b.calls--; b.calls == 0 {
		b.next = time.Now()
		if records > 1 {
			b.next = b.next.Add(min(2*took, longestPause))
		}
	}
	b.notify()
}
