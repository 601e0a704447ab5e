package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// lockTimeout is how long a step waits for a lock for itself. Other statements queue behind it meanwhile, so it is also what
	// a request waits longer at most.
	lockTimeout = 500 * time.Millisecond
	// lockPatience is for how long a step tries to get its lock, for example while a dump reads the table.
	lockPatience = 30 * time.Minute

	codeLockTimeout = "55P03"
)

// index is what CREATE INDEX says.
type index struct {
	unique, name, table, rest string
}

var createIndex = regexp.MustCompile(`(?i)^CREATE (UNIQUE )?INDEX IF NOT EXISTS (\w+) ON (\w+) (.*)$`)

func parseIndex(sql string) (index, bool) {
	m := createIndex.FindStringSubmatch(sql)
	if m == nil {
		return index{}, false
	}
	return index{unique: m[1], name: m[2], table: m[3], rest: m[4]}, true
}

// sql returns the statement that builds the index, with the word CONCURRENTLY or without.
func (ix index) sql(concurrently string) string {
	return fmt.Sprintf("CREATE %sINDEX %sIF NOT EXISTS %s ON %s %s", ix.unique, concurrently, ix.name, ix.table, ix.rest)
}

const (
	sqlIndexValid = `SELECT i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE c.relname = $1 AND c.relnamespace = current_schema()::regnamespace`
	sqlIndexBuilding = `SELECT EXISTS (SELECT 1 FROM pg_stat_progress_create_index AS p JOIN pg_class AS c ON c.oid = p.index_relid
WHERE c.relname = $1 AND c.relnamespace = current_schema()::regnamespace AND p.pid <> pg_backend_pid())`
	sqlOldestTransaction = `SELECT format('%s of %s, state %s, for %s', pid, COALESCE(NULLIF(application_name, ''), usename), state, date_trunc('second', now() - xact_start))
FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid()
ORDER BY xact_start LIMIT 1`
)

// createIndex builds an index on PostgreSQL. A table with rows can be written meanwhile, which takes longer than without
// writers; an empty one is done at once.
func (r *runner) createIndex(ctx context.Context, conn *pgx.Conn, ix index) error {
	return r.retry(ctx, func() error {
		if err := r.dropUnfinished(ctx, conn, ix); err != nil {
			return err
		}
		var rows bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+ix.table+")").Scan(&rows); err != nil {
			return err
		}
		if !rows {
			return exec(ctx, conn, ix.sql(""))
		}
		return r.concurrently(ctx, conn, ix.sql("CONCURRENTLY "), ix)
	})
}

// concurrently runs a statement that waits for all transactions that have begun before, and blocks no writers while it does.
func (r *runner) concurrently(ctx context.Context, conn *pgx.Conn, stmt string, ix index) error {
	if err := exec(ctx, conn, setLockTimeout(0)); err != nil {
		return err
	}
	err := exec(ctx, conn, stmt)
	if errors.As(err, new(*pgconn.PgError)) { // the connection is whole, so what was begun can go: an invalid unique index refuses writes
		err = errors.Join(err, r.dropUnfinished(ctx, conn, ix))
	}
	if conn.IsClosed() {
		return err
	}
	return errors.Join(err, exec(ctx, conn, setLockTimeout(lockTimeout)))
}

// dropUnfinished removes what an interrupted build has left: an index that every write maintains and no query uses, and that
// IF NOT EXISTS takes for the real one.
func (r *runner) dropUnfinished(ctx context.Context, conn *pgx.Conn, ix index) error {
	for said := false; ; said = true {
		var valid, building bool
		switch err := conn.QueryRow(ctx, sqlIndexValid, ix.name).Scan(&valid); {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return fmt.Errorf("look for an unfinished index: %w", err)
		case valid:
			return nil
		}
		if err := conn.QueryRow(ctx, sqlIndexBuilding, ix.name).Scan(&building); err != nil {
			return fmt.Errorf("look for a process that builds the index: %w", err)
		}
		if !building {
			r.log.WarnContext(ctx, "an interrupted build has left an invalid index, which is dropped", "index", ix.name)
			return exec(ctx, conn, "DROP INDEX CONCURRENTLY IF EXISTS "+ix.name)
		}
		if !said {
			r.log.InfoContext(ctx, "waiting for the end of an index build that a stopped process has begun", "index", ix.name)
		}
		if !wait(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// lockHeld reports whether a statement gave up waiting for a lock.
func lockHeld(err error) bool {
	pe := new(pgconn.PgError)
	return errors.As(err, &pe) && pe.Code == codeLockTimeout
}

// oldestTransaction describes the transaction that most likely holds what a step waits for.
func (r *runner) oldestTransaction(ctx context.Context) (says string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := r.pool.QueryRow(ctx, sqlOldestTransaction).Scan(&says); err != nil {
		return "unknown"
	}
	return says
}
