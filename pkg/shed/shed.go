// Package shed refuses changes before one of the platform's stores is full, so that what was accepted can be kept and
// what is stored can still be read. Limits on what all processes share (outbox, database, brokers) are measured by one
// process at a time and read by all; those of a process (connections, requests under way) it measures itself.
//
// A limit that cannot be measured refuses nothing: a broken probe must not stop a platform that works.
package shed

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
)

// Limits are the values from which on changes are refused. Zero values are not limited.
type Limits struct {
	OutboxRows   int64         // rows that wait for Kafka
	OutboxAge    time.Duration // age of the oldest of them
	Disk         float64       // share in use of the fullest disk of database or brokers, 0…1
	DatabaseSize int64         // bytes of the database
	KafkaSize    int64         // bytes of all topics on the fullest broker
	PoolWait     time.Duration // wait for a connection to the database
	InFlight     int           // requests under way in this process, reads as well
}

// The names of limits, as metrics and logs have them.
const (
	OutboxRows   = "outbox_rows"
	OutboxAge    = "outbox_age"
	DatabaseDisk = "database_disk"
	DatabaseSize = "database_size"
	KafkaDisk    = "kafka_disk"
	KafkaSize    = "kafka_size"
	PoolWait     = "pool_wait"
	InFlight     = "in_flight"
)

// Names lists all limits.
func Names() []string {
	return []string{OutboxRows, OutboxAge, DatabaseDisk, DatabaseSize, KafkaDisk, KafkaSize, PoolWait, InFlight}
}

// of gives each limit in the unit of its readings: rows, seconds, shares, bytes.
func (l Limits) of() map[string]float64 {
	return map[string]float64{
		OutboxRows: float64(l.OutboxRows), OutboxAge: l.OutboxAge.Seconds(), DatabaseDisk: l.Disk, DatabaseSize: float64(l.DatabaseSize),
		KafkaDisk: l.Disk, KafkaSize: float64(l.KafkaSize), PoolWait: l.PoolWait.Seconds(), InFlight: float64(l.InFlight),
	}
}

// recovered is the share of a limit below which changes are taken again.
const recovered = 0.95

// retryAfter is what refused clients are told to wait, in seconds.
const retryAfter = 5

// Config says what is watched. DB is required.
type Config struct {
	DB     *db.DB
	Node   string // name of the process
	Limits Limits
	Probes []Probe
	Every  time.Duration // between two looks at what is shared; default 2 s
	Stale  time.Duration // age from which on a reading counts no more; default 30 s
	Log    *slog.Logger
}

// Guard decides whether a change is taken. The nil guard takes all.
type Guard struct {
	cfg    Config
	log    *slog.Logger
	flying atomic.Int64

	mu       sync.Mutex
	limits   map[string]float64
	readings map[string]reading
	active   map[string]bool
	shedding atomic.Bool // any of active
	failing  map[string]bool
}

type reading struct {
	value float64
	at    time.Time
}

// New makes a guard. [Guard.Run] has to run for it to notice anything.
func New(cfg Config) *Guard {
	if cfg.Every <= 0 {
		cfg.Every = 2 * time.Second
	}
	if cfg.Stale <= 0 {
		cfg.Stale = 30 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Guard{
		cfg: cfg, log: cfg.Log, limits: cfg.Limits.of(),
		readings: map[string]reading{}, active: map[string]bool{}, failing: map[string]bool{},
	}
}

// SetLimits replaces the limits; it may be called at any time.
func (g *Guard) SetLimits(l Limits) {
	g.mu.Lock()
	g.limits = l.of()
	g.mu.Unlock()
	g.judge(context.Background())
}

// Run watches until ctx ends.
func (g *Guard) Run(ctx context.Context) error {
	eg, ctx := errgroup.WithContext(ctx)
	eg.Go(func() error { g.watchShared(ctx); return nil })
	eg.Go(func() error { g.watchPool(ctx); return nil })
	return eg.Wait()
}

// reasons are what clients read of a limit.
var reasons = map[string]fault.Reason{
	OutboxRows: fault.OutboxFull, OutboxAge: fault.OutboxFull, DatabaseDisk: fault.DatabaseFull, DatabaseSize: fault.DatabaseFull,
	KafkaDisk: fault.KafkaFull, KafkaSize: fault.KafkaFull, PoolWait: fault.PoolExhausted, InFlight: fault.Overloaded,
}

// refusal is the fault of a change that is refused for a limit.
func refusal(limit string) *fault.Error {
	return fault.Unavailable(reasons[limit], retryAfter,
		"changes are refused for a while, so that none is lost; nothing was stored. Reads go on; repeat the change with the same X-Idempotency-Key after the time in Retry-After")
}

var errFull = fault.Unavailable(reasons[InFlight], 1, "too many requests are under way; nothing was done, repeat after the time in Retry-After")

// Admit returns nil if changes are taken, else the fault for the client.
func (g *Guard) Admit() error {
	if g == nil || !g.shedding.Load() {
		return nil
	}
	active := g.Active()
	for _, name := range active {
		shedTotal.WithLabelValues(name).Inc()
	}
	if len(active) == 0 { // it has just ended
		return nil
	}
	return refusal(active[0])
}

// Enter counts a request. leave has to be called at its end; it is nil when the request is refused.
func (g *Guard) Enter() (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	n := g.flying.Add(1)
	if most := g.limit(InFlight); most > 0 && float64(n) > most {
		g.flying.Add(-1)
		shedTotal.WithLabelValues(InFlight).Inc()
		return nil, errFull
	}
	return func() { g.flying.Add(-1) }, nil
}

// Active lists the limits for which changes are refused now.
func (g *Guard) Active() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.active))
}

func (g *Guard) limit(name string) float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limits[name]
}

func (g *Guard) set(name string, value float64, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if old, ok := g.readings[name]; !ok || !at.Before(old.at) {
		g.readings[name] = reading{value, at}
	}
}

// judge compares all readings with their limits. Requests under way are refused one by one, see [Guard.Enter].
func (g *Guard) judge(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readings[InFlight] = reading{float64(g.flying.Load()), time.Now()}
	for _, name := range Names() {
		most, r := g.limits[name], g.readings[name]
		share := 0.0
		if most > 0 && time.Since(r.at) < g.cfg.Stale {
			share = r.value / most
		}
		limitUsage.WithLabelValues(name).Set(share)
		if name == InFlight {
			continue
		}
		switch was := g.active[name]; {
		case !was && share >= 1:
			g.active[name] = true
			shedActive.WithLabelValues(name).Set(1)
			g.log.ErrorContext(ctx, "limit reached, changes are refused", "limit", name, "value", r.value, "max", most)
		case was && share < recovered:
			delete(g.active, name)
			shedActive.WithLabelValues(name).Set(0)
			g.log.WarnContext(ctx, "changes are taken again", "limit", name, "value", r.value, "max", most)
		}
	}
	g.shedding.Store(len(g.active) > 0)
}
