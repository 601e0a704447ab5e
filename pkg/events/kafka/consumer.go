package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
)

// ConsumerConfig configures a member of a consumer group: what it consumes, and how far it may run ahead of the finished
// records. Exactly one of Handle and HandleBatch must be set. Zero values take the defaults given beside the fields.
type ConsumerConfig struct {
	Client     Config
	Group      string
	Topics     []string
	InstanceID string // static membership: a restart within the session timeout causes no rebalance

	WindowRecords int           // maximum number of records of a partition after the finished prefix; 5 000
	WindowBytes   int64         // memory that these records of all partitions may take; 16 MiB
	MaxBatch      int           // maximum number of records per poll and per call of HandleBatch; 500
	CommitEvery   time.Duration // interval between commits; 200 ms
	RevokeWait    time.Duration // how long to wait for records in flight of a revoked partition; 5 s

	// Handle is called with one record of a partition at a time and must return soon: longer work continues
	// in the background and ends with [Record.Done]. A call that blocks delays only its own partition.
	Handle func(ctx context.Context, r *Record)
	// HandleBatch is called with records of several partitions, those of one partition in order. The records of a partition
	// are in one call at a time, up to BatchCalls calls run at once. One partition of a batch may stop while the others go on.
	HandleBatch func(ctx context.Context, batch []*Record)
	BatchCalls  int // 4

	Opts []kgo.Opt // override the defaults
}

func (c *ConsumerConfig) setDefaults() error {
	if (c.Handle == nil) == (c.HandleBatch == nil) {
		return errors.New("consumer: set exactly one of Handle and HandleBatch")
	}
	if c.Group == "" || len(c.Topics) == 0 {
		return errors.New("consumer: a group and at least one topic are required")
	}
	if c.Client.Log == nil {
		c.Client.Log = slog.New(slog.DiscardHandler)
	}
	c.WindowRecords = positive(c.WindowRecords, 5000)
	c.WindowBytes = positive(c.WindowBytes, 16<<20)
	c.MaxBatch = positive(c.MaxBatch, 500)
	c.BatchCalls = positive(c.BatchCalls, 4)
	c.CommitEvery = positive(c.CommitEvery, 200*time.Millisecond)
	c.RevokeWait = positive(c.RevokeWait, 5*time.Second)
	config.Complete(&c.Client.Settings)
	c.Client.FetchWait = positive(c.Client.FetchWait, 500*time.Millisecond)
	c.Client.DrainWait = positive(c.Client.DrainWait, 25*time.Second)
	return nil
}

func positive[T int | int64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// consumer is one member of a group.
type consumer struct {
	cfg    ConsumerConfig
	log    *slog.Logger
	client *kgo.Client
	member *kgo.Client     // the same, set by the first assignment, which may come before client is set
	work   context.Context // context of the handlers; ends after the drain

	advanced chan struct{} // capacity 1: there are offsets to commit

	// commitMu serializes commits and the loss of partitions, so that no offset is
	// committed for a partition that another member has taken over.
	commitMu sync.Mutex
	unknown  map[string]bool    // topics that a commit found missing
	leave    context.CancelFunc // ends the polls

	polls atomic.Int64 // that returned records
	held  atomic.Int64 // bytes of the records after the finished prefixes
	parts atomic.Int64 // partitions that have had records

	mu         sync.Mutex
	partitions map[topicPartition]*partition
	stopped    bool // the drain is over; do not wait for records in flight any more

	batches batcher // for HandleBatch
}

type topicPartition struct {
	topic string
	id    int32
}

// Consume joins the group and consumes until ctx is done. Then it stops polling, waits for the records in flight,
// commits, and leaves the group. It returns an error only if it could not start. A topic that is deleted and recreated
// is consumed from its start.
func Consume(ctx context.Context, cfg ConsumerConfig) error {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	for {
		recreated, err := consume(ctx, cfg)
		if err != nil || len(recreated) == 0 {
			return err
		}
		cfg.Client.Log.WarnContext(ctx, "topic was deleted, or a broker does not know it; joining again: a recreated one is consumed from its start",
			"group", cfg.Group, "topics", recreated)
		sleep(ctx, renewEvery)
	}
}

// consume runs one membership. It returns when ctx is done, or with the topics that were deleted and that its client
// therefore cannot consume any more.
func consume(ctx context.Context, cfg ConsumerConfig) (recreated []string, err error) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	polls, leave := context.WithCancel(ctx)
	defer leave()
	c := &consumer{
		cfg: cfg, log: cfg.Client.Log, work: work, advanced: make(chan struct{}, 1), unknown: map[string]bool{}, leave: leave,
		partitions: map[topicPartition]*partition{},
	}
	c.batches.prepare(cfg.MaxBatch)
	client, err := NewClient(cfg.Client, append(c.options(), cfg.Opts...)...)
	if err != nil {
		return nil, fmt.Errorf("consume as group %s: %w", cfg.Group, err)
	}
	c.client = client
	var background sync.WaitGroup
	background.Go(func() { c.commitLoop(work) })
	background.Go(func() { c.measureLoop(work) })
	if cfg.HandleBatch != nil {
		for range cfg.BatchCalls {
			background.Go(func() { c.batches.run(work, cfg) })
		}
	}

	c.show()
	recreated = append(c.pollLoop(polls), c.unknownTopics()...)
	slices.Sort(recreated)
	recreated = slices.Compact(recreated)
	c.forget(recreated)
	c.drain()
	cancel()
	background.Wait()
	client.CloseAllowingRebalance()
	c.forgetMetrics()
	return recreated, nil
}

// fetchBytes bounds a fetch, compressed.
const fetchBytes = 512 << 10

