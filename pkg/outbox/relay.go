package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/kafka"
)

// RelayConfig says how a relay works. Zero values take the default in brackets.
type RelayConfig struct {
	Node           string        // name of the process in leases and logs; made unique by the relay
	LeaseTTL       time.Duration // how long a bucket stays owned without renewal [5s]
	LeaseMargin    time.Duration // how long before that the owner stops using it [TTL/5]
	Renew          time.Duration // between renewals [1s]
	TickMin        time.Duration // between looks at the outbox while there is traffic [5ms]
	TickMax        time.Duration // between looks at the outbox when it is quiet [200ms]
	BatchSize      int           // rows of one bucket published together [500]
	Parallel       int           // buckets worked on at the same time [8]
	Lookback       time.Duration // how far behind the newest position a scan begins; longer than any transaction [120s]
	FullSweep      time.Duration // between scans of a whole bucket [30s]
	PublishTimeout time.Duration // wait for the acknowledgement of a batch [10s]
	DrainTimeout   time.Duration // wait for work under way when the relay stops [15s]
	EventRetention time.Duration // how long the event log keeps an event [30 days]
	Cleanup        time.Duration // between removals of expired rows, PostgreSQL only [1m]
	CleanupJobs    []cleanup.Job // what expires
	Stats          time.Duration // between measurements of the outbox [10s]
	Log            *slog.Logger
}

// Day is 24 hours.
const day = 24 * time.Hour

func (c RelayConfig) withDefaults() RelayConfig {
	c.LeaseTTL = cmp.Or(c.LeaseTTL, 5*time.Second)
	c.LeaseMargin = cmp.Or(c.LeaseMargin, c.LeaseTTL/5)
	c.Renew = cmp.Or(c.Renew, time.Second)
	c.TickMin = cmp.Or(c.TickMin, 5*time.Millisecond)
	c.TickMax = cmp.Or(c.TickMax, 200*time.Millisecond)
	c.BatchSize = cmp.Or(c.BatchSize, 500)
	c.Parallel = cmp.Or(c.Parallel, 8)
	c.Lookback = cmp.Or(c.Lookback, 120*time.Second)
	c.FullSweep = cmp.Or(c.FullSweep, 30*time.Second)
	c.PublishTimeout = cmp.Or(c.PublishTimeout, 10*time.Second)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 15*time.Second)
	c.EventRetention = cmp.Or(c.EventRetention, 30*day)
	c.Cleanup = cmp.Or(c.Cleanup, time.Minute)
	c.Stats = cmp.Or(c.Stats, 10*time.Second)
	c.Node = cmp.Or(c.Node, "relay")
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports every setting that cannot work.
func (c RelayConfig) Validate() error {
	d := c.withDefaults()
	var errs []error
	check := func(ok bool, msg string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(msg, args...))
		}
	}
	check(d.LeaseTTL > 0 && d.Renew > 0 && d.Renew <= (d.LeaseTTL-d.LeaseMargin)/2,
		"--relay-renew %s must be at most half of --relay-lease-ttl %s without its margin %s, so that one renewal may fail", d.Renew, d.LeaseTTL, d.LeaseMargin)
	check(d.LeaseMargin > 0 && d.LeaseMargin < d.LeaseTTL, "--relay-lease-margin %s must be above 0 and below --relay-lease-ttl %s", d.LeaseMargin, d.LeaseTTL)
	check(d.TickMin > 0 && d.TickMin <= d.TickMax, "--relay-tick-min %s must be above 0 and at most --relay-tick-max %s", d.TickMin, d.TickMax)
	check(d.BatchSize >= 1 && d.BatchSize <= 1000, "--relay-batch-size %d must be 1 to 1000", d.BatchSize)
	check(d.Parallel >= 1 && d.Parallel <= Buckets, "--relay-parallel %d must be 1 to %d", d.Parallel, Buckets)
	check(d.Lookback > 0, "--relay-lookback %s must be above 0", d.Lookback)
	check(d.FullSweep > 0, "--relay-full-sweep %s must be above 0", d.FullSweep)
	check(d.EventRetention >= time.Hour, "--event-retention %s must be at least 1h", d.EventRetention)
	return errors.Join(errs...)
}

