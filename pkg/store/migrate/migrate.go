// Package migrate applies a set of SQL files to a database that is in use.
// Each statement is a separate, repeatable step with its own commit, because CockroachDB supports schema changes within
// transactions poorly. Several processes may migrate at once.
//
// Steps do not hold up writers: on PostgreSQL, indexes of tables with rows are built concurrently, an UPDATE that the comment
// "-- batches" stands before runs in batches of rows, and a step that needs a lock for itself gives up after [lockTimeout] and
// tries again. CockroachDB changes schemas online by itself. [Plan] says what each step does.
//
// The files themselves are in schemas/sql.
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

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// ErrChanged is wrapped by the error for a step whose text was changed after it was applied.
var ErrChanged = errors.New("an applied migration was changed")

// ErrBeforeRelease is returned for a database that was migrated before there was a release.
var ErrBeforeRelease = errors.New("this database is from before release 0.1.0, the first one, and cannot be upgraded: start with a new, empty database; " +
	"what tradegrid dev keeps is in its state folder, which can be deleted")

// ErrContracted is wrapped by the error for a database from which a later release has removed what this one needs.
var ErrContracted = errors.New("the schema was contracted for a later release")

const schemaSteps = db.Table("schema_steps")

const (
	sqlCreateSteps = `CREATE TABLE IF NOT EXISTS schema_steps (
		version TEXT NOT NULL, step INT4 NOT NULL, checksum TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL,
		CONSTRAINT schema_steps_pkey PRIMARY KEY (version, step))`
	sqlSelectSteps = `SELECT version, step, checksum FROM schema_steps ORDER BY version, step`
	sqlHaveSteps   = `SELECT count(*) FROM information_schema.tables WHERE table_name = 'schema_steps' AND table_schema = current_schema()`
)

// Only the holder of the lock records steps: the epoch has changed if it was paused for too long.
var sqlInsertStep = schemaSteps.Insert(`(version, step, checksum, applied_at)
		SELECT $1::TEXT, $2::INT4, $3::TEXT, $4::TIMESTAMPTZ WHERE EXISTS (SELECT 1 FROM schema_lock WHERE id = 1 AND epoch = $5::BIGINT)
		ON CONFLICT (version, step) DO NOTHING`).Reading(schemaLock)

// tries limits how often a step is tried after transient errors.
const tries = 10

// Phase selects steps. A release expands the schema before its binaries start, and contracts it when
// no binaries of the previous release are left.
type Phase int

// The phases.
const (
	// Expand is all but the files named NNN_name.contract.sql: binaries of the previous release keep working. On an empty database,
	// where none can run, it is all steps.
	Expand Phase = iota
	// Contract is all steps.
	Contract
)

// in returns the steps of the phase.
func (p Phase) in(steps []Step) []Step {
	if p == Contract {
		return steps
	}
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Contract })
}

// Up applies the pending steps of the phase and returns their number. Concurrent processes wait for each other. If it
// fails or is killed, the next run continues where it stopped. If the text of an applied step has changed, the error
// wraps [ErrChanged]; applied steps that only a newer binary knows are ignored, unless they contract the schema: then the
// error wraps [ErrContracted]. A database from before the first release is refused with [ErrBeforeRelease].
// The pool must allow at least two connections.
func Up(ctx context.Context, pool *pgxpool.Pool, files fs.FS, dialect db.Dialect, phase Phase, log *slog.Logger) (applied int, err error) {
	return newRunner(pool, log).up(ctx, files, dialect, phase)
}

// Pending lists the pending steps of the phase in order. It changes nothing.
func Pending(ctx context.Context, pool *pgxpool.Pool, files fs.FS, dialect db.Dialect, phase Phase) ([]Step, error) {
	steps, err := Load(files, dialect)
	if err != nil {
		return nil, err
	}
	return pending(ctx, pool, steps, phase)
}

// Usable returns an error that wraps [ErrContracted] if a later release has removed from the database what this one needs, and
// [ErrBeforeRelease] if no release can use it.
func Usable(ctx context.Context, pool *pgxpool.Pool, files fs.FS, dialect db.Dialect) error {
	_, err := Pending(ctx, pool, files, dialect, Expand)
	if errors.Is(err, ErrContracted) || errors.Is(err, ErrBeforeRelease) {
		return err
	}
	return nil // whatever else is wrong, the readiness of the process says so until it is mended
}

