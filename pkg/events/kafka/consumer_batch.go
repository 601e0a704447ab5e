package kafka

import (
	"context"
	"sync"
)

// batcher collects the records of several partitions for the calls of HandleBatch. While all calls are under way, the
// next batch grows.
type batcher struct {
	wake chan struct{} // a token for each call that may start

	mu    sync.Mutex
	ready []*partition            // with records, in the order in which they got them
	state map[*partition]progress // of partitions that are in ready or in a call
}

type progress int

const (
	waiting progress = iota + 1
	inCall
)

// offer queues a partition that has records.
func (b *batcher) offer(p *partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state[p] == 0 { // one that is in a call is queued after it
		b.queue(p)
	}
}

// queue queues a partition. The caller holds mu.
func (b *batcher) queue(p *partition) {
	if b.state == nil {
		b.state = map[*partition]progress{}
	}
	b.state[p] = waiting
	b.ready = append(b.ready, p)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run makes one call after the other until ctx is done.
func (b *batcher) run(ctx context.Context, cfg ConsumerConfig) {
	for {
		batch, from := b.gather(cfg.MaxBatch)
		if len(batch) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-b.wake:
				continue
			}
		}
		cfg.HandleBatch(ctx, batch)
		b.release(from)
	}
}

// gather takes up to n records of the partitions that have waited longest.
func (b *batcher) gather(n int) (batch []*Record, from []*partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.ready) > 0 && len(batch) < n {
		p := b.ready[0]
		b.ready = b.ready[1:]
		taken := p.take(n - len(batch))
		if len(taken) == 0 {
			delete(b.state, p)
			continue
		}
		b.state[p] = inCall
		batch, from = append(batch, taken...), append(from, p)
	}
	return batch, from
}

// release queues the partitions of a call again; those without records leave with the next batch.
func (b *batcher) release(from []*partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range from {
		delete(b.state, p)
		if p.pending() {
			b.queue(p)
		}
	}
}
