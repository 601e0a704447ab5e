// Package migrate brings the schema of a database to the state of a set of SQL files.
// Every statement is a step of its own that is committed by itself and can be repeated, as schema changes do not
// share transactions well on CockroachDB. Several processes may run it at once.
// What the files say belongs to schemas/sql.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// ErrChanged is wrapped by the error about a step that was applied and has another text now.
var ErrChanged = errors.New("an applied migration was changed")

const (
	sqlCreateSteps = `CREATE TABLE IF NOT EXISTS schema_steps (
		version TEXT NOT NULL, step INT4 NOT NULL, checksum TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL,
		CONSTRAINT schema_steps_pkey PRIMARY KEY (version, step))`
	sqlSelectSteps = `SELECT version, step, checksum FROM schema_steps ORDER BY version, step`
	sqlHaveSteps   = `SELECT count(*) FROM information_schema.tables WHERE table_name = 'schema_steps' AND table_schema = current_schema()`
	// Only the holder of the lock records: one that was paused for too long finds another epoch.
	sqlInsertStep = `INSERT INTO schema_steps (version, step, checksum, applied_at)
		SELECT $1::TEXT, $2::INT4, $3::TEXT, $4::TIMESTAMPTZ WHERE EXISTS (SELECT 1 FROM schema_lock WHERE id = 1 AND epoch = $5::BIGINT)
		ON CONFLICT (version, step) DO NOTHING`
)

// tries bounds how often one step is repeated after an error that passes.
const tries = 10

// Phase says which steps are meant. A release expands the schema before its binaries start, and contracts it when
// those of the release before are gone.
type Phase int

// The phases.
const (
	Expand   Phase = iota // all but the files named NNN_name.contract.sql: the binaries of the release before run on
	Contract              // all
)

// in keeps the steps of a phase.
func (p Phase) in(steps []Step) []Step {
	if p == Contract {
		return steps
	}
	return slices.DeleteFunc(steps, func(s Step) bool { return s.Contract })
}

// Up applies the steps of the phase that a database does not have yet and returns their number. Processes that run it at
// the same time wait for each other. When it fails or is killed in the middle, the next run goes on from there.
// An applied step with another text gives [ErrChanged]; steps that only a newer binary knows are left alone.
// The pool needs room for two connections.
func Up(ctx context.Context, pool *pgxpool.Pool, files fs.FS, dialect db.Dialect, phase Phase, log *slog.Logger) (applied int, err error) {
	return newRunner(pool, log).up(ctx, files, dialect, phase)
}

// Pending lists the steps of the phase that a database does not have yet, in their order. It changes nothing.
func Pending(ctx context.Context, pool *pgxpool.Pool, files fs.FS, dialect db.Dialect, phase Phase) ([]Step, error) {
	steps, err := Load(files, dialect)
	if err != nil {
		return nil, err
	}
	return pending(ctx, pool, phase.in(steps))
}

type runner struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	owner string
	ttl   time.Duration // how long the lock outlives its holder
}

func (r *runner) up(ctx context.Context, files fs.FS, dialect db.Dialect, phase Phase) (applied int, err error) {
	all, err := Load(files, dialect)
	if err != nil {
		return 0, err
	}
	steps := phase.in(all)
	if todo, err := pending(ctx, r.pool, steps); err != nil || len(todo) == 0 {
		return 0, err
	}
	if err := r.bootstrap(ctx); err != nil {
		return 0, err
	}
	lock, err := r.take(ctx)
	if err != nil {
		return 0, err
	}
	defer lock.release(ctx)
	// Whoever had the lock before has probably done it all.
	todo, err := pending(ctx, r.pool, steps)
	if err != nil || len(todo) == 0 {
		return 0, err
	}
	return r.apply(lock.ctx, todo, lock.epoch) //nolint:contextcheck // ends with the lock, too
}

// bootstrap makes the two tables of this package. Two processes that create one table at once may disturb each other.
func (r *runner) bootstrap(ctx context.Context) error {
	for _, stmt := range []string{sqlCreateSteps, sqlCreateLock, sqlInsertLock} {
		if err := repeat(ctx, func() error { return exec(ctx, r.pool, stmt) }); err != nil {
			return fmt.Errorf("prepare migrations: %w", err)
		}
	}
	return nil
}

func exec(ctx context.Context, q interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}, stmt string,
) error {
	_, err := q.Exec(ctx, stmt)
	return err
}

