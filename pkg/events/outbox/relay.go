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
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/topics"
)

// Settings are those of a relay. Zero values take the default.
type Settings struct {
	LeaseTTL       time.Duration `name:"relay-lease-ttl" help:"How long a lease on a bucket lasts without renewal; after a crash, others wait this long." default:"5s"`
	LeaseMargin    time.Duration `name:"relay-lease-margin" help:"How long before its expiry the owner stops using a lease; must exceed the clock skew between database nodes." default:"1s"`
	Renew          time.Duration `name:"relay-renew" help:"Interval between renewals of leases; free buckets are looked for twice as often." default:"2s"`
	TickMax        time.Duration `name:"relay-tick-max" help:"Poll interval of the outbox while wake-ups tell of its rows, or when idle." default:"500ms"`
	BatchSize      int           `name:"relay-batch-size" help:"Maximum number of rows of one bucket published together." default:"500"`
	Parallel       int           `name:"relay-parallel" help:"Maximum number of batches that are read and published at the same time; each needs a database connection." default:"4"`
	Lookback       time.Duration `name:"relay-lookback" help:"How far behind the newest position scans start; must exceed the longest transaction." default:"120s"`
	FullSweep      time.Duration `name:"relay-full-sweep" help:"Interval between scans of whole buckets." default:"30s"`
	PublishTimeout time.Duration `name:"relay-publish-timeout" help:"How long to wait for Kafka to acknowledge a batch before sending its rows again." default:"10s"`
}

// Check reports settings that are invalid, alone or together.
func (s Settings) Check() error {
	var errs []error
	check := func(ok bool, msg string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(msg, args...))
		}
	}
	check(s.LeaseTTL > 0 && s.Renew > 0 && s.Renew <= (s.LeaseTTL-s.LeaseMargin)/2,
		"--relay-renew %s must be above 0 and at most half of --relay-lease-ttl %s without its margin %s, so that one renewal may fail", s.Renew, s.LeaseTTL, s.LeaseMargin)
	check(s.LeaseMargin > 0 && s.LeaseMargin < s.LeaseTTL, "--relay-lease-margin %s must be above 0 and below --relay-lease-ttl %s", s.LeaseMargin, s.LeaseTTL)
	check(s.TickMax > 0, "--relay-tick-max %s must be above 0", s.TickMax)
	check(s.BatchSize >= 1 && s.BatchSize <= 1000, "--relay-batch-size %d must be 1 to 1000", s.BatchSize)
	check(s.Parallel >= 1 && s.Parallel <= Buckets, "--relay-parallel %d must be 1 to %d", s.Parallel, Buckets)
	check(s.Lookback > 0, "--relay-lookback %s must be above 0", s.Lookback)
	check(s.FullSweep > 0, "--relay-full-sweep %s must be above 0", s.FullSweep)
	check(s.PublishTimeout > 0, "--relay-publish-timeout %s must be above 0", s.PublishTimeout)
	return errors.Join(errs...)
}

// RelayConfig configures a relay. Zero values take the default in brackets.
type RelayConfig struct {
	Settings

	Node           string             // name of the process in leases and logs; the relay adds a unique suffix
	drainTimeout   time.Duration      // how long to wait for batches in flight when the relay stops [15s]
	EventRetention time.Duration      // how long the event log keeps an event; required
	EventQuota     int64              // bytes that the event log keeps per company; above it, the oldest events are removed early; 0 = no quota
	cleanup        time.Duration      // interval between deletions of expired rows, PostgreSQL only [1m]
	Stamp          Stamp              // what records say of the database as it is when they are published; zero = nothing
	Owners         ownermail.Owners   // of companies, who are told when their part of the event log is nearly full; nil = they are not told
	CleanupJobs    []cleanup.Job      // jobs that delete expired rows
	Jobs           []Job              // that run beside the relay
	tickMin        time.Duration      // poll interval of the outbox while writers send no wake-ups [5ms]
	stats          time.Duration      // interval between measurements of the outbox [10s]
	placement      time.Duration      // interval between looks for partitions that were added to the topic of events [10s]
	inject         failpoint.Injector // disturbs the relay in tests; nil in production
	Log            *slog.Logger
}

