package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/cockroachdb/cockroach-go/v2/crdb"
	crdbpgx "github.com/cockroachdb/cockroach-go/v2/crdb/crdbpgxv5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

const (
	maxTries    = 12
	backoffBase = 2 * time.Millisecond
	backoffCap  = 250 * time.Millisecond

	backoffCapLocked = 8 * time.Millisecond // about the duration of a competing transaction
)

// CommitCheck reports whether a transaction whose COMMIT got no response was committed,
// by looking for something that only this transaction can have written.
type CommitCheck func(ctx context.Context, q Querier) (bool, error)

type txOptions struct {
	iso         pgx.TxIsoLevel // "" = SERIALIZABLE, which [Tx.Lock] may lower
	check       CommitCheck
	repeatable  bool
	async       bool
	alone       bool          // it does not share its transaction; see [DB.share]
	lockTimeout time.Duration // 0 = the limit of the pool
}

// txRun is the state that all tries of one transaction share.
type txRun struct {
	name     string
	clock    func() time.Time
	now      time.Time // see [Tx.Now]; zero = nothing asked for it yet
	locks    *keyedMutex
	unlock   func()   // releases the key of [Tx.LockInProcess]; nil = none is held
	mayLower bool     // [Tx.Lock] may lower the isolation
	ends     []func() // see [Tx.OnEnd]
	signals  []int32  // see [Tx.Signal]

	ids    []uuid.UUID // see [Tx.NewID]
	marker uuid.UUID   // of the row that proves the commit if nothing else does
	check  CommitCheck // of the last try; nil = it may run again in any case
	proof  uuid.UUID   // of the row that check looks for; zero if an option says what proves the commit

	complete bool // the function of the last try has returned its result
	doubt    bool // the outcome of a try was unknown

	changed map[changedTable]struct{}
	traced  bool // see [TableAccessOf]
}

// Option changes how a transaction runs.
type Option func(*txOptions)

// ReadCommitted lowers the isolation level, for work that is correct without a common snapshot.
func ReadCommitted() Option { return func(o *txOptions) { o.iso = pgx.ReadCommitted } }

// WithCommitCheck sets how to find out whether a COMMIT without a response took effect.
// Without it, and without [Tx.ProvedBy], the transaction inserts a marker row.
func WithCommitCheck(f CommitCheck) Option { return func(o *txOptions) { o.check = f } }

// Repeatable marks an idempotent transaction, which may run again after it was committed and so needs no commit check.
func Repeatable() Option { return func(o *txOptions) { o.repeatable = true } }

// AsyncCommit does not wait for the disk on PostgreSQL (synchronous_commit = off): a server crash may undo the transaction
// unless a later synchronous one was committed. Use it for writes that have no meaning without such a later transaction.
func AsyncCommit() Option { return func(o *txOptions) { o.async = true } }

// LockTimeout gives up with [ErrLocked], without another try, when a statement waits for a lock for longer than the limit.
// It has no effect on CockroachDB.
func LockTimeout(limit time.Duration) Option { return func(o *txOptions) { o.lockTimeout = limit } }

// ErrLocked is the error of a transaction that would have waited too long; see [LockTimeout]. Nothing was stored.
var ErrLocked = errors.New("the transaction waited too long for a lock")

// ErrBusy is the error of a transaction that ran out of tries; it comes with the 503 for the client. Nothing was stored.
var ErrBusy = errors.New("too many transaction retries")

// ErrOutcomeUnknown is the error of a transaction that may have been committed: its COMMIT got no response, and the look-up failed.
var ErrOutcomeUnknown = errors.New("the commit has an unknown outcome")

var (
	errRefused     = apierr.Unavailable(apierr.Serialization, 1, "concurrent requests kept changing the same records; nothing was stored; retry after the time in Retry-After")
	errUnavailable = apierr.Unavailable(apierr.DatabaseUnavailable, 1, "the database could not store the change; nothing was stored; retry after the time in Retry-After")
)