// Relay publishes the rows of the outbox and deletes those that Kafka acknowledged. Several relays share the
// buckets by leases. Each row is published at least once; the first publications of one record are in commit
// order; the event log has each event exactly once. What it needs is that a row becomes visible within
// Lookback of its position, which the deadlines of transactions and the check of clocks see to; an older row
// is found too, at the next full sweep.
type Relay struct {
	db     *db.DB
	client *kgo.Client
	cfg    RelayConfig
	log    *slog.Logger
	owner  string
	hooks  hooks
	wake   chan struct{} // capacity 1: something for the scheduler to look at
	abort  chan struct{} // closed when the time to drain is over

	mu      sync.Mutex
	parts   [Buckets]*part
	ready   []*part // in the order in which they became ready
	running int     // occupied slots, at most cfg.Parallel
	workers sync.WaitGroup
	dbTime  time.Time // the database's clock at dbSeen
	dbSeen  time.Time // this process's monotonic clock
}

// part is what a relay knows of one bucket.
type part struct {
	bucket int32
	// held: the lease is ours until the given time. leaving: no new work, it is to be given to another relay.
	held, leaving bool
	epoch         int64
	until         time.Time
	// queued: waits for a slot. busy: a worker has it. again: something came while it was busy.
	queued, busy, again bool
	low                 int64     // scans begin at this position, but for full sweeps
	nextSweep           time.Time // when the next scan begins at 0
	limit               int       // rows of the next batch: less after failures and for big rows
	failures            int
	notBefore           time.Time
}

// hooks let tests hold a relay at a place, as a frozen process would be.
type hooks struct {
	skipRenewal   func() bool
	beforeProduce func(bucket int32)
	afterAck      func(bucket int32) error
}

// NewClient makes the client that a relay publishes through.
func NewClient(cfg kafka.Config) (*kgo.Client, error) {
	return kafka.NewClient(cfg,
		// A record without an answer is given up after the time of its batch and sent again from the outbox. That may
		// repeat it, which relays are allowed; waiting for ever would hold its bucket.
		kgo.AllowIdempotentProduceCancellation(),
		// The buckets of partitions without a leader must not use up the buffer of the others.
		kgo.MaxBufferedRecords(100_000),
	)
}

// NewRelay makes a relay that publishes through client; see [NewClient].
func NewRelay(d *db.DB, client *kgo.Client, cfg RelayConfig) (*Relay, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	r := &Relay{
		db: d, client: client, cfg: cfg,
		// A restarted process must not take itself for the owner of what its predecessor left.
		owner: cfg.Node + "/" + uuid.NewString()[:8],
		wake:  make(chan struct{}, 1),
		abort: make(chan struct{}),
	}
	r.log = cfg.Log.With("relay", r.owner)
	for b := range r.parts {
		r.parts[b] = &part{bucket: int32(b), limit: cfg.BatchSize}
	}
	return r, nil
}

// Run relays until ctx ends; then it finishes what is under way and gives its leases back. Failures of the
// database and of Kafka are logged and waited out. It may run once.
func (r *Relay) Run(ctx context.Context) error {
	// Work under way and the leases outlive ctx: they end in order below.
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	leases, stopLeases := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLeases()
	var background sync.WaitGroup
	background.Go(func() { r.keepLeases(leases, ctx.Done()) })
	background.Go(func() { r.cleanUp(ctx) })
	background.Go(func() { r.keepStats(ctx) })
	r.schedule(ctx, work)
	r.drain()
	stopWork()
	stopLeases()
	background.Wait()
	r.releaseAll(context.WithoutCancel(ctx))
	return nil
}

// Owned is the number of buckets that this relay owns now.
func (r *Relay) Owned() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	now := time.Now()
	for _, p := range r.parts {
		if p.usable(now) {
			n++
		}
	}
	return n
}

func (r *Relay) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// drain waits for the workers, but not for ever: what they leave is published again by the next owner.
func (r *Relay) drain() {
	done := make(chan struct{})
	go func() { r.workers.Wait(); close(done) }()
	t := time.NewTimer(r.cfg.DrainTimeout)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		r.log.Warn("relay stops with work under way", "after", r.cfg.DrainTimeout.String())
	}
	close(r.abort)
}

func (p *part) usable(now time.Time) bool { return p.held && now.Before(p.until) }
