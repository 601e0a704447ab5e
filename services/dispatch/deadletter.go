package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// How the sender, the router and the sweeper share the rows of deliveries:
//
//   - waits in Kafka: state pending, next_attempt_at is the moment when the record is due. The sweeper puts it in
//     again when that moment is long over.
//   - waits in the database (parked): state pending, next_attempt_at IS NULL. No record of it is in Kafka; the
//     sweeper puts it in as soon as its receiver takes deliveries again.

// Reasons of dead letters, as label of the metric and as header.
const (
	DeadAttempts = "attempts"     // all attempts failed
	DeadTTL      = "ttl"          // not delivered within the time to live
	DeadDeleted  = "subscription" // the subscription is gone
	DeadDecode   = "decode"       // the record could not be understood
	DeadRefused  = "refused"      // the broker refuses the record for good
)

// maxDeadValue bounds the value of a dead letter, so that it fits where its cause did not.
const maxDeadValue = 512 << 10

// Headers that a dead letter has on top of those of its record.
const (
	headerDeadReason = "dead_reason"
	headerDeadError  = "dead_error"
	headerDeadAt     = "dead_at" // unix ms
	headerDeadFrom   = "dead_from"
	headerDeadCut    = "dead_value_bytes" // length of a value that was too long to keep
)

// producer writes records and waits until all brokers in sync have them.
type producer interface {
	ProduceSync(ctx context.Context, records ...*kgo.Record) kgo.ProduceResults
}

// DeadLetters writes what cannot be delivered to the topics that people look at. Nothing consumes those by itself.
type DeadLetters struct {
	client producer
	now    func() time.Time
}

// NewDeadLetters uses the client, which must produce with acknowledgements of all replicas.
func NewDeadLetters(client *kgo.Client) *DeadLetters {
	return &DeadLetters{client: client, now: time.Now}
}

// Delivery keeps a delivery that is given up, and returns once the brokers have it.
func (d *DeadLetters) Delivery(ctx context.Context, m *webhook.Message, reason, text string) error {
	return d.write(ctx, m.Record(topics.DeliveriesDead), reason, text, "")
}

// Record keeps a consumed record that cannot be processed, and returns once the brokers have it.
func (d *DeadLetters) Record(ctx context.Context, topic string, r *kgo.Record, reason string, cause error) error {
	dead := &kgo.Record{Topic: topic, Key: r.Key, Value: r.Value, Headers: append([]kgo.RecordHeader(nil), r.Headers...)}
	from := fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset)
	return d.write(ctx, dead, reason, cause.Error(), from)
}

func (d *DeadLetters) write(ctx context.Context, r *kgo.Record, reason, text, from string) error {
	add := func(key, value string) {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	add(headerDeadReason, reason)
	add(headerDeadError, text)
	add(headerDeadAt, strconv.FormatInt(d.now().UnixMilli(), 10))
	if from != "" {
		add(headerDeadFrom, from)
	}
	if len(r.Value) > maxDeadValue {
		add(headerDeadCut, strconv.Itoa(len(r.Value)))
		r.Value = r.Value[:maxDeadValue]
	}
	if err := d.client.ProduceSync(ctx, r).FirstErr(); err != nil {
		return fmt.Errorf("write dead letter to %s: %w", r.Topic, err)
	}
	dlqTotal.WithLabelValues(r.Topic, reason).Inc()
	return nil
}

// countDead counts the records that the dead letter topics keep.
func countDead(ctx context.Context, admin *kadm.Client) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	starts, err := admin.ListStartOffsets(ctx, topics.DeliveriesDead, topics.EventsDead)
	if err != nil {
		return nil, fmt.Errorf("count dead letters: %w", err)
	}
	ends, err := admin.ListEndOffsets(ctx, topics.DeliveriesDead, topics.EventsDead)
	if err != nil {
		return nil, fmt.Errorf("count dead letters: %w", err)
	}
	if err := errors.Join(starts.Error(), ends.Error()); err != nil {
		return nil, fmt.Errorf("count dead letters: %w", err)
	}
	depth := map[string]int64{}
	ends.Each(func(end kadm.ListedOffset) {
		if start, ok := starts.Lookup(end.Topic, end.Partition); ok {
			depth[end.Topic] += max(end.Offset-start.Offset, 0)
		}
	})
	return depth, nil
}

// showDead sets the metric; a topic that is not among them has 0.
func showDead(depth map[string]int64) {
	for _, topic := range []string{topics.DeliveriesDead, topics.EventsDead} {
		dlqDepth.WithLabelValues(topic).Set(float64(depth[topic]))
	}
}