func (c *consumer) options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(c.cfg.Group),
		kgo.ConsumeTopics(c.cfg.Topics...),
		// A new group must also deliver the events published before it started.
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// Commit the finished prefix, not what was polled.
		kgo.DisableAutoCommit(),
		// A partition must not be revoked between a poll and the registration of its records.
		kgo.BlockRebalanceOnPoll(),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(c.cfg.Client.Session),
		// A member may miss two heartbeats before its session times out.
		kgo.HeartbeatInterval(min(3*time.Second, c.cfg.Client.Session/3)),
		// A member that dies during a rebalance blocks all others for this long, so keep it as short as
		// revoking partitions allows.
		kgo.RebalanceTimeout(min(3*c.cfg.RevokeWait, max(c.cfg.Client.Session, c.cfg.RevokeWait+time.Second))),
		kgo.FetchMaxWait(c.cfg.Client.FetchWait),
		// Records are compressed, to a tenth where they are alike, and a client keeps one fetch of each broker ready. A batch that
		// is larger comes all the same.
		kgo.FetchMaxBytes(fetchBytes),
		kgo.FetchMaxPartitionBytes(fetchBytes / 4),
		kgo.OnPartitionsAssigned(c.assigned),
		kgo.AdjustFetchOffsetsFn(c.startOver),
		kgo.OnPartitionsRevoked(c.revoked),
		kgo.OnPartitionsLost(c.lost),
	}
	if c.cfg.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(c.cfg.InstanceID))
	}
	return opts
}

// pollLoop polls until ctx is done, or returns topics that were deleted.
func (c *consumer) pollLoop(ctx context.Context) (recreated []string) {
	errs := newPollErrors(c.log.With("group", c.cfg.Group))
	for ctx.Err() == nil {
		fetches := c.client.PollRecords(ctx, c.cfg.MaxBatch)
		if fetches.IsClientClosed() {
			return nil
		}
		recreated = errs.look(ctx, fetches, func(topic string) { fetchErrors.WithLabelValues(c.cfg.Group, topic).Inc() })
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if len(p.Records) > 0 {
				c.polls.Add(1)
				polled(p.Topic, c.cfg.Group, len(p.Records))
				c.partition(p.Topic, p.Partition).add(p.Records)
			}
		})
		c.client.AllowRebalance()
		if len(recreated) > 0 {
			return recreated
		}
		errs.pause(ctx, fetches)
	}
	return nil
}

// forget drops all partitions of deleted topics, because their offsets are meaningless in a recreated topic.
func (c *consumer) forget(topics []string) {
	if len(topics) == 0 {
		return
	}
	gone := map[string][]int32{}
	for _, p := range c.all() {
		if slices.Contains(topics, p.key.topic) {
			gone[p.key.topic] = append(gone[p.key.topic], p.key.id)
		}
	}
	c.lost(c.work, c.client, gone)
}

// partition returns the state of a partition; at the first call for it, it starts the worker of Handle.
func (c *consumer) partition(topic string, id int32) *partition {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := topicPartition{topic, id}
	p, ok := c.partitions[key]
	if !ok {
		p = newPartition(c, key)
		c.partitions[key] = p
		c.parts.Add(1)
		if c.cfg.Handle != nil {
			go p.run()
		}
	}
	return p
}

func (c *consumer) assigned(ctx context.Context, cl *kgo.Client, parts map[string][]int32) {
	c.member = cl
	rebalances.WithLabelValues(c.cfg.Group).Inc()
	c.log.DebugContext(ctx, "partitions assigned", "group", c.cfg.Group, "partitions", parts)
}

// revoked stops the partitions, waits for their records in flight and commits the finished prefix.
func (c *consumer) revoked(ctx context.Context, cl *kgo.Client, parts map[string][]int32) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	gone := c.remove(cl, parts)
	if len(gone) == 0 {
		return
	}
	c.mu.Lock()
	wait := c.cfg.RevokeWait
	if c.stopped {
		wait = 0
	}
	c.mu.Unlock()
	waitFor(gone, wait)
	c.commit(ctx, gone)
	for _, p := range gone {
		p.close()
	}
}

// lost drops partitions that another member may own already.
func (c *consumer) lost(_ context.Context, cl *kgo.Client, parts map[string][]int32) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	for _, p := range c.remove(cl, parts) {
		p.stop()
		p.close()
	}
}

// remove removes partitions from the map.
func (c *consumer) remove(cl *kgo.Client, parts map[string][]int32) []*partition {
	cl.ResumeFetchPartitions(parts) // otherwise they would still be paused when assigned again
	c.mu.Lock()
	defer c.mu.Unlock()
	var gone []*partition
	for topic, ids := range parts {
		for _, id := range ids {
			key := topicPartition{topic, id}
			if p, ok := c.partitions[key]; ok {
				delete(c.partitions, key)
				c.parts.Add(-1)
				gone = append(gone, p)
			}
		}
	}
	return gone
}

func (c *consumer) all() []*partition {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*partition, 0, len(c.partitions))
	for _, p := range c.partitions {
		all = append(all, p)
	}
	return all
}

// drain finishes the records in flight before the member leaves the group. Rebalances may happen meanwhile.
func (c *consumer) drain() {
	c.client.AllowRebalance()
	all := c.all()
	waitFor(all, c.cfg.Client.DrainWait)
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.commitAll(c.work)
	for _, p := range all {
		p.cancel()
	}
}

// waitFor stops the partitions and waits until none of their records is in flight, at most for limit.
func waitFor(parts []*partition, limit time.Duration) {
	for _, p := range parts {
		p.stop()
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for _, p := range parts {
		select {
		case <-p.idle:
		case <-timeout.C:
			return
		}
	}
}
