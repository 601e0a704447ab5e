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

// A nudge tells a relay that a transaction wrote to a bucket, so that it need not poll often. Nudges may be lost, doubled
// or wrong: polling finds the rest, and is fast as long as it finds rows of which no nudge told.
const (
	nudgeLasts  = time.Second            // after a nudge, rows of the bucket are not held against its writers
	suspectFor  = 100 * time.Millisecond // how long the nudge of a row may be under way
	nudgePause  = 2 * time.Millisecond   // between two records of a process
	nudgeExpiry = time.Second            // a nudge that Kafka has not accepted by then is dropped
)

// Nudge tells the relay that rows were written to a bucket.
func (r *Relay) Nudge(bucket int32) {
	if bucket < 0 || bucket >= Buckets {
		return
	}
	r.mu.Lock()
	p := r.parts[bucket]
	held := p.held
	if held {
		p.nudged, p.suspect = time.Now(), time.Time{}
		r.enqueue(p)
	}
	r.mu.Unlock()
	if held {
		r.signal()
	}
}

// suspect notes that a poll has found rows of which no nudge told. The caller holds mu.
func (r *Relay) suspect(p *part, at time.Time) {
	if p.suspect.IsZero() && at.Sub(p.nudged) > nudgeLasts {
		p.suspect = at
	}
}

// missed counts the buckets whose nudges did not come, and forgets them. The caller holds mu.
func (r *Relay) missed(now time.Time) (n int) {
	for _, p := range r.parts {
		if !p.suspect.IsZero() && now.Sub(p.suspect) > suspectFor {
			p.suspect = time.Time{}
			n++
		}
	}
	return n
}

// Nudges sends the nudges of this process to the relays, through Kafka.
type Nudges struct {
	client *kgo.Client
	log    *slog.Logger
	wake   chan struct{} // capacity 1

	mu      sync.Mutex
	pending bucketSet
}

// bucketSet has a bit for each bucket. Its little-endian words are the value of a record.
type bucketSet [Buckets / 64]uint64

// NewNudges sends through client, which must be able to cancel records; see [NewClient]. [Nudges.Run] is to be run beside it.
func NewNudges(client *kgo.Client, log *slog.Logger) *Nudges {
	return &Nudges{client: client, log: log, wake: make(chan struct{}, 1)}
}

// Nudge queues a nudge; it never waits.
func (n *Nudges) Nudge(bucket int32) {
	n.mu.Lock()
	n.pending[bucket/64] |= 1 << (bucket % 64)
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run sends nudges until ctx is done. While one record is under way, the next one collects.
func (n *Nudges) Run(ctx context.Context) error {
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
			n.log.WarnContext(ctx, "relays not nudged; they find rows by polling", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(nudgePause):
		}
	}
}

func (n *Nudges) send(ctx context.Context, set bucketSet) error {
	ctx, cancel := context.WithTimeout(ctx, nudgeExpiry)
	defer cancel()
	value := make([]byte, 0, 8*len(set))
	for _, word := range set {
		value = binary.LittleEndian.AppendUint64(value, word)
	}
	return n.client.ProduceSync(ctx, &kgo.Record{Topic: topics.OutboxNudges, Value: value}).FirstErr()
}

// ConsumeNudges calls nudge with the buckets of which other processes tell, until ctx is done.
func ConsumeNudges(ctx context.Context, cfg kafka.Config, nudge func(bucket int32)) error {
	err := kafka.Tail(ctx, cfg, nil, func(r *kgo.Record) {
		for i := 0; i+8 <= len(r.Value) && i < Buckets/8; i += 8 {
			word := binary.LittleEndian.Uint64(r.Value[i:])
			for bit := int32(0); word != 0; bit, word = bit+1, word>>1 {
				if word&1 != 0 {
					nudge(int32(i)*8 + bit)
				}
			}
		}
	}, topics.OutboxNudges)
	if err != nil {
		return fmt.Errorf("consume nudges: %w", err)
	}
	return nil
}
