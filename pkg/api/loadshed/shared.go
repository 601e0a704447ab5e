package loadshed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/lease"
)

// Probe measures a shared store. One process at a time runs it.
type Probe struct {
	Name    string
	Limits  []string      // limits that need the readings; without any of them this process does not measure. Empty = always
	Every   time.Duration // default 5 s; a slow probe runs less often, for at most a twentieth of the time
	Measure func(ctx context.Context) (Readings, error)
}

// Readings are measured values by name of their limit: rows, seconds, shares or bytes.
type Readings map[string]float64

// probeTimeout bounds one measurement.
const probeTimeout = 20 * time.Second

// leaseTTL is how long after the death of the process that measures another one takes over: well before the last reading
// is stale. A measurement may take longer; then a second process measures too, which does no harm.
const leaseTTL = 15 * time.Second

// All times of the table are the database's, because the clocks of the processes differ.
const limitProbes = db.Table("limit_probes")

const sqlSelectProbes = `SELECT name, CAST(extract(epoch FROM now() - measured_at) AS FLOAT8), readings FROM limit_probes`

var sqlStoreReadings = limitProbes.Insert(`(name, node, measured_at, readings) VALUES ($1, $2, now(), $3)
ON CONFLICT (name) DO UPDATE SET node = excluded.node, measured_at = excluded.measured_at, readings = excluded.readings`)

type probeRow struct {
	Name     string
	Age      float64 // seconds
	Readings []byte
}

func (r *probeRow) age() time.Duration { return time.Duration(r.Age * float64(time.Second)) }

// probe is a probe and this process's part in it.
type probe struct {
	Probe
	lease *lease.Lease
	next  time.Time // not measured by this process before
}

func (s *Shedder) newProbe(p Probe) *probe {
	if p.Every <= 0 {
		p.Every = 5 * time.Second
	}
	return &probe{Probe: p, lease: lease.New(lease.Config{DB: s.cfg.DB, Name: "probe." + p.Name, Node: s.cfg.Node, TTL: leaseTTL})}
}

// watchShared reads the stored measurements, and runs the probes whose lease this process holds.
func (s *Shedder) watchShared(ctx context.Context) {
	defer s.release(ctx)
	t := time.NewTicker(s.cfg.Every)
	defer t.Stop()
	for {
		s.refresh(ctx)
		s.evaluate(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// release lets others take over at once.
func (s *Shedder) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	for _, p := range s.probes {
		if err := p.lease.Release(ctx); err != nil {
			s.log.WarnContext(ctx, "lease of a measurement not released, it will expire", "probe", p.Name, "error", err)
		}
	}
}

// refresh loads the stored readings and runs the probes that are due. If the database does not answer, the readings become
// stale; writes then fail by themselves.
func (s *Shedder) refresh(ctx context.Context) {
	fresh := map[string]time.Duration{}
	rows, err := s.stored(ctx)
	s.recordProbe(ctx, probeShared, err)
	for _, row := range rows {
		fresh[row.Name] = row.age()
		var readings Readings
		if err := json.Unmarshal(row.Readings, &readings); err != nil {
			continue // written by a newer release
		}
		for name, value := range readings {
			s.set(name, value, time.Now().Add(-row.age()))
		}
	}
	for _, p := range s.probes {
		if err != nil || ctx.Err() != nil {
			return
		}
		if !s.needs(p) {
			continue // a process that needs the readings takes the lease
		}
		held, leaseErr := p.lease.Hold(ctx)
		// Another process may have measured just now, and have died.
		if age, known := fresh[p.Name]; (known && age < p.Every) || time.Now().Before(p.next) {
			continue
		}
		// The lease cannot be stored in a database that is full, which is what must be noticed.
		if held || leaseErr != nil {
			s.recordProbe(ctx, p.Name, errors.Join(leaseErr, s.measure(ctx, p)))
		}
	}
}

// needs reports whether one of the limits that the probe is for is set.
func (s *Shedder) needs(p *probe) bool {
	return len(p.Limits) == 0 || slices.ContainsFunc(p.Limits, func(name string) bool { return s.limit(name) > 0 })
}

func (s *Shedder) stored(ctx context.Context) ([]probeRow, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Every)
	defer cancel()
	return db.Collect(ctx, s.cfg.DB, "select limit probes", pgx.RowToStructByPos[probeRow], sqlSelectProbes)
}

// measure runs a probe and stores the result. This process uses the result even if it cannot be stored; others then have
// to measure for themselves.
func (s *Shedder) measure(ctx context.Context, p *probe) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	start := time.Now()
	readings, err := p.Measure(ctx)
	pause := p.Every
	defer func() { p.next = time.Now().Add(pause) }()
	if err != nil {
		return fmt.Errorf("measure %s: %w", p.Name, err)
	}
	pause = max(pause, 20*time.Since(start))
	for name, value := range readings {
		s.set(name, value, time.Now())
	}
	raw, err := json.Marshal(readings)
	if err != nil {
		return fmt.Errorf("write readings of %s: %w", p.Name, err)
	}
	if err := s.store(ctx, p.Name, raw); err != nil {
		return errors.Join(err, p.lease.Release(ctx))
	}
	return nil
}

func (s *Shedder) store(ctx context.Context, probe string, readings []byte) error {
	err := s.cfg.DB.RunTx(ctx, "shed.probe", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlStoreReadings, probe, s.cfg.Node, readings)
		return nil
	}, db.ReadCommitted(), db.Repeatable(), db.AsyncCommit()) // after a crash of the database, the next measurement replaces it
	if err != nil {
		return fmt.Errorf("store measurements of limits: %w", err)
	}
	return nil
}

// recordProbe counts a failed probe, and logs the first failure in a row.
func (s *Shedder) recordProbe(ctx context.Context, probe string, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	was := s.failing[probe]
	s.failing[probe] = err != nil
	s.mu.Unlock()
	if err == nil {
		return
	}
	probeFailures.WithLabelValues(probe).Inc()
	if !was {
		s.log.WarnContext(ctx, "limit not measured; it rejects nothing until it is", "probe", probe, "error", err)
	}
}