func (r *runner) apply(ctx context.Context, todo []Step, epoch int64) (applied int, err error) {
	conn, err := r.connection(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, step := range todo {
		began := time.Now()
		if err := repeat(ctx, func() error { return exec(ctx, conn, step.SQL) }); err != nil {
			return applied, fmt.Errorf("migration %s (%s): %w", step, head(step.SQL), errors.Join(err, context.Cause(ctx)))
		}
		if err := repeat(ctx, func() error { return r.record(ctx, step, epoch) }); err != nil {
			return applied, fmt.Errorf("record migration %s: %w", step, err)
		}
		applied++
		r.log.InfoContext(ctx, "migration step applied", "file", step.File, "step", step.Number, "duration", time.Since(began))
	}
	return applied, nil
}

func (r *runner) record(ctx context.Context, step Step, epoch int64) error {
	tag, err := r.pool.Exec(ctx, sqlInsertStep, step.Version, step.Number, step.Checksum, time.Now().UTC(), epoch)
	if err == nil && tag.RowsAffected() == 0 {
		return errLockLost
	}
	return err
}

// connection is one for the steps alone: building an index takes longer than statements may in the pool.
func (r *runner) connection(ctx context.Context) (*pgx.Conn, error) {
	pooled, err := r.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect for migrations: %w", err)
	}
	conn := pooled.Hijack()
	for _, setting := range []string{
		"SET statement_timeout = 0",
		// A change that waits for a lock makes everybody else wait behind it: give up soon and try again.
		"SET lock_timeout = '5s'",
	} {
		if _, err := conn.Exec(ctx, setting); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare connection for migrations: %w", err), conn.Close(ctx))
		}
	}
	if _, err := conn.Exec(ctx, sqlUnlockTables); err != nil && !unknownSetting(err) {
		return nil, errors.Join(fmt.Errorf("prepare connection for migrations: %w", err), conn.Close(ctx))
	}
	return conn, nil
}

// sqlUnlockTables is for CockroachDB from v25.3 on, which locks the schema of new tables: some of the later steps,
// and later migrations, could not change them.
const sqlUnlockTables = `SET create_table_with_schema_locked = off`

// unknownSetting reports whether the server has no such setting: PostgreSQL, and CockroachDB before v25.
func unknownSetting(err error) bool {
	pe := new(pgconn.PgError)
	return errors.As(err, &pe) && pe.Code == "42704"
}

// pending compares the steps with what is recorded.
func pending(ctx context.Context, pool *pgxpool.Pool, steps []Step) ([]Step, error) {
	recorded, err := readRecorded(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	var todo []Step
	for _, step := range steps {
		switch sum, ok := recorded[stepKey{step.Version, step.Number}]; {
		case !ok:
			todo = append(todo, step)
		case sum != step.Checksum:
			return nil, fmt.Errorf("%w: %s is not what was applied to this database (%s): restore its text and add a new migration for the change",
				ErrChanged, step, head(step.SQL))
		}
	}
	return todo, missing(steps, recorded)
}

// missing finds applied steps that a file has lost. Files that are not known at all belong to a newer binary.
func missing(steps []Step, recorded map[stepKey]string) error {
	last := map[string]Step{}
	for _, step := range steps {
		last[step.Version] = step
	}
	for key := range recorded {
		if step, known := last[key.version]; known && key.number > step.Number {
			return fmt.Errorf("%w: %s had a step %d and ends at step %d now: restore it and add a new migration for the change",
				ErrChanged, step.File, key.number, step.Number)
		}
	}
	return nil
}

type stepKey struct {
	version string
	number  int
}

func readRecorded(ctx context.Context, pool *pgxpool.Pool) (map[stepKey]string, error) {
	var tables int
	if err := pool.QueryRow(ctx, sqlHaveSteps).Scan(&tables); err != nil || tables == 0 {
		return nil, err
	}
	rows, err := pool.Query(ctx, sqlSelectSteps)
	if err != nil {
		return nil, err
	}
	recorded := map[stepKey]string{}
	var key stepKey
	var sum string
	_, err = pgx.ForEachRow(rows, []any{&key.version, &key.number, &sum}, func() error {
		recorded[key] = sum
		return nil
	})
	return recorded, err
}

// repeat calls f again after an error that passes: every step can be repeated.
func repeat(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if err == nil || try == tries || !passes(err) || !wait(ctx, time.Duration(try)*50*time.Millisecond) {
			return err
		}
	}
}

// passes reports whether an error comes from others who work at the same time.
func passes(err error) bool {
	pe := new(pgconn.PgError)
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Code {
	case "40001", "40P01", "55P03", "55006": // serialization, deadlock, lock timeout, object in use
		return true
	case "40003", "58C00", "XXA00": // CockroachDB: unknown result, range without quorum, schema change undone after its commit
		return true
	case "42P07", "42710", "XX000": // two processes create the same thing; "tuple concurrently updated"
		return true
	case "23505": // the same, seen in PostgreSQL's catalogue
		return pe.SchemaName == "pg_catalog"
	}
	return false
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
