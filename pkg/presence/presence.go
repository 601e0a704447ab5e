// Package presence announces running processes in the database, so that operators see which releases run, and so that the
// schema is not contracted under a process that still needs what would be removed.
package presence

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/telemetry"
)

// Lifetime is how long a process that was killed is taken for running.
const Lifetime = time.Minute

const announceEvery = 15 * time.Second

const processes = db.Table("processes")

const (
	sqlSelect = `SELECT node, role, release, contracts, started_at, expires_at - $1::BIGINT * INTERVAL '1 millisecond' FROM processes
WHERE expires_at > now() ORDER BY role, node, id`
	// Releases that do not announce themselves are known only by the leases that they hold.
	sqlSelectUnannounced = `SELECT u.node, u.role FROM (
  SELECT split_part(m.node, '/', 1) AS node, 'relay' AS role FROM relay_members AS m WHERE m.expires_at > now()
  UNION SELECT split_part(l.owner, '/', 1), 'owner of ' || l.name FROM job_leases AS l WHERE l.expires_at > now()) AS u
WHERE NOT EXISTS (SELECT 1 FROM processes AS p WHERE p.node = u.node AND p.expires_at > now()) ORDER BY u.role, u.node`
)

// Only the clock of the database decides which announcements hold.
var (
	sqlUpsert = processes.Insert(`(id, node, role, release, contracts, started_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, now() + $7::BIGINT * INTERVAL '1 millisecond')
ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`)
	sqlDelete = processes.Delete(`WHERE id = $1`)
)

// CleanupJob deletes the announcements of processes that were killed.
var CleanupJob = cleanup.Job{Delete: processes.Delete(`WHERE id IN (SELECT id FROM processes WHERE expires_at < $1 LIMIT 1000)`)}

// Process is a running process.
type Process struct {
	Node      string        `json:"node"` // host and process number
	Role      string        `json:"role"`
	Release   string        `json:"release"` // empty if the release does not announce itself
	Contracts []string      `json:"-"`       // versions of the contract migrations that the release knows
	StartedAt jsontype.Time `json:"startedAt"`
	SeenAt    jsontype.Time `json:"seenAt"`
}

// Announce announces the process until ctx is done, and then takes that back.
func (p Process) Announce(ctx context.Context, d *db.DB, log *slog.Logger) error {
	ctx = telemetry.Untraced(ctx)
	id, started := uuid.New(), time.Now().UTC().Truncate(time.Microsecond)
	t := time.NewTicker(announceEvery)
	defer t.Stop()
	for {
		_, err := d.Write(ctx, sqlUpsert, id, p.Node, p.Role, p.Release, p.Contracts, started, Lifetime.Milliseconds())
		if err != nil && ctx.Err() == nil && !db.IsUndefinedTable(err) { // the schema of an earlier release has no such table
			log.WarnContext(ctx, "process not announced in the database", "error", err)
		}
		select {
		case <-t.C:
			continue
		case <-ctx.Done():
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if _, err := d.Write(last, sqlDelete, id); err != nil && !db.IsUndefinedTable(err) {
			log.WarnContext(last, "announcement of the process not removed, it will expire", "error", err)
		}
		return nil
	}
}

// List returns the processes that run, by role and node.
func List(ctx context.Context, q db.Querier) ([]Process, error) {
	rows, err := q.Query(ctx, sqlSelect, Lifetime.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("read running processes: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Process])
	if err != nil {
		return nil, fmt.Errorf("read running processes: %w", err)
	}
	return all, nil
}

// unannounced returns the owners of leases that do not announce themselves.
func unannounced(ctx context.Context, q db.Querier) (all []Process, err error) {
	rows, err := q.Query(ctx, sqlSelectUnannounced)
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
// one. A release that does not announce itself shows only by the leases of its relays, dispatchers and one of its API nodes.
func Earlier(ctx context.Context, q db.Querier, contracts []string) (old []Process, err error) {
	announced, err := List(ctx, q)
	if err == nil {
		old, err = unannounced(ctx, q)
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
