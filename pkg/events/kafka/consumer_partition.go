package kafka

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Record is a record passed to a handler. The handler must call exactly one of [Record.Done] and, once
// its partition is stopping, [Record.Drop].
type Record struct {
	*kgo.Record
	entry
	p     *partition
	ended bool
}

// Done marks the record as finished. Its offset may be committed as soon as all earlier records are finished too.
func (r *Record) Done() {
	if r.p.end(r, true) {
		r.p.processed.Observe(time.Since(r.since).Seconds())
	}
}

// Drop returns the record unfinished. The next owner of the partition consumes it again, so Drop may only be
// called once [Record.Stopping] is closed.
func (r *Record) Drop() { r.p.end(r, false) }

// Stopping is closed when the partition is revoked or the process stops. Handlers must not start new work then.
func (r *Record) Stopping() <-chan struct{} { return r.p.stopping }

// clockMargin is how far the clocks of producers may be ahead.
const clockMargin = 5 * time.Second

// Unread reports whether no other member can have read the record: it was written after this one had got the partition.
func (r *Record) Unread() bool { return r.Timestamp.After(r.p.since.Add(clockMargin)) }

// partition is the state of one assigned partition.
type partition struct {
	c        *consumer
	key      topicPartition
	since    time.Time // not before it was assigned
	ctx      context.Context
	cancel   context.CancelFunc
	wake     chan struct{} // the queue is not empty
	stopping chan struct{} // no more records are passed to the handler
	idle     chan struct{} // stopping, and no records are in flight

	processed prometheus.Observer

	mu        sync.Mutex
	tracker   tracker
	queue     []*Record // registered, not yet passed to the handler
	out       int       // passed to the handler, not yet done or dropped
	paused    bool
	stopped   bool
	committed int64 // -1 before the first record
}

func newPartition(c *consumer, key topicPartition) *partition {
	p := &partition{
		c: c, key: key, since: time.Now(), tracker: newTracker(), committed: -1, processed: processed(key.topic, c.cfg.Group),
		wake: make(chan struct{}, 1), stopping: make(chan struct{}), idle: make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancel(c.work)
	return p
}

// add registers polled records and pauses the partition when its window is full.
func (p *partition) add(records []*kgo.Record) {
	batch := make([]Record, len(records))
	now := time.Now()
	p.mu.Lock()
	before := p.tracker.bytes
	if p.committed < 0 {
		p.committed = records[0].Offset // nothing to commit until the prefix advances
	}
	for i, rec := range records {
		r := &batch[i]
		*r = Record{Record: rec, p: p, entry: entry{offset: rec.Offset, epoch: rec.LeaderEpoch, size: sizeOf(rec), since: now}}
		p.tracker.register(&r.entry)
		p.queue = append(p.queue, r)
	}
	p.count(before)
	if !p.paused && p.full(1) {
		p.paused = true
		p.c.client.PauseFetchPartitions(p.asMap())
	}
	p.mu.Unlock()
	if p.c.cfg.HandleBatch != nil {
		p.c.batches.offer(p)
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Memory of a record besides its bytes, and of each of its headers.
const (
	recordOverhead = 300
	headerOverhead = 40
)

// sizeOf is the memory that a record takes.
func sizeOf(rec *kgo.Record) int64 {
	n := recordOverhead + len(rec.Key) + len(rec.Value)
	for _, h := range rec.Headers {
		n += headerOverhead + len(h.Key) + len(h.Value)
	}
	return int64(n)
}

// count adds what has changed to the memory of all partitions. The caller holds mu.
func (p *partition) count(before int64) {
	if !p.stopped {
		p.c.held.Add(p.tracker.bytes - before)
	}
}

// full reports whether 1/part of the window is used: of the records, or of the partition's share of the memory while all
// partitions together take as much as they may. One partition never takes more than half of it.
func (p *partition) full(part int) bool {
	share := p.c.cfg.WindowBytes / 2
	if p.c.held.Load() >= p.c.cfg.WindowBytes {
		share = min(share, p.c.cfg.WindowBytes/max(p.c.parts.Load(), 1))
	}
	return p.tracker.len() >= p.c.cfg.WindowRecords/part || p.tracker.bytes >= share/int64(part)
}

func (p *partition) asMap() map[string][]int32 { return map[string][]int32{p.key.topic: {p.key.id}} }

// run passes the records to Handle until the partition stops.
func (p *partition) run() {
	for {
		next := p.take(1) // records that wait for a blocking handler are not in flight
		if len(next) == 0 {
			select {
			case <-p.stopping:
				return
			case <-p.wake:
				continue
			}
		}
		p.c.cfg.Handle(p.ctx, next[0])
	}
}

// take takes up to n records from the queue, which are in flight then.
func (p *partition) take(n int) []*Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || len(p.queue) == 0 {
		return nil
	}
	n = min(len(p.queue), n)
	taken := p.queue[:n:n]
	p.queue = p.queue[n:]
	p.out += n
	return taken
}

// queued is how many records there are to take.
func (p *partition) queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// end ends a record; it reports false if the record has ended already.
func (p *partition) end(r *Record, done bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.ended {
		return false
	}
	r.ended = true
	p.out--
	if done {
		next, bytes := p.tracker.next, p.tracker.bytes
		if p.tracker.finish(&r.entry); p.tracker.next != next {
			p.count(bytes)
			p.c.prefixAdvanced()
		}
	}
	if p.stopped && p.out == 0 {
		close(p.idle)
	}
	if p.paused && !p.stopped && !p.full(2) {
		p.paused = false
		p.c.client.ResumeFetchPartitions(p.asMap())
	}
	return true
}

// stop stops passing records to the handler.
func (p *partition) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.c.held.Add(-p.tracker.bytes)
	p.stopped = true
	p.queue = nil
	close(p.stopping)
	if p.out == 0 {
		close(p.idle)
	}
}

// close cancels the context of the handlers.
func (p *partition) close() {
	p.cancel()
	forgetPartition(p.key)
}

// position returns the offset to commit; ok is false if it is already committed.
func (p *partition) position() (at kgo.EpochOffset, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker.next == p.committed {
		return kgo.EpochOffset{}, false
	}
	return kgo.EpochOffset{Epoch: p.tracker.epoch, Offset: p.tracker.next}, true
}

func (p *partition) wasCommitted(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.committed = offset
}
