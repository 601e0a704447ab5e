// Package loadshed rejects writes before a store of the platform is full, so that accepted data is kept and stored data
// stays readable. Limits on shared stores (outbox, database, brokers) are measured by one process at a time and read by
// all. Limits of a process (connections, requests in flight) are measured by the process itself.
//
// A limit that cannot be measured rejects nothing: a broken probe must not stop a working platform.
package loadshed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Limits are the values at which requests are rejected, to protect the database and the brokers. Zero means no limit.
type Limits struct {
	OutboxRows    int64         `name:"shed-outbox-rows" help:"Reject writes with 503 when the outbox holds this many rows; 0 = no limit, as for all --shed flags." default:"10000000" reload:"true"`
	OutboxAge     time.Duration `name:"shed-outbox-age" help:"Reject writes when the oldest row of the outbox is this old." default:"0s" reload:"true"`
	Disk          float64       `name:"shed-disk" help:"Reject writes when the fullest disk of database or brokers is used to this share, 0 to 1, where servers report it." default:"0.85" reload:"true"`
	DatabaseSize  int64         `name:"shed-database-size" help:"Reject writes when the database holds this many bytes. For PostgreSQL, which does not report the size of its disk." default:"0" reload:"true"`
	KafkaSize     int64         `name:"shed-kafka-size" help:"Reject writes when one broker holds this many bytes of topics. For brokers that do not report the size of their disks." default:"0" reload:"true"`
	PoolWait      time.Duration `name:"shed-pool-wait" help:"Reject writes when getting a database connection takes this long." default:"2s" reload:"true"`
	InFlight      int           `name:"max-in-flight" help:"Maximum number of concurrent requests of this process, reads included." default:"4000" reload:"true"`
	RequestBytes  int64         `name:"max-request-bytes" help:"Maximum bytes that the large requests take that this process decodes at once, their bodies included. One company may hold a quarter." default:"134217728" reload:"true"`
	ResponseBytes int64         `name:"max-response-bytes" help:"Maximum bytes of the large responses that this process builds and sends at once. One company may hold a quarter." default:"67108864" reload:"true"`
}

// Check validates the limits.
func (l Limits) Check() error {
	var errs []error
	if l.Disk < 0 || l.Disk > 1 {
		errs = append(errs, fmt.Errorf("--shed-disk: must be a share from 0 to 1, such as 0.85, not %v; 0 = no limit", l.Disk))
	}
	return errors.Join(append(errs,
		config.NotNegative("--shed-outbox-rows", l.OutboxRows, "no limit"),
		config.NotNegative("--shed-outbox-age", l.OutboxAge, "no limit"),
		config.NotNegative("--shed-database-size", l.DatabaseSize, "no limit"),
		config.NotNegative("--shed-kafka-size", l.KafkaSize, "no limit"),
		config.NotNegative("--shed-pool-wait", l.PoolWait, "no limit"),
		config.NotNegative("--max-in-flight", l.InFlight, "no limit"),
		config.NotNegative("--max-response-bytes", l.ResponseBytes, "no limit"),
		config.NotNegative("--max-request-bytes", l.RequestBytes, "no limit"),
	)...)
}

// Names of the limits in metrics and logs.
const (
	OutboxRows   = "outbox_rows"
	OutboxAge    = "outbox_age"
	DatabaseDisk = "database_disk"
	DatabaseSize = "database_size"
	KafkaDisk    = "kafka_disk"
	KafkaSize    = "kafka_size"
	PoolWait     = "pool_wait"
	InFlight     = "in_flight"

	ResponseBytes = "response_bytes"
	RequestBytes  = "request_bytes"
)

// Names lists all limits.
func Names() []string {
	return []string{OutboxRows, OutboxAge, DatabaseDisk, DatabaseSize, KafkaDisk, KafkaSize, PoolWait, InFlight, ResponseBytes, RequestBytes}
}

// byName returns each limit in the unit of its readings: rows, seconds, shares or bytes.
func (l Limits) byName() map[string]float64 {
	return map[string]float64{
		OutboxRows: float64(l.OutboxRows), OutboxAge: l.OutboxAge.Seconds(), DatabaseDisk: l.Disk, DatabaseSize: float64(l.DatabaseSize),
		KafkaDisk: l.Disk, KafkaSize: float64(l.KafkaSize), PoolWait: l.PoolWait.Seconds(), InFlight: float64(l.InFlight),
		ResponseBytes: float64(l.ResponseBytes), RequestBytes: float64(l.RequestBytes),
	}
}

// recovered is the share of a limit below which writes are accepted again.
const recovered = 0.95

// retryAfter is the Retry-After of rejected writes, in seconds.
const retryAfter = 5

// Config says what is measured. DB is required.
type Config struct {
	DB     *db.DB
	Node   string // name of the process
	Limits Limits
	Probes []Probe
	Every  time.Duration // interval of reading the shared measurements; default 2 s
	Stale  time.Duration // age at which a measurement is ignored; default 30 s
	Log    *slog.Logger

	FreeMemory func() // gives memory back to the operating system; default [debug.FreeOSMemory]
}