// TxMarkers holds a row for each transaction that has no other way to find out whether it was committed.
const TxMarkers = Table("tx_markers")

const sqlSelectMarker = `SELECT EXISTS (SELECT 1 FROM tx_markers WHERE id = $1)`

var sqlInsertMarker = TxMarkers.Insert(`(id, expires_at) VALUES ($1, $2)`)

// RunTx runs fn in a transaction and commits it, at SERIALIZABLE unless an option or [Tx.Lock] lowers the isolation.
// When the database asks for a retry, fn runs again in a new transaction, at most 12 times and within the deadline of
// ctx. So fn must change nothing but the transaction and its result, and take the times that it stores from [Tx.Now]. The name labels
// metrics and spans. A commit with an unknown outcome is looked up, never blindly repeated. COMMIT travels with the last queued
// writes, unless their result decides about it.
func (d *DB) RunTx(ctx context.Context, name string, fn func(ctx context.Context, tx *Tx) error, opts ...Option) error {
	var o txOptions
	for _, opt := range opts {
		opt(&o)
	}
	r := &txRun{name: name, clock: d.Now, marker: uuid.New(), locks: d.locks, mayLower: o.iso == "", traced: d.traced()}
	defer r.end(d)
	showTx(name)
	ctx, span := otel.Tracer("tradegrid/db").Start(ctx, "tx "+name, trace.WithSpanKind(trace.SpanKindInternal))
	defer span.End()
	for try := 1; ; try++ {
		err := d.runOnce(ctx, try, o, r, fn)
		if errors.Is(err, errReadsMore) {
			r.mayLower = false
			err = d.runOnce(ctx, try, o, r, fn)
		}
		if err == nil {
			txAttempts.Observe(float64(try))
			span.SetAttributes(attribute.Int("tradegrid.tx.attempts", try))
			return nil
		}
		if err = d.afterFailure(ctx, o, r, err, try); err == nil {
			return nil
		} else if !errors.Is(err, errTryAgain) {
			span.SetStatus(codes.Error, name)
			d.complete(ctx, err)
			return err
		}
	}
}

// Incomplete is an error that lacks what its transaction could not read any more when it failed, such as the record that stands
// against a write.
type Incomplete interface {
	error
	// Complete reads what the error lacks, unless that fails.
	Complete(ctx context.Context, q Querier)
}

func (d *DB) complete(ctx context.Context, err error) {
	if lacks := Incomplete(nil); errors.As(err, &lacks) {
		lacks.Complete(ctx, d)
	}
}

var errTryAgain = errors.New("try the transaction again")

func (r *txRun) end(d *DB) {
	for c := range r.changed {
		d.writeLog.Add(c.company, c.table)
	}
	for _, fn := range r.ends {
		fn()
	}
	if listen := d.listener.Load(); listen != nil {
		for _, key := range r.signals {
			(*listen)(key)
		}
	}
	if r.unlock != nil {
		r.unlock()
	}
}

// afterFailure maps the error of one try to nil (it was committed after all), errTryAgain, or the final error.
func (d *DB) afterFailure(ctx context.Context, o txOptions, r *txRun, err error, try int) error {
	var unknown *unknownOutcome
	ambiguous := errors.As(err, &unknown)
	// A server may commit a try although it was looked up and not found: what proves the commit fails the next try then.
	if ambiguous || r.doubt && !retryable(err) {
		txAmbiguous.Inc()
		r.doubt = true
		happened, lookErr := d.lookUp(ctx, r)
		switch {
		case lookErr != nil:
			return fmt.Errorf("%s: %w: %w", r.name, ErrOutcomeUnknown, errors.Join(err, lookErr))
		case happened && !r.complete:
			return fmt.Errorf("%s: %w: an earlier try was committed: %w", r.name, ErrOutcomeUnknown, err)
		case happened:
			return nil
		}
	}
	if !ambiguous {
		if o.lockTimeout > 0 && sqlState(err) == codeLockTimeout {
			return fmt.Errorf("%w: %w", ErrLocked, err)
		}
		if !retryable(err) {
			return err
		}
	}
	txRetries.WithLabelValues(r.name, sqlState(err)).Inc()
	limit, longest := r.patience(ctx, err)
	if try >= limit {
		return fmt.Errorf("%w: %w (%s gave up after %d tries: %w)", busy(err), ErrBusy, r.name, try, err)
	}
	if !pause(ctx, try, longest) {
		return fmt.Errorf("%s ran out of time after %d tries: %w", r.name, try, errors.Join(ctx.Err(), err))
	}
	return errTryAgain
}

