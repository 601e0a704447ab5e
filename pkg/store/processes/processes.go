// Package processes announces running processes in the database, so that operators see which releases run, and so that the
// schema is not contracted under a process that still needs what would be removed.
package processes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Lifetime is how long a process that was killed is taken for running.
const Lifetime = time.Minute

const (
	announceEvery   = 15 * time.Second
	announceTimeout = 2 * time.Second // a process that ends waits no longer
)

const processes = db.Table("processes")

const (
	sqlSelect = `SELECT node, role, release, contracts, started_at, expires_at - $1::BIGINT * INTERVAL '1 millisecond' FROM processes
WHERE expires_at > now() ORDER BY role, node, id`
	// Processes that could not announce themselves are known only by the leases that they hold.
	sqlSelectUnannounced = `SELECT u.node, u.role FROM (
  SELECT split_part(r.owner, '/', 1) AS node, 'relay' AS role FROM unnest($1::TEXT[]) AS r(owner)
  UNION SELECT split_part(l.owner, '/', 1), 'owner of ' || l.name FROM job_leases AS l WHERE l.expires_at > now()) AS u
WHERE NOT EXISTS (SELECT 1 FROM processes AS p WHERE p.node = u.node AND p.expires_at > now()) ORDER BY u.role, u.node`
)

// Only the clock of the database decides which announcements hold.
var (
	sqlUpsert = processes.Insert(`(id, node, role, release, contracts, started_at, expires_at, settings)
VALUES ($1, $2, $3, $4, $5, $6, now() + $7::BIGINT * INTERVAL '1 millisecond', $8)
ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`)
	sqlDelete = processes.Delete(`WHERE id = $1`)
)

// CleanupJob deletes the announcements of processes that were killed.
var CleanupJob = cleanup.Job{Delete: processes.Delete(`WHERE id IN (SELECT id FROM processes WHERE expires_at < $1 LIMIT 1000)`)}

// Process is a running process.
type Process struct {
	Node      string        `json:"node"` // host and process number
	Role      string        `json:"role"`
	Release   string        `json:"release"`  // empty if it is not announced
	Contracts []string      `json:"-"`        // versions of the contract migrations that the release knows
	Settings  []string      `json:"-" db:"-"` // that all processes which have them must have the same of, as name=value
	StartedAt jsontype.Time `json:"startedAt"`
	SeenAt    jsontype.Time `json:"seenAt"`
}

// Announce announces the process, does its work, and takes the announcement back when the work has ended. Whoever looks sees no
// lease of a process that is not announced, and none that still works without being announced.
func (p Process) Announce(ctx context.Context, d *db.DB, log *slog.Logger, work func(context.Context) error) error {
	a := &announcement{Process: p, id: uuid.New(), db: d, log: log}
	a.StartedAt = jsontype.Time(time.Now().UTC().Truncate(time.Microsecond))
	untraced := telemetry.Untraced(ctx)
	a.announce(untraced)
	renewals, stop := context.WithCancel(untraced)
	var wg sync.WaitGroup
	wg.Go(func() { a.renew(renewals) })
	err := work(ctx)
	stop()
	wg.Wait()
	a.withdraw(untraced)
	return err
}

// announcement is a row of table processes.
type announcement struct {
	Process

	id  uuid.UUID
	db  *db.DB
	log *slog.Logger
}

// announce writes the row. A process works without it, too: a table that is locked does not keep it from starting.
func (a *announcement) announce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, announceTimeout)
	defer cancel()
	_, err := a.db.Write(ctx, sqlUpsert, a.id, a.Node, a.Role, a.Release, a.Contracts, time.Time(a.StartedAt), Lifetime.Milliseconds(), a.Settings)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) && !db.IsUndefinedTable(err) { // before `tradegrid migrate` there is none
		a.log.WarnContext(ctx, "process not announced in the database", "error", err)
	}
}

func (a *announcement) renew(ctx context.Context) {
	t := time.NewTicker(announceEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			a.announce(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (a *announcement) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTimeout)
	defer cancel()
	if _, err := a.db.Write(ctx, sqlDelete, a.id); err != nil && !db.IsUndefinedTable(err) {
		a.log.WarnContext(ctx, "announcement of the process not removed, it will expire", "error", err)
	}
}

// List returns the processes that run, by role and node.
func List(ctx context.Context, q db.Querier) ([]Process, error) {
	return db.Collect(ctx, q, "read running processes", pgx.RowToStructByPos[Process], sqlSelect, Lifetime.Milliseconds())
}

// unannounced returns the owners of leases that are not announced.
func unannounced(ctx context.Context, q db.Querier, relays []string) (all []Process, err error) {
	rows, err := q.Query(ctx, sqlSelectUnannounced, relays)
	if err != nil {
		return nil, fmt.Errorf("read owners of leases: %w", err)
	}
	var p Process
	if _, err = pgx.ForEachRow(rows, []any{&p.Node, &p.Role}, func() error { all = append(all, p); return nil }); err != nil {
		return nil, fmt.Errorf("read owners of leases: %w", err)
	}
	return all, nil
}

// Earlier returns the running processes whose release does not know all of the contract migrations, because it is an earlier
// one. A process that could not announce itself shows by the leases that it holds; relays are the owners of those on buckets.
func Earlier(ctx context.Context, q db.Querier, contracts, relays []string) (old []Process, err error) {
	announced, err := List(ctx, q)
	if err == nil {
		old, err = unannounced(ctx, q, relays)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range announced {
		if slices.ContainsFunc(contracts, func(c string) bool { return !slices.Contains(p.Contracts, c) }) {
			old = append(old, p)
		}
	}
	return old, nil
}
