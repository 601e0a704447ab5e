// Package deadletter writes records that cannot be delivered or decoded to the dead letter topics, for people to look at.
// No role consumes these topics.
package deadletter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// Reasons, as label of the metric and as header.
const (
	Attempts = "attempts"     // all attempts failed
	TTL      = "ttl"          // its lifetime is over
	Deleted  = "subscription" // the subscription is gone
	Decode   = "decode"       // the record could not be decoded
	Newer    = "newer"        // a later release wrote the record, and no process of that release took it
	Refused  = "refused"      // the broker rejects the record
)

// maxValue limits the value of a dead letter; a longer one is cut, so that a record that was too large fits.
const maxValue = 512 << 10

// Headers that are added to those of the record.
const (
	headerReason = "dead_reason"
	headerError  = "dead_error"
	headerAt     = "dead_at" // unix ms
	headerFrom   = "dead_from"
	headerCut    = "dead_value_bytes" // length of a value that was cut
)

// Writer writes dead letters.
type Writer struct {
	client *kgo.Client
	now    func() time.Time
}

// New makes a writer. The client must produce with acknowledgements of all in-sync replicas.
func New(client *kgo.Client) *Writer { return &Writer{client: client, now: time.Now} }

// Delivery writes a failed delivery and waits for the brokers.
func (w *Writer) Delivery(ctx context.Context, m *webhook.Message, reason, text string) error {
	return w.write(ctx, m.Record(topics.DeliveriesDead), reason, text, "")
}

// Record writes a consumed record that cannot be processed and waits for the brokers.
func (w *Writer) Record(ctx context.Context, topic string, r *kgo.Record, reason string, cause error) error {
	dead := &kgo.Record{Topic: topic, Key: r.Key, Value: r.Value, Headers: append([]kgo.RecordHeader(nil), r.Headers...)}
	from := fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset)
	return w.write(ctx, dead, reason, cause.Error(), from)
}

func (w *Writer) write(ctx context.Context, r *kgo.Record, reason, text, from string) error {
	add := func(key, value string) {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	add(headerReason, reason)
	add(headerError, text)
	add(headerAt, strconv.FormatInt(w.now().UnixMilli(), 10))
	if from != "" {
		add(headerFrom, from)
	}
	if len(r.Value) > maxValue {
		add(headerCut, strconv.Itoa(len(r.Value)))
		r.Value = r.Value[:maxValue]
	}
	if err := w.client.ProduceSync(ctx, r).FirstErr(); err != nil {
		return fmt.Errorf("write dead letter to %s: %w", r.Topic, err)
	}
	letters.WithLabelValues(r.Topic, reason).Inc()
	return nil
}

// Depth counts the records in the dead letter topics.
func Depth(ctx context.Context, admin *kadm.Client) (map[string]int64, error) {
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

// ShowDepth sets the metric; a topic that is missing in the map counts as empty.
func ShowDepth(depth map[string]int64) {
	for _, topic := range []string{topics.DeliveriesDead, topics.EventsDead} {
		kept.WithLabelValues(topic).Set(float64(depth[topic]))
	}
}

var (
	letters = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_dlq_total", Help: "Dead letters written, by topic and reason.",
	}, []string{"topic", "reason"})
	kept = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_dlq_depth", Help: "Records in a dead letter topic, counted by the owner of the sweeper's lease; 0 in other processes.",
	}, []string{"topic"})
)

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, reason := range []string{Attempts, TTL, Deleted, Decode, Refused} {
		letters.WithLabelValues(topics.DeliveriesDead, reason)
	}
	letters.WithLabelValues(topics.EventsDead, Decode)
	letters.WithLabelValues(topics.EventsDead, Newer)
	ShowDepth(nil)
	return []prometheus.Collector{letters, kept}
}
