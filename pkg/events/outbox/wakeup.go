package outbox

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/topics"
)

// A wake-up tells a relay that a transaction wrote to a bucket, so that it need not poll often. Wake-ups may be lost, doubled
// or wrong: polling finds the rest, and is fast as long as it finds rows of which no wake-up told.
const (
	wakeupLasts  = time.Second            // after a wake-up, rows of the bucket are not held against its writers
	suspectFor   = 100 * time.Millisecond // how long the wake-up of a row may be under way
	wakeupPause  = 2 * time.Millisecond   // between two records of a process
	wakeupExpiry = time.Second            // a wake-up that Kafka has not accepted by then is dropped
)

// Wake tells the relay that rows were written to a bucket.
func (r *Relay) Wake(bucket int32) {
	if bucket < 0 || bucket >= Buckets {
		return
	}
	r.mu.Lock()
	p := r.parts[bucket]
	held := p.held
	if held {
		p.wokenAt, p.suspect = time.Now(), time.Time{}
		r.enqueue(p)
	}
	r.mu.Unlock()
	if held {
		r.signal()
	}
}

// suspect notes that a poll has found rows of which no wake-up told. The caller holds mu.
func (r *Relay) suspect(p *part, at time.Time) {
	if p.suspect.IsZero() && at.Sub(p.wokenAt) > wakeupLasts {
		p.suspect = at
	}
}

// missed counts the buckets whose wake-ups did not come, and forgets them. The caller holds mu.
func (r *Relay) missed(now time.Time) (n int) {
	for _, p := range r.parts {
		if !p.suspect.IsZero() && now.Sub(p.suspect) > suspectFor {
			p.suspect = time.Time{}
			n++
		}
	}
	return n
}

// Wakeups sends the wake-ups of this process to the relays, through Kafka.
type Wakeups struct {
	client *kgo.Client
	log    *slog.Logger
	wake   chan struct{} // capacity 1

	mu      sync.Mutex
	pending bucketSet
}

// bucketSet has a bit for each bucket. Its little-endian words are the value of a record.
type bucketSet [Buckets / 64]uint64

// NewWakeups sends through client, which must be able to cancel records; see [NewClient]. [Wakeups.Run] is to be run beside it.
func NewWakeups(client *kgo.Client, log *slog.Logger) *Wakeups {
	return &Wakeups{client: client, log: log, wake: make(chan struct{}, 1)}
}

// Wake queues a wake-up; it never waits.
func (n *Wakeups) Wake(bucket int32) {
	n.mu.Lock()
	n.pending[bucket/64] |= 1 << (bucket % 64)
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run sends wake-ups until ctx is done. While one record is under way, the next one collects.
func (n *Wakeups) Run(ctx context.Context) error {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.wake:
		}
		n.mu.Lock()
		set := n.pending
		n.pending = bucketSet{}
		n.mu.Unlock()
		err := n.send(ctx, set)
		if err != nil && !failing && ctx.Err() == nil {
			n.log.WarnContext(ctx, "relays not woken; they find rows by polling", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(wakeupPause):
		}
	}
}

func (n *Wakeups) send(ctx context.Context, set bucketSet) error {
	ctx, cancel := context.WithTimeout(ctx, wakeupExpiry)
	defer cancel()
	value := make([]byte, 0, 8*len(set))
	for _, word := range set {
		value = binary.LittleEndian.AppendUint64(value, word)
	}
	return n.client.ProduceSync(ctx, &kgo.Record{Topic: topics.OutboxWakeups, Value: value}).FirstErr()
}

// ConsumeWakeups calls wake with the buckets of which other processes tell, until ctx is done.
func ConsumeWakeups(ctx context.Context, cfg kafka.Config, wake func(bucket int32)) error {
	err := kafka.Tail(ctx, cfg, nil, func(r *kgo.Record) {
		for i := 0; i+8 <= len(r.Value) && i < Buckets/8; i += 8 {
			word := binary.LittleEndian.Uint64(r.Value[i:])
			for bit := int32(0); word != 0; bit, word = bit+1, word>>1 {
				if word&1 != 0 {
					wake(int32(i)*8 + bit)
				}
			}
		}
	}, topics.OutboxWakeups)
	if err != nil {
		return fmt.Errorf("consume wake-ups: %w", err)
	}
	return nil
}
