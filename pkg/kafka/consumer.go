package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ConsumerConfig says what a member of a group consumes and how far it may run ahead of what is finished.
// Exactly one of Handle and HandleBatch is set. Zero values take the defaults named beside the fields.
type ConsumerConfig struct {
	Client     Config
	Group      string
	Topics     []string
	InstanceID string // static membership: a restart within the session timeout moves no partition

	WindowRecords int           // records of a partition between the finished prefix and the newest; 5 000
	WindowBytes   int64         // the same in bytes of keys, values and headers; 64 MiB
	MaxBatch      int           // records per poll and per call of HandleBatch; 500
	CommitEvery   time.Duration // 200 ms
	RevokeWait    time.Duration // how long a partition that moves away is waited for; 5 s
	DrainWait     time.Duration // the same for all partitions at a stop; 25 s

	// Handle takes the records of a partition one after the other and returns soon: long work goes on
	// elsewhere and ends with [Record.Done]. Blocking holds back this partition and no other.
	Handle func(ctx context.Context, r *Record)
	// HandleBatch takes what has arrived of one partition, in order; one call at a time per partition.
	HandleBatch func(ctx context.Context, batch []*Record)

	Opts []kgo.Opt // of the caller; they come last and win
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
	c.WindowBytes = positive(c.WindowBytes, 64<<20)
	c.MaxBatch = positive(c.MaxBatch, 500)
	c.CommitEvery = positive(c.CommitEvery, 200*time.Millisecond)
	c.RevokeWait = positive(c.RevokeWait, 5*time.Second)
	c.DrainWait = positive(c.DrainWait, 25*time.Second)
	c.Client.Session = positive(c.Client.Session, 45*time.Second)
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
	work   context.Context // of the handlers; outlives the stop until the drain has ended

	// commitMu keeps a commit and the loss of a partition apart, so that no offset is
	// committed for a partition that another member has taken over.
	commitMu sync.Mutex

	mu         sync.Mutex
	partitions map[topicPartition]*partition
	stopped    bool // the drain is over: nothing is waited for any more
}

type topicPartition struct {
	topic string
	id    int32
}

// Consume is a member of the group until ctx is done. Then it stops polling, waits for what is in
// flight, commits, and leaves. It returns an error only when it could not start. A topic that is deleted and made anew
// is consumed from its start.
func Consume(ctx context.Context, cfg ConsumerConfig) error {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	for {
		anew, err := consume(ctx, cfg)
		if err != nil || len(anew) == 0 {
			return err
		}
		cfg.Client.Log.WarnContext(ctx, "topic was deleted; if it is there again, it is consumed from its start", "group", cfg.Group, "topics", anew)
		sleep(ctx, renewEvery)
	}
}

// consume is one membership. It ends with ctx, or names topics that its client cannot go on with.
func consume(ctx context.Context, cfg ConsumerConfig) (anew []string, err error) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	c := &consumer{cfg: cfg, log: cfg.Client.Log, work: work, partitions: map[topicPartition]*partition{}}
	client, err := NewClient(cfg.Client, append(c.options(), cfg.Opts...)...)
	if err != nil {
		return nil, fmt.Errorf("consume as group %s: %w", cfg.Group, err)
	}
	c.client = client
	var background sync.WaitGroup
	background.Go(func() { c.commitLoop(work) })
	background.Go(func() { c.measureLoop(work) })

	c.show()
	anew = c.pollLoop(ctx)
	c.forget(anew)
	c.drain()
	cancel()
	background.Wait()
	client.CloseAllowingRebalance()
	c.forgetMetrics()
	return anew, nil
}

func (c *consumer) options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(c.cfg.Group),
		kgo.ConsumeTopics(c.cfg.Topics...),
		// A group that starts after the first events must still deliver them.
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// Offsets are those of the finished prefix, never those of what was polled.
		kgo.DisableAutoCommit(),
		// A partition must not move between a poll and the registration of its records.
		kgo.BlockRebalanceOnPoll(),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(c.cfg.Client.Session),
		// A member that misses two of its heartbeats is still one.
		kgo.HeartbeatInterval(min(3*time.Second, c.cfg.Client.Session/3)),
		// A member that dies while the group divides its partitions holds up all others for so long: as short as
		// giving partitions back allows.
		kgo.RebalanceTimeout(min(3*c.cfg.RevokeWait, max(c.cfg.Client.Session, c.cfg.RevokeWait+time.Second))),
		// A partition that is resumed joins the next fetch; a long one would delay it.
		kgo.FetchMaxWait(500 * time.Millisecond),
		kgo.OnPartitionsAssigned(c.assigned),
		kgo.OnPartitionsRevoked(c.revoked),
		kgo.OnPartitionsLost(c.lost),
	}
	if c.cfg.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(c.cfg.InstanceID))
	}
	return opts
}

// pollLoop ends with ctx, or names topics that were deleted under the client.
func (c *consumer) pollLoop(ctx context.Context) (anew []string) {
	trouble := newTrouble(c.log.With("group", c.cfg.Group))
	for ctx.Err() == nil {
		fetches := c.client.PollRecords(ctx, c.cfg.MaxBatch)
		if fetches.IsClientClosed() {
			return nil
		}
		anew = trouble.look(ctx, fetches, func(topic string) { fetchErrors.WithLabelValues(c.cfg.Group, topic).Inc() })
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if len(p.Records) > 0 {
				polled(p.Topic, c.cfg.Group, len(p.Records))
				c.partition(p.Topic, p.Partition).add(p.Records)
			}
		})
		c.client.AllowRebalance()
		if len(anew) > 0 {
			return anew
		}
		trouble.pause(ctx, fetches)
	}
	return nil
}

// forget gives up all partitions of topics that are gone: their offsets mean nothing in a new topic.
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

// partition finds the state of a partition, and starts its worker with its first records.
func (c *consumer) partition(topic string, id int32) *partition {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := topicPartition{topic, id}
	p, ok := c.partitions[key]
	if !ok {
		p = newPartition(c, key)
		c.partitions[key] = p
		go p.run()
	}
	return p
}

func (c *consumer) assigned(ctx context.Context, _ *kgo.Client, parts map[string][]int32) {
	rebalances.WithLabelValues(c.cfg.Group).Inc()
	c.log.DebugContext(ctx, "partitions assigned", "group", c.cfg.Group, "partitions", parts)
}

// revoked gives partitions away in good order: nothing new starts, what is in flight ends, the prefix is committed.
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

// lost forgets partitions that another member may own already.
func (c *consumer) lost(_ context.Context, cl *kgo.Client, parts map[string][]int32) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	for _, p := range c.remove(cl, parts) {
		p.stop()
		p.close()
	}
}

// remove takes partitions out of the map.
func (c *consumer) remove(cl *kgo.Client, parts map[string][]int32) []*partition {
	cl.ResumeFetchPartitions(parts) // a pause outlives an assignment
	c.mu.Lock()
	defer c.mu.Unlock()
	var gone []*partition
	for topic, ids := range parts {
		for _, id := range ids {
			key := topicPartition{topic, id}
			if p, ok := c.partitions[key]; ok {
				delete(c.partitions, key)
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

// drain ends the work in hand before the member leaves the group. Rebalances may happen meanwhile.
func (c *consumer) drain() {
	c.client.AllowRebalance()
	all := c.all()
	waitFor(all, c.cfg.DrainWait)
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.commitAll(c.work)
	for _, p := range all {
		p.cancel()
	}
}

// waitFor stops the partitions and waits until nothing of them is in flight, at most for the given time.
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
