// Package delay consumes the delay topics and produces each record to topics.Deliveries when it is due; see
// docs/architecture.md#delay-topics.
package delay

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/topics"
)

// Config configures a [Forwarder]. Zero values take the defaults named beside the fields.
type Config struct {
	Kafka      kafka.Config
	InstanceID string             // static membership in the group; empty = none
	Tiers      []topics.DelayTier // topics.DelayTiers()
	window     int                // records per partition held in memory before they are due; 5 000
	retry      time.Duration      // pause before a failed record is produced again; 500 ms
	Log        *slog.Logger
}

func (c *Config) setDefaults() {
	if len(c.Tiers) == 0 {
		c.Tiers = topics.DelayTiers()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.window = cmp.Or(c.window, 5000)
	c.retry = cmp.Or(c.retry, 500*time.Millisecond)
}

// Forwarder produces delayed records to topics.Deliveries when they are due. Records wait in Kafka; only a window of each
// partition is in memory, where they are sorted, because jitter makes due times differ from the order in the topic.
type Forwarder struct {
	cfg    Config
	client *kgo.Client
	dead   *deadletter.Writer
}

// New connects to the brokers; Run does the rest.
func New(cfg Config) (*Forwarder, error) {
	cfg.setDefaults()
	client, err := kafka.NewClient(cfg.Kafka)
	if err != nil {
		return nil, fmt.Errorf("delay topics: %w", err)
	}
	return &Forwarder{cfg: cfg, client: client, dead: deadletter.New(client)}, nil
}

// Run consumes all topics until ctx is done, as one member of one group: seven would send seven times the heartbeats and
// fetches, which is most of what idle delay topics cost. Windows are per partition, so a full one holds back no other.
func (d *Forwarder) Run(ctx context.Context) error {
	defer d.client.Close()
	delayTopics, names, wait := map[string]*delayTopic{}, make([]string, 0, len(d.cfg.Tiers)), time.Duration(math.MaxInt64)
	for _, tier := range d.cfg.Tiers {
		delayTopics[tier.Topic] = &delayTopic{d: d, DelayTier: tier, parts: map[<-chan struct{}]*lookahead{}}
		names = append(names, tier.Topic)
		wait = min(wait, fetchWait(tier.Delay))
	}
	return kafka.Consume(ctx, kafka.ConsumerConfig{
		Client: d.cfg.Kafka, Group: topics.Delays, Topics: names, InstanceID: d.cfg.InstanceID,
		WindowRecords: d.cfg.window,
		Handle:        func(ctx context.Context, rec *kafka.Record) { delayTopics[rec.Topic].add(ctx, rec) },
		Opts:          []kgo.Opt{kgo.FetchMaxWait(wait)},
	})
}

// fetchWait is how long a broker may wait before it answers a fetch that has no records. New records end the wait, but a partition
// that was paused because its window was full is only part of the next fetch, so the wait is short for short delays. A longer wait
// makes idle topics cheaper.
func fetchWait(line time.Duration) time.Duration {
	return min(max(line/5, 500*time.Millisecond), 5*time.Second)
}

// delayTopic is one topic. Its partitions are identified by their stop channels.
type delayTopic struct {
	topics.DelayTier
	d *Forwarder

	mu    sync.Mutex
	parts map[<-chan struct{}]*lookahead
}

// waiting is a record that is not due yet.
type waiting struct {
	rec *kafka.Record
	due time.Time
}

// lookahead is the window of one partition.
type lookahead struct {
	topic *delayTopic
	wake  chan struct{} // another record is due first

	mu     sync.Mutex
	queue  dueHeap
	closed bool
}

// add takes a record from the partition.
func (t *delayTopic) add(ctx context.Context, rec *kafka.Record) {
	due, err := dueTime(rec.Record, t.Delay)
	if err != nil {
		t.deadLetter(ctx, rec, err)
		return
	}
	t.mu.Lock()
	part, ok := t.parts[rec.Stopping()]
	if !ok {
		part = &lookahead{topic: t, wake: make(chan struct{}, 1)}
		t.parts[rec.Stopping()] = part
		go part.run(ctx, rec.Stopping())
	}
	t.mu.Unlock()
	part.push(waiting{rec, due})
}

// dueTime is the time in the header not_before, or else the timestamp of the record plus the delay of the topic.
func dueTime(rec *kgo.Record, delay time.Duration) (time.Time, error) {
	for _, h := range rec.Headers {
		if h.Key != "not_before" {
			continue
		}
		ms, err := strconv.ParseInt(string(h.Value), 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("header not_before: must be unix milliseconds, got %.60q", h.Value)
		}
		if ms > 0 {
			return time.UnixMilli(ms), nil
		}
	}
	return rec.Timestamp.Add(delay), nil
}

// deadLetter writes a record without a readable due time to the dead letter topic. It retries until that works or the
// partition stops.
func (t *delayTopic) deadLetter(ctx context.Context, rec *kafka.Record, cause error) {
	for {
		err := t.d.dead.Record(ctx, topics.DeliveriesDead, rec.Record, deadletter.Decode, cause)
		if err == nil {
			rec.Done()
			return
		}
		t.d.cfg.Log.ErrorContext(ctx, "dead letter not written", "topic", t.Topic, "error", err)
		pause := time.NewTimer(t.d.cfg.retry)
		select {
		case <-pause.C:
		case <-rec.Stopping():
			rec.Drop()
			return
		}
	}
}

func (p *lookahead) push(w waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.rec.Drop()
		return
	}
	heap.Push(&p.queue, w)
	delayDepth.WithLabelValues(p.topic.Topic).Inc()
	if p.queue[0].rec == w.rec {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// run forwards records when they are due until the partition stops. The next owner consumes the rest again.
func (p *lookahead) run(ctx context.Context, stopping <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for _, w := range p.takeDue(time.Now()) {
			p.forward(ctx, w)
		}
		timer.Reset(p.untilNext())
		select {
		case <-timer.C:
		case <-p.wake:
		case <-stopping:
			p.close(stopping)
			return
		}
	}
}

func (p *lookahead) takeDue(now time.Time) (due []waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 && !p.queue[0].due.After(now) {
		w, _ := heap.Pop(&p.queue).(waiting)
		due = append(due, w)
	}
	delayDepth.WithLabelValues(p.topic.Topic).Sub(float64(len(due)))
	return due
}

// untilNext is the time until the next record is due; an hour without one, because push wakes the loop.
func (p *lookahead) untilNext() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return time.Hour
	}
	return max(time.Until(p.queue[0].due), 0)
}