// Contracts lists the versions of the contract migrations, which binaries of this release can live with.
func Contracts(files fs.FS, dialect db.Dialect) ([]string, error) {
	steps, err := Load(files, dialect)
	if err != nil {
		return nil, err
	}
	return ContractsOf(steps), nil
}

// ContractsOf lists the versions of the contract migrations among the steps.
func ContractsOf(steps []Step) []string {
	versions := []string{}
	for _, s := range steps {
		if s.Contract {
			versions = append(versions, s.Version)
		}
	}
	return slices.Compact(versions)
}

type runner struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	owner string
	ttl   time.Duration // how long the lock lasts after its holder has died
}

func (r *runner) up(ctx context.Context, files fs.FS, dialect db.Dialect, phase Phase) (applied int, err error) {
	all, err := Load(files, dialect)
	if err != nil {
		return 0, err
	}
	if todo, err := pending(ctx, r.pool, all, phase); err != nil || len(todo) == 0 {
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
	// The previous holder of the lock may have applied all steps.
	todo, err := pending(ctx, r.pool, all, phase)
	if err != nil || len(todo) == 0 {
		return 0, err
	}
	return r.apply(lock.ctx, dialect, todo, lock.epoch) //nolint:contextcheck // ends with the lock, too
}

// bootstrap creates the tables of this package. It retries, because concurrent creation of a table may fail.
func (r *runner) bootstrap(ctx context.Context) error {
	for _, stmt := range []string{sqlCreateSteps, sqlCreateProgress, sqlCreateLock, sqlInsertLock.SQL()} {
		if err := r.retry(ctx, func() error { return exec(ctx, r.pool, stmt) }); err != nil {
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

func (r *runner) apply(ctx context.Context, dialect db.Dialect, todo []Step, epoch int64) (applied int, err error) {
	conn, err := r.connection(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, step := range todo {
		began := time.Now()
		if err := r.execute(ctx, conn, dialect, step, epoch); err != nil {
			return applied, fmt.Errorf("migration %s (%s): %w", step, head(step.SQL), errors.Join(err, context.Cause(ctx)))
		}
		if err := r.retry(ctx, func() error { return r.record(ctx, step, epoch) }); err != nil {
			return applied, fmt.Errorf("record migration %s: %w", step, err)
		}
		applied++
		r.log.InfoContext(ctx, "migration step applied", "file", step.File, "step", step.Number, "duration", time.Since(began))
	}
	return applied, nil
}

// execute runs a step in the way that holds up writers least.
func (r *runner) execute(ctx context.Context, conn *pgx.Conn, dialect db.Dialect, step Step, epoch int64) error {
	if step.Batches {
		return r.backfill(ctx, conn, step, epoch)
	}
	if ix, ok := parseIndex(step.SQL); ok && dialect == db.PostgreSQL {
		return r.createIndex(ctx, conn, ix)
	}
	return r.retry(ctx, func() error { return exec(ctx, conn, step.SQL) })
}

func (r *runner) record(ctx context.Context, step Step, epoch int64) error {
	tag, err := r.pool.Exec(ctx, sqlInsertStep.SQL(), step.Version, step.Number, step.Checksum, time.Now().UTC(), epoch)
	if err == nil && tag.RowsAffected() == 0 {
		return errLockLost
	}
	return err
}

// connection opens a connection for the steps, because building an index takes longer than the pool's statement timeout.
func (r *runner) connection(ctx context.Context) (*pgx.Conn, error) {
	pooled, err := r.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect for migrations: %w", err)
	}
	conn := pooled.Hijack()
	for _, setting := range []string{
		"SET statement_timeout = 0", setLockTimeout(lockTimeout), sqlUnlockTables, sqlNoticeDeadClient,
	} {
		if _, err := conn.Exec(ctx, setting); err != nil && !unknownSetting(err) {
			return nil, errors.Join(fmt.Errorf("prepare connection for migrations: %w", err), conn.Close(ctx))
		}
	}
	return conn, nil
}

const (
	// sqlUnlockTables is for CockroachDB v25.3 and later, which locks the schema of new tables by default, so that later
	// steps and migrations could not change them.
	sqlUnlockTables = `SET create_table_with_schema_locked = off`
	// sqlNoticeDeadClient ends the building of an index whose process was killed; CockroachDB does not have it.
	sqlNoticeDeadClient = `SET client_connection_check_interval = '5s'`
)

func setLockTimeout(d time.Duration) string {
	return fmt.Sprintf("SET lock_timeout = '%dms'", d.Milliseconds())
}

// unknownSetting reports whether the server does not have the setting, like PostgreSQL and CockroachDB before v25.
func unknownSetting(err error) bool {
	pe := new(pgconn.PgError)
	return errors.As(err, &pe) && pe.Code == "42704"
}

// pending returns the steps of the phase that are not recorded as applied.
func pending(ctx context.Context, pool *pgxpool.Pool, all []Step, phase Phase) ([]Step, error) {
	recorded, err := readRecorded(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	if _, old := recorded[stepBeforeRelease]; old {
		return nil, ErrBeforeRelease
	}
	if err := contracted(all, recorded); err != nil {
		return nil, err
	}
	if len(recorded) == 0 {
		phase = Contract // no binaries of an earlier release can run on an empty database
	}
	steps := phase.in(all)
	var todo []Step
	for _, step := range steps {
		switch sum, ok := recorded[stepKey{step.Version, step.Number}]; {
		case !ok:
			todo = append(todo, step)
		case sum != step.Checksum:
			return nil, fmt.Errorf("%w: %s differs from what was applied to this database (%s): restore its text and add a new migration for the change",
				ErrChanged, step, head(step.SQL))
		}
	}
	return todo, missing(steps, recorded)
}

// contracted returns an error if a step that this release does not know has removed something.
func contracted(all []Step, recorded map[stepKey]string) error {
	known := map[string]bool{}
	for _, step := range all {
		known[step.Version] = true
	}
	for key := range recorded {
		if isContract(key.version) && !known[key.version] {
			return fmt.Errorf("%w: migration %s has removed what this release may need; run that release or a later one, or restore a backup from before",
				ErrContracted, key.version)
		}
	}
	return nil
}

// missing returns an error if an applied step is missing from its file. Unknown files belong to a newer binary.
func missing(steps []Step, recorded map[stepKey]string) error {
	last := map[string]Step{}
	for _, step := range steps {
		last[step.Version] = step
	}
	for key := range recorded {
		if step, known := last[key.version]; known && key.number > step.Number {
			return fmt.Errorf("%w: %s had a step %d and now ends at step %d: restore it and add a new migration for the change",
				ErrChanged, step.File, key.number, step.Number)
		}
	}
	return nil
}

type stepKey struct {
	version string
	number  int
}

// stepBeforeRelease made the table of companies before release 0.1.0. No migration has its number since.
var stepBeforeRelease = stepKey{"010", 1}

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

// retry calls f until it succeeds or fails with a permanent error. Every step can be repeated. A lock that others hold is
// waited for as long as [lockPatience], with pauses in which they work on.
func (r *runner) retry(ctx context.Context, f func() error) error {
	began := time.Now()
	for try := 1; ; {
		err := f()
		pause := time.Duration(try) * 50 * time.Millisecond
		switch {
		case err == nil:
			return nil
		case lockHeld(err) && time.Since(began) < lockPatience:
			r.log.WarnContext(ctx, "a migration step waits for a lock", "oldest_transaction", r.oldestTransaction(ctx))
			pause = time.Second
		case !transient(err) || try == tries:
			return err
		default:
			try++
		}
		if !wait(ctx, pause) {
			return err
		}
	}
}

// transient reports whether an error is caused by concurrent transactions or schema changes.
func transient(err error) bool {
	pe := new(pgconn.PgError)
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Code {
	case "40001", "40P01", codeLockTimeout, "55006": // serialization, deadlock, lock timeout, object in use
		return true
	case "40003", "58C00", "XXA00": // CockroachDB: unknown result, range without quorum, schema change undone after its commit
		return true
	case "42P07", "42710", "XX000": // two processes create the same thing; "tuple concurrently updated"
		return true
	case "23505": // the same, as a conflict in PostgreSQL's catalog
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