// Stamp is a number that each record carries, as the database has it after the event was committed. It is read with the events, so that
// no consumer needs a round trip for it.
type Stamp struct {
	Header string // of the record
	SQL    string // an INT8 that is never null; x.company_id is the company of the event
}

// Job runs in every relay until ctx is done. It works only while owner reports that this relay owns bucket 0, which one
// relay at a time does.
type Job func(ctx context.Context, owner func() bool)

// Day is 24 hours.
const day = 24 * time.Hour

func (c RelayConfig) withDefaults() RelayConfig {
	config.Complete(&c.Settings)
	c.drainTimeout = cmp.Or(c.drainTimeout, 15*time.Second)
	c.cleanup = cmp.Or(c.cleanup, time.Minute)
	c.tickMin = cmp.Or(c.tickMin, 5*time.Millisecond)
	c.stats = cmp.Or(c.stats, 10*time.Second)
	c.placement = cmp.Or(c.placement, 10*time.Second)
	c.Node = cmp.Or(c.Node, "relay")
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// validate reports all invalid settings.
func (c RelayConfig) validate() error {
	err := c.Check()
	if c.EventQuota < 0 {
		err = errors.Join(err, fmt.Errorf("--event-quota %d must not be below 0; 0 = no quota", c.EventQuota))
	}
	if c.EventRetention <= 0 {
		err = errors.Join(err, fmt.Errorf("--event-retention %s must be above 0", c.EventRetention))
	}
	return err
}

// Relay publishes the rows of the outbox and deletes those that Kafka has acknowledged. Several relays share the
// buckets by leases. Each row is published at least once, the first publications of a record's rows are in commit
// order, and the event log contains each event exactly once. This requires that a row becomes visible within
// Lookback of its position, which transaction deadlines and the clock check ensure; an older row is found by the
// next full sweep.
type Relay struct {
	db     *db.DB
	client *kgo.Client
	admin  *kadm.Client
	cfg    RelayConfig
	log    *slog.Logger
	owner  string
	scans  map[db.Dialect]string
	quota  *quota.Meter
	wake   chan struct{} // capacity 1; wakes the scheduler
	taken  chan struct{} // capacity 1; buckets were acquired that are not spread over all partitions
	abort  chan struct{} // closed when the drain timeout has passed

	mu       sync.Mutex
	parts    [Buckets]*part
	ready    []*part   // in the order in which they became ready
	running  int       // occupied slots, at most cfg.Parallel
	launched time.Time // when the last batch was started
	pace     pace      // how soon the next one follows
	workers  sync.WaitGroup
	dbTime   time.Time // time of the database's clock at dbSeen
	dbSeen   time.Time // by this process's monotonic clock
	seen     int32     // partitions of the topic of events, when last looked at; 0 = never

	unsettled, unsettledBytes int       // published rows that are not being settled yet, with what they store
	settleAt                  time.Time // when the first of them has waited for long enough
}

// part is a relay's state of one bucket.
type part struct {
	bucket int32
	// held: this relay owns the lease until the given time. leaving: takes no new work, to be released to another relay.
	held, leaving bool
	epoch         int64
	until         time.Time
	partitions    int32 // of the topic of events, that the companies are spread over; 0 = not known
	paused        bool  // takes no new work while that number is found or changed
	// queued: waits for a slot. busy: a worker processes it. again: new rows were found while it was busy.
	queued, busy, again bool
	low                 int64     // position at which scans start, except full sweeps
	nextSweep           time.Time // time of the next full sweep
	backlog             bool      // the last scan found as many rows as it might
	limit               int       // maximum number of rows of the next batch; lower after failures and for large rows
	failures            int
	notBefore           time.Time
	wokenAt             time.Time // of the last wake-up
	suspect             time.Time // when a poll found rows of which no wake-up had told; zero = none
	published, settling published // rows that are to be settled, and that are being settled
	bytes               int       // of the payloads that its worker holds
	republish           bool      // what its worker publishes now is to be published again
}

// The points of a relay; see [RelayConfig].
const (
	beforeRenew   failpoint.Point = "relay.before_renew"
	beforeProduce failpoint.Point = "relay.before_produce" // of a batch, once the lease has been checked
	afterAck      failpoint.Point = "relay.after_ack"      // of a batch, before its rows are noted as published
	beforeSettle  failpoint.Point = "relay.before_settle"  // of published rows
	afterDelete   failpoint.Point = "relay.after_delete"   // in the transaction
)

// NewClient creates the Kafka client of a relay.
func NewClient(cfg kafka.Config) (*kgo.Client, error) {
	return kafka.NewClient(cfg,
		// A record without a response is abandoned when its batch times out, and sent again from the outbox. This may
		// duplicate it, which is allowed; waiting forever would block its bucket.
		kgo.AllowIdempotentProduceCancellation(),
		// Buckets whose partitions have no leader must not fill the buffer for the others.
		kgo.MaxBufferedRecords(100_000),
		kafka.ChosenPartitions(topics.Events),
	)
}

// NewRelay creates a relay that publishes through client; see [NewClient].
func NewRelay(d *db.DB, client *kgo.Client, cfg RelayConfig) (*Relay, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &Relay{
		db: d, client: client, admin: kadm.NewClient(client), cfg: cfg,
		// A restarted process must not consider itself the owner of its predecessor's leases.
		owner: cfg.Node + "/" + uuid.NewString()[:8],
		scans: scanStatements(cfg.Stamp),
		wake:  make(chan struct{}, 1),
		taken: make(chan struct{}, 1),
		abort: make(chan struct{}),
	}
	r.log = cfg.Log.With("relay", r.owner)
	r.quota = newQuota(r)
	for b := range r.parts {
		r.parts[b] = &part{bucket: int32(b), limit: cfg.BatchSize}
	}
	return r, nil
}

// Run publishes until ctx is done, then finishes the batches in flight and releases its leases. Failures of the
// database and of Kafka are logged and retried. Run may be called only once.
func (r *Relay) Run(ctx context.Context) error {
	// Batches in flight and leases outlive ctx; they are stopped in order below.
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	leases, stopLeases := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLeases()
	var background sync.WaitGroup
	background.Go(func() { r.keepLeases(leases, ctx.Done()) })
	background.Go(func() { r.cleanUp(ctx) })
	background.Go(func() { r.keepPlacement(ctx) })
	for _, job := range r.cfg.Jobs {
		background.Go(func() { job(ctx, r.ownsFirst) })
	}
	background.Go(func() { r.keepStats(ctx) })
	background.Go(func() { _ = r.quota.Run(ctx) }) // it ends with ctx and returns nil
	r.schedule(ctx, work)
	r.drain()
	r.settleRest(work)
	stopWork()
	stopLeases()
	background.Wait()
	r.releaseAll(context.WithoutCancel(ctx))
	return nil
}

func (r *Relay) signal() { wake(r.wake) }

// signalReady wakes the scheduler unless it has nothing to start. The caller holds mu.
func (r *Relay) signalReady() {
	if len(r.ready) > 0 {
		r.signal()
	}
}

// wake puts a signal into a channel of capacity 1, unless there is one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// drain waits for the workers up to DrainTimeout; the next owner publishes again what they leave.
func (r *Relay) drain() {
	done := make(chan struct{})
	go func() { r.workers.Wait(); close(done) }()
	t := time.NewTimer(r.cfg.drainTimeout)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		r.log.Warn("relay stopped with batches in flight", "after", r.cfg.drainTimeout.String())
	}
	close(r.abort)
}

// settleRest settles everything, so that the next owners have nothing to publish again.
func (r *Relay) settleRest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastSettle)
	defer cancel()
	r.settleNow(ctx, r.parts[:])
}

func (p *part) usable(now time.Time) bool { return p.held && now.Before(p.until) }