// forward produces the record unchanged and marks it as done when the brokers have it.
func (p *lookahead) forward(ctx context.Context, w waiting) {
	next := &kgo.Record{Topic: topics.Deliveries, Key: w.rec.Key, Value: w.rec.Value, Headers: w.rec.Headers}
	p.topic.d.client.Produce(ctx, next, func(_ *kgo.Record, err error) {
		if err != nil {
			p.topic.d.cfg.Log.WarnContext(ctx, "delayed record not forwarded", "topic", p.topic.Topic, "offset", w.rec.Offset, "error", err)
			p.push(waiting{w.rec, time.Now().Add(p.topic.d.cfg.retry)})
			return
		}
		failpoint.Pass("delay.forwarded")
		delayLate.WithLabelValues(p.topic.Topic).Observe(max(time.Since(w.due), 0).Seconds())
		w.rec.Done()
	})
}

func (p *lookahead) close(stopping <-chan struct{}) {
	p.topic.mu.Lock()
	delete(p.topic.parts, stopping)
	p.topic.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.queue {
		w.rec.Drop()
	}
	delayDepth.WithLabelValues(p.topic.Topic).Sub(float64(len(p.queue)))
	p.queue = nil
}

// dueHeap orders by due time, then by offset.
type dueHeap []waiting

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if h[i].due.Equal(h[j].due) {
		return h[i].rec.Offset < h[j].rec.Offset
	}
	return h[i].due.Before(h[j].due)
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements [heap.Interface].
func (h *dueHeap) Push(x any) {
	w, _ := x.(waiting)
	*h = append(*h, w)
}

// Pop implements [heap.Interface].
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = waiting{}
	*h = old[:len(old)-1]
	return last
}

var (
	delayDepth = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_delay_depth", Help: "Records of a delay topic that this process holds until they are due; the others are consumer lag.",
	}, []string{"line"})
	delayLate = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tradegrid_delay_late_seconds", Help: "How long after its due time a record was forwarded from its delay topic.",
		Buckets: []float64{.005, .01, .05, .1, .5, 1, 5, 30, 120, 600, 3600},
	}, []string{"line"})
)

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, tier := range topics.DelayTiers() {
		delayDepth.WithLabelValues(tier.Topic)
		delayLate.WithLabelValues(tier.Topic)
	}
	return []prometheus.Collector{delayDepth, delayLate}
}
