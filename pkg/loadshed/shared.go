package shed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// Probe measures what all processes share. One process at a time runs it.
type Probe struct {
	Name    string
	Every   time.Duration // default 5 s; a probe that takes long runs seldom, at a twentieth of the time
	Measure func(ctx context.Context) (Readings, error)
}

// Readings are values by the name of their limit: rows, seconds, shares or bytes.
type Readings map[string]float64

// probeTimeout bounds one measurement.
const probeTimeout = 20 * time.Second

// Time is the database's, because the clocks of the nodes differ.
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

// watchShared reads what others measured, and measures what nobody does.
func (g *Guard) watchShared(ctx context.Context) {
	t := time.NewTicker(g.cfg.Every)
	defer t.Stop()
	for {
		g.look(ctx)
		g.judge(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// look takes the stored readings over and runs the probes that are due. Where the database does not answer,
// the readings grow old, and what the database cannot store it refuses by itself.
func (g *Guard) look(ctx context.Context) {
	due := map[string]bool{}
	for _, p := range g.cfg.Probes {
		due[p.Name] = true
	}
	rows, err := g.stored(ctx)
	g.failed(ctx, probeShared, err)
	for _, row := range rows {
		due[row.Name] = due[row.Name] && row.Free
		var readings Readings
		if err := json.Unmarshal(row.Readings, &readings); err != nil {
			continue // written by a release that knows more
		}
		for name, value := range readings {
			g.set(name, value, time.Now().Add(-time.Duration(row.Age*float64(time.Second))))
		}
	}
	for _, p := range g.cfg.Probes {
		if err == nil && due[p.Name] && ctx.Err() == nil {
			g.failed(ctx, p.Name, g.measure(ctx, p))
		}
	}
}

func (g *Guard) stored(ctx context.Context) ([]probeRow, error) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Every)
	defer cancel()
	rows, err := g.cfg.DB.Query(ctx, sqlSelectProbes)
	if err != nil {
		return nil, fmt.Errorf("select limit probes: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[probeRow])
}

// measure runs a probe if no other process does. A database that cannot store the right to measure, or the result,
// is no reason not to measure: it may be full.
func (g *Guard) measure(ctx context.Context, p Probe) error {
	if p.Every <= 0 {
		p.Every = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	mine, leaseErr := g.exec(ctx, sqlLeaseProbe, p.Name, g.cfg.Node, probeTimeout.Seconds())
	if leaseErr == nil && mine == 0 {
		return nil
	}
	start := time.Now()
	readings, err := p.Measure(ctx)
	if err != nil {
		_, delayErr := g.exec(ctx, sqlDelayProbe, p.Name, g.cfg.Node, p.Every.Seconds())
		return errors.Join(leaseErr, fmt.Errorf("measure %s: %w", p.Name, err), delayErr)
	}
	for name, value := range readings {
		g.set(name, value, time.Now())
	}
	raw, err := json.Marshal(readings)
	if err != nil {
		return fmt.Errorf("write readings of %s: %w", p.Name, err)
	}
	_, err = g.exec(ctx, sqlStoreReadings, p.Name, g.cfg.Node, raw, max(p.Every, 20*time.Since(start)).Seconds())
	return errors.Join(leaseErr, err)
}

func (g *Guard) exec(ctx context.Context, sql string, args ...any) (rows int64, err error) {
	err = g.cfg.DB.RunTx(ctx, "shed.probe", func(ctx context.Context, tx *db.Tx) error {
		tag, err := tx.Exec(ctx, sql, args...)
		rows = tag.RowsAffected()
		return err
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return 0, fmt.Errorf("store what limits measure: %w", err)
	}
	return rows, nil
}

// failed counts a failure, and logs it when it is new.
func (g *Guard) failed(ctx context.Context, probe string, err error) {
	if ctx.Err() != nil {
		return
	}
	g.mu.Lock()
	was := g.failing[probe]
	g.failing[probe] = err != nil
	g.mu.Unlock()
	if err == nil {
		return
	}
	probeFailures.WithLabelValues(probe).Inc()
	if !was {
		g.log.WarnContext(ctx, "limit not measured; it refuses nothing until it is", "probe", probe, "error", err)
	}
}
