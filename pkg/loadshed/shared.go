package loadshed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// Probe measures a shared store. One process at a time runs it.
type Probe struct {
	Name    string
	Every   time.Duration // default 5 s; a slow probe runs less often, for at most a twentieth of the time
	Measure func(ctx context.Context) (Readings, error)
}

// Readings are measured values by name of their limit: rows, seconds, shares or bytes.
type Readings map[string]float64

// probeTimeout bounds one measurement.
const probeTimeout = 20 * time.Second

// All times are the database's, because the clocks of the processes differ.
const (
	sqlSelectProbes = `SELECT name, lease_until < now(), CAST(extract(epoch FROM now() - measured_at) AS FLOAT8), readings FROM limit_probes`

	sqlLeaseProbe = `INSERT INTO limit_probes (name, node, lease_until, measured_at, readings)
VALUES ($1, $2, now() + CAST($3 AS FLOAT8) * INTERVAL '1 second', TIMESTAMPTZ '2000-01-01 00:00:00Z', '{}')
ON CONFLICT (name) DO UPDATE SET node = excluded.node, lease_until = excluded.lease_until
WHERE limit_probes.lease_until < now()`

	sqlDelayProbe = `UPDATE limit_probes SET lease_until = now() + CAST($3 AS FLOAT8) * INTERVAL '1 second' WHERE name = $1 AND node = $2`

	sqlStoreReadings = `UPDATE limit_probes SET measured_at = now(), readings = $3, lease_until = now() + CAST($4 AS FLOAT8) * INTERVAL '1 second'
WHERE name = $1 AND node = $2`
)

type probeRow struct {
	Name     string
	Free     bool
	Age      float64 // seconds
	Readings []byte
}

// watchShared reads the stored measurements, and runs the probes that are due.
func (s *Shedder) watchShared(ctx context.Context) {
	t := time.NewTicker(s.cfg.Every)
	defer t.Stop()
	for {
		s.look(ctx)
		s.evaluate(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// look loads the stored readings and runs the probes that are due. If the database does not answer, the readings become
// stale; writes then fail by themselves.
func (s *Shedder) look(ctx context.Context) {
	due := map[string]bool{}
	for _, p := range s.cfg.Probes {
		due[p.Name] = true
	}
	rows, err := s.stored(ctx)
	s.failed(ctx, probeShared, err)
	for _, row := range rows {
		due[row.Name] = due[row.Name] && row.Free
		var readings Readings
		if err := json.Unmarshal(row.Readings, &readings); err != nil {
			continue // written by a newer release
		}
		for name, value := range readings {
			s.set(name, value, time.Now().Add(-time.Duration(row.Age*float64(time.Second))))
		}
	}
	for _, p := range s.cfg.Probes {
		if err == nil && due[p.Name] && ctx.Err() == nil {
			s.failed(ctx, p.Name, s.measure(ctx, p))
		}
	}
}

func (s *Shedder) stored(ctx context.Context) ([]probeRow, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Every)
	defer cancel()
	rows, err := s.cfg.DB.Query(ctx, sqlSelectProbes)
	if err != nil {
		return nil, fmt.Errorf("select limit probes: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[probeRow])
}

// measure runs a probe unless another process has leased it. It also measures if the lease or the result cannot be
// stored, because the database may be full.
func (s *Shedder) measure(ctx context.Context, p Probe) error {
	if p.Every <= 0 {
		p.Every = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	mine, leaseErr := s.exec(ctx, sqlLeaseProbe, p.Name, s.cfg.Node, probeTimeout.Seconds())
	if leaseErr == nil && mine == 0 {
		return nil
	}
	start := time.Now()
	readings, err := p.Measure(ctx)
	if err != nil {
		_, delayErr := s.exec(ctx, sqlDelayProbe, p.Name, s.cfg.Node, p.Every.Seconds())
		return errors.Join(leaseErr, fmt.Errorf("measure %s: %w", p.Name, err), delayErr)
	}
	for name, value := range readings {
		s.set(name, value, time.Now())
	}
	raw, err := json.Marshal(readings)
	if err != nil {
		return fmt.Errorf("write readings of %s: %w", p.Name, err)
	}
	_, err = s.exec(ctx, sqlStoreReadings, p.Name, s.cfg.Node, raw, max(p.Every, 20*time.Since(start)).Seconds())
	return errors.Join(leaseErr, err)
}

func (s *Shedder) exec(ctx context.Context, sql string, args ...any) (rows int64, err error) {
	err = s.cfg.DB.RunTx(ctx, "shed.probe", func(ctx context.Context, tx *db.Tx) error {
		tag, err := tx.Exec(ctx, sql, args...)
		rows = tag.RowsAffected()
		return err
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return 0, fmt.Errorf("store measurements of limits: %w", err)
	}
	return rows, nil
}

// failed counts a failed probe, and logs the first failure in a row.
func (s *Shedder) failed(ctx context.Context, probe string, err error) {
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