// Shedder is a load shedder: it decides whether a request is accepted. A nil Shedder accepts all.
type Shedder struct {
	cfg      Config
	log      *slog.Logger
	probes   []*probe
	inFlight atomic.Int64
	sending  *Bytes
	decoding *Bytes

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

// New makes a load shedder. It measures nothing until [Shedder.Run] runs.
func New(cfg Config) *Shedder {
	if cfg.Every <= 0 {
		cfg.Every = 2 * time.Second
	}
	if cfg.Stale <= 0 {
		cfg.Stale = 30 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.FreeMemory == nil {
		cfg.FreeMemory = debug.FreeOSMemory
	}
	s := &Shedder{
		cfg: cfg, log: cfg.Log, limits: cfg.Limits.byName(),
		readings: map[string]reading{}, active: map[string]bool{}, failing: map[string]bool{},
		sending: newResponses(cfg.Limits.ResponseBytes), decoding: newRequests(cfg.Limits.RequestBytes),
	}
	for _, p := range cfg.Probes {
		s.probes = append(s.probes, s.newProbe(p))
	}
	return s
}

// SetLimits replaces the limits. It may be called at any time.
func (s *Shedder) SetLimits(l Limits) {
	s.mu.Lock()
	s.limits = l.byName()
	s.mu.Unlock()
	s.sending.setLimit(l.ResponseBytes)
	s.decoding.setLimit(l.RequestBytes)
	s.evaluate(context.Background())
}

// Responses returns the bound of large responses, nil for a nil Shedder.
func (s *Shedder) Responses() *Bytes {
	if s == nil {
		return nil
	}
	return s.sending
}

// Requests returns the bound of what large requests take, nil for a nil Shedder.
func (s *Shedder) Requests() *Bytes {
	if s == nil {
		return nil
	}
	return s.decoding
}

// Run measures until ctx ends.
func (s *Shedder) Run(ctx context.Context) error {
	eg, ctx := errgroup.WithContext(ctx)
	eg.Go(func() error { s.watchShared(ctx); return nil })
	eg.Go(func() error { s.watchPool(ctx); return nil })
	eg.Go(func() error { s.watchMemory(ctx); return nil })
	return eg.Wait()
}

// reasons are what clients see of a limit.
var reasons = map[string]apierr.Reason{
	OutboxRows: apierr.OutboxFull, OutboxAge: apierr.OutboxFull, DatabaseDisk: apierr.DatabaseFull, DatabaseSize: apierr.DatabaseFull,
	KafkaDisk: apierr.KafkaFull, KafkaSize: apierr.KafkaFull, PoolWait: apierr.PoolExhausted, InFlight: apierr.Overloaded,
}

// refusal is the 503 for a write that is rejected because of the limit.
func refusal(limit string) *apierr.Error {
	return apierr.Unavailable(reasons[limit], retryAfter,
		"writes are rejected for the moment to protect stored data; nothing was stored. Reads still work. Repeat the request with the same X-Idempotency-Key after the time in Retry-After")
}

var errFull = apierr.Unavailable(reasons[InFlight], 1, "too many requests are in flight; nothing was done, repeat the request after the time in Retry-After")

// Admit returns nil if writes are accepted, otherwise the 503 for the client.
func (s *Shedder) Admit() error {
	if s == nil || !s.shedding.Load() {
		return nil
	}
	active := s.Active()
	for _, name := range active {
		shedTotal.WithLabelValues(name).Inc()
	}
	if len(active) == 0 { // the limit was just left
		return nil
	}
	return refusal(active[0])
}

// Enter counts a request as in flight. The caller must call leave at its end; leave is nil if the request is rejected.
func (s *Shedder) Enter() (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	n := s.inFlight.Add(1)
	if most := s.limit(InFlight); most > 0 && float64(n) > most {
		s.inFlight.Add(-1)
		shedTotal.WithLabelValues(InFlight).Inc()
		return nil, errFull
	}
	return func() { s.inFlight.Add(-1) }, nil
}

// Active lists the limits that currently reject writes.
func (s *Shedder) Active() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.active))
}

func (s *Shedder) limit(name string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits[name]
}

func (s *Shedder) set(name string, value float64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.readings[name]; !ok || !at.Before(old.at) {
		s.readings[name] = reading{value, at}
	}
}

// evaluate compares all readings with their limits. Those of requests in flight and of bytes are enforced by [Shedder.Enter] and
// [Bytes].
func (s *Shedder) evaluate(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readings[InFlight] = reading{float64(s.inFlight.Load()), time.Now()}
	s.readings[ResponseBytes] = reading{float64(s.sending.usedBytes()), time.Now()}
	s.readings[RequestBytes] = reading{float64(s.decoding.usedBytes()), time.Now()}
	for _, name := range Names() {
		most, r := s.limits[name], s.readings[name]
		share := 0.0
		if most > 0 && time.Since(r.at) < s.cfg.Stale {
			share = r.value / most
		}
		limitUsage.WithLabelValues(name).Set(share)
		if name == InFlight || name == ResponseBytes || name == RequestBytes {
			continue
		}
		switch was := s.active[name]; {
		case !was && share >= 1:
			s.active[name] = true
			shedActive.WithLabelValues(name).Set(1)
			s.log.ErrorContext(ctx, "limit reached, writes are rejected", "limit", name, "value", r.value, "max", most)
		case was && share < recovered:
			delete(s.active, name)
			shedActive.WithLabelValues(name).Set(0)
			s.log.WarnContext(ctx, "writes are accepted again", "limit", name, "value", r.value, "max", most)
		}
	}
	s.shedding.Store(len(s.active) > 0)
}