// busy is the 503 for a transaction whose last try failed with err.
func busy(err error) *apierr.Error {
	if contended(err) {
		return errRefused
	}
	return errUnavailable
}

// patience is the limit of tries and the longest pause for a transaction that failed with err. One that holds a key of
// [Tx.LockInProcess] competes with at most one transaction per other process, and others wait behind it: it retries
// quickly, until the deadline.
func (r *txRun) patience(ctx context.Context, err error) (tries int, pause time.Duration) {
	if _, bounded := ctx.Deadline(); bounded && r.unlock != nil && contended(err) {
		return math.MaxInt, backoffCapLocked
	}
	return maxTries, backoffCap
}

// prove decides what proves that the try was committed: what the options say, a record that it creates, or else a marker row.
// Each is a row whose key is the same in all tries, so that no two of them can be committed. A try with another proof than that of
// one whose outcome is unknown could be a second one, so it is not made.
func (t *Tx) prove(o txOptions) error {
	r, before := t.run, t.run.proof
	r.complete = true
	switch {
	case o.repeatable:
	case o.check != nil:
		r.check = o.check
	case t.proof != nil:
		r.check, r.proof = t.proof, t.proofID
	default:
		r.check, r.proof = r.marked, r.marker
		t.Queue(sqlInsertMarker, r.marker, time.Now().Add(time.Hour))
	}
	if r.doubt && r.proof != before {
		return fmt.Errorf("%s: %w: an earlier try, whose answer was lost, stored something else", r.name, ErrOutcomeUnknown)
	}
	return nil
}

func (r *txRun) marked(ctx context.Context, q Querier) (found bool, err error) {
	err = q.QueryRow(ctx, sqlSelectMarker, r.marker).Scan(&found)
	return found, err
}

// lookUp runs the commit check, with retries: the lost connection may be part of a failover.
func (d *DB) lookUp(ctx context.Context, r *txRun) (happened bool, err error) {
	if r.check == nil {
		return false, nil
	}
	for try := 1; try <= maxTries; try++ {
		if happened, err = r.check(ctx, d); err == nil || !pause(ctx, try, backoffCap) {
			return happened, err
		}
	}
	return false, err
}

func (d *DB) runOnce(ctx context.Context, try int, o txOptions, r *txRun, fn func(context.Context, *Tx) error) (err error) {
	if d.dialect == CockroachDB && d.cfg.SavepointRetry {
		return d.runSavepoint(ctx, try, o, r, fn)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := d.cfg.Inject.AtTry(ctx, AtBegin, r.name, try); err != nil {
		return err
	}
	lazy := d.newTx(ctx, o)
	ended := false
	defer func() {
		switch {
		case ended:
		case connectionSpent(err):
			lazy.abandon(ctx)
		default: // an error, or a panic of fn
			d.rollback(ctx, lazy)
		}
	}()
	tx := &Tx{tx: lazy, run: r, inject: d.cfg.Inject, try: try}
	if err := runFn(ctx, tx, fn); err != nil {
		return err
	}
	if err := tx.prove(o); err != nil {
		return err
	}
	finish := func() error { return d.finish(ctx, lazy, tx, o, &ended) }
	if shared, err := d.share(ctx, lazy, tx, o, finish); shared {
		return err
	}
	return finish()
}

// finish sends the queued writes and commits a try.
func (d *DB) finish(ctx context.Context, lazy *lazyTx, tx *Tx, o txOptions, ended *bool) error {
	together := tx.unconditional(o.repeatable)
	if !together {
		if err := tx.Flush(ctx); err != nil {
			return err
		}
	}
	if err := d.cfg.Inject.AtTry(ctx, BeforeCommit, tx.run.name, tx.try); err != nil {
		return err
	}
	if together {
		lazy.commitNext(tx)
		if err := tx.Flush(ctx); err != nil {
			return lazy.afterCommit(err)
		}
	}
	*ended = true
	return d.commit(ctx, lazy, tx.run.name, tx.try)
}

// runFn runs fn as work of the platform: what it reads besides the transaction must not wait for the company's share of the pool,
// which the transaction may have taken the last of.
func runFn(ctx context.Context, tx *Tx, fn func(context.Context, *Tx) error) error {
	if tx.run.complete = false; !tx.run.doubt {
		tx.run.now = time.Time{}
	}
	err := fn(tenant.With(ctx, tenant.ID{}), tx)
	if tx.failed != nil {
		return tx.failed
	}
	return err
}

func (d *DB) commit(ctx context.Context, lazy *lazyTx, name string, try int) error {
	if err := lazy.commit(ctx); err != nil {
		if outcomeUnknown(err) {
			return &unknownOutcome{err}
		}
		return fmt.Errorf("commit: %w", err)
	}
	if err := d.cfg.Inject.AtTry(ctx, AfterCommit, name, try); err != nil {
		return &unknownOutcome{err}
	}
	return nil
}

// runSavepoint uses the retry protocol of CockroachDB's client library. It must never run on PostgreSQL, where
// releasing the savepoint commits nothing and the library drops the error of the real COMMIT.
func (d *DB) runSavepoint(ctx context.Context, try int, o txOptions, r *txRun, fn func(context.Context, *Tx) error) error {
	conn, err := d.acquire(ctx, tenant.Of(ctx))
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer conn.Release()
	err = crdbpgx.ExecuteTx(crdb.WithMaxRetries(ctx, maxTries), conn, pgx.TxOptions{IsoLevel: cmp.Or(o.iso, pgx.Serializable)}, func(ptx pgx.Tx) error {
		tx := &Tx{tx: ptx, run: r, inject: d.cfg.Inject, try: try}
		if err := runFn(ctx, tx, fn); err != nil {
			return err
		}
		if err := tx.prove(o); err != nil {
			return err
		}
		return tx.Flush(ctx)
	})
	return afterSavepoint(err)
}

// afterSavepoint recognises commits with an unknown outcome; in the savepoint protocol RELEASE is the commit.
func afterSavepoint(err error) error {
	if release := new(crdb.AmbiguousCommitError); errors.As(err, &release) && outcomeUnknown(release.Unwrap()) {
		return &unknownOutcome{err}
	}
	return err
}

// rollback ends the transaction even after the end of ctx: a connection must not return to the pool with one open.
func (d *DB) rollback(ctx context.Context, lazy *lazyTx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := lazy.rollback(ctx); err != nil {
		d.log.DebugContext(ctx, "rollback failed", "error", err)
	}
}

// unknownOutcome is the error of a commit that may or may not have taken effect.
type unknownOutcome struct{ err error }

func (e *unknownOutcome) Error() string { return "commit with unknown outcome: " + e.err.Error() }
func (e *unknownOutcome) Unwrap() error { return e.err }

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return "connection"
}

// pause waits for a random time (full jitter); false means that ctx ended first.
func pause(ctx context.Context, try int, longest time.Duration) bool {
	limit := min(longest, backoffBase<<min(try, 10))
	t := time.NewTimer(rand.N(limit) + time.Millisecond)
	defer t.Stop()
	defer cputime.Wait()()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
