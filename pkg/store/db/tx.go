package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
)

// Tx is one attempt of a transaction. Reads run immediately. Queued writes are sent together, in order, right before
// COMMIT, which saves a round trip each.
type Tx struct {
	tx      Querier
	run     *txRun
	queue   []*Queued
	inject  failpoint.Injector
	try     int
	made    int         // ids of [Tx.NewID]
	proof   CommitCheck // see [Tx.ProvedBy]
	proofID uuid.UUID   // of the row that it looks for
	locked  bool        // nothing but [Tx.Lock] has read, so READ COMMITTED is enough
	failed  error       // fails the try even if fn drops the error
	noted   []Noted     // see [Tx.Note]
}

// Noted is a record that a transaction changes.
type Noted struct {
	ID            uuid.UUID
	Before, After any      // pointers to what JSON shows of it
	Fields        []string // names of the changed fields
}

// maxNoted is how many records a try notes: a transaction of more is about none of them alone.
const maxNoted = 20

// Note keeps what a record was before a change and is after it, for whoever records in the same transaction who changed what.
func (t *Tx) Note(n Noted) {
	if len(t.noted) < maxNoted {
		t.noted = append(t.noted, n)
	}
}

// Noted are the changes that were noted in this try.
func (t *Tx) Noted() []Noted { return t.noted }

// Now is the time of the transaction in UTC, with microsecond precision: the clock as the first call of a try reads it. Whatever
// shows the order of changes calls it behind the lock that decides this order, such as that of the record or of the numbers, so that
// nobody who had the lock before has a later time. A try after one whose outcome is unknown has the time of that one: what is stored and
// what is answered are the same then.
func (t *Tx) Now() time.Time {
	if t.run.now.IsZero() {
		t.run.now = t.run.clock()
	}
	return t.run.now
}

// NewID returns the id of a new record, of UUID version 7. The tries of a transaction get the same ids in the same order.
func (t *Tx) NewID() uuid.UUID {
	if t.made == len(t.run.ids) {
		t.run.ids = append(t.run.ids, uuid.Must(uuid.NewV7()))
	}
	t.made++
	return t.run.ids[t.made-1]
}

// ProvedBy says that the transaction inserts a row whose key has an id of [Tx.NewID], and how to find it: the commit needs no other
// proof. It ignores other ids, of which each try may have another, so that two tries could be committed.
func (t *Tx) ProvedBy(id uuid.UUID, check CommitCheck) {
	if t.proof == nil && slices.Contains(t.run.ids[:t.made], id) {
		t.proof, t.proofID = check, id
	}
}

// OnEnd runs fn once [DB.RunTx] is done with the transaction, committed or not: for a cache that has to forget what the
// transaction may have changed. Each try that calls it adds fn again.
func (t *Tx) OnEnd(fn func()) { t.run.ends = append(t.run.ends, fn) }

// Signal tells the listener of [DB.Listen] a key once [DB.RunTx] is done with the transaction.
func (t *Tx) Signal(key int32) {
	if !slices.Contains(t.run.signals, key) {
		t.run.signals = append(t.run.signals, key)
	}
}

// Queued is a statement that [Tx.Flush] will send.
type Queued struct {
	sql     string
	write   *statement // nil = it changes no table
	joins   bool       // its rows may be joined with others of the same write
	commits bool       // it is the COMMIT
	args    []any
	rows    func(pgx.Rows) error
	expect  int64
	orElse  error
	faults  map[string]error
}

// Query sends the queued writes and then runs a statement that changes no table.
func (t *Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	return t.tx.Query(t.read(ctx, sql), sql, args...)
}

// QueryRow is [Tx.Query] for at most one row.
func (t *Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.ready(ctx); err != nil {
		return failedRows{err}
	}
	return t.tx.QueryRow(t.read(ctx, sql), sql, args...)
}

// Exec is [Tx.Query] for a statement without rows, such as a setting.
func (t *Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := t.ready(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.tx.Exec(t.read(ctx, sql), sql, args...)
}

// SendBatch is [Tx.Query] for a batch.
func (t *Tx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.ready(ctx); err != nil {
		return failedBatch{err}
	}
	return t.tx.SendBatch(t.readBatch(ctx, b), b)
}

// Write sends the queued writes and then runs a write at once. [Tx.Queue] saves the round trip.
func (t *Tx) Write(ctx context.Context, w Write, args ...any) (pgconn.CommandTag, error) {
	t.run.note(w, args)
	if err := t.ready(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.tx.Exec(t.declare(ctx, w), w.s.sql, args...)
}

// Returning is [Tx.Write] for a write with RETURNING.
func (t *Tx) Returning(ctx context.Context, w Write, args ...any) (pgx.Rows, error) {
	t.run.note(w, args)
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	return t.tx.Query(t.declare(ctx, w), w.s.sql, args...)
}

// ReturningRow is [Tx.Returning] for at most one row.
func (t *Tx) ReturningRow(ctx context.Context, w Write, args ...any) pgx.Row {
	t.run.note(w, args)
	if err := t.ready(ctx); err != nil {
		return failedRows{err}
	}
	return t.tx.QueryRow(t.declare(ctx, w), w.s.sql, args...)
}

// ready prepares for a statement of fn. A transaction that runs at READ COMMITTED because of [Tx.Lock] must start again
// at SERIALIZABLE.
func (t *Tx) ready(ctx context.Context) error {
	if t.locked {
		t.failed = errReadsMore
		return errReadsMore
	}
	return t.send(ctx)
}

// send flushes the queued writes, so statements run in the order in which fn wrote them.
func (t *Tx) send(ctx context.Context) error {
	if err := t.Flush(ctx); err != nil {
		return err
	}
	return t.inject.AtTry(ctx, AtStatement, t.run.name, t.try)
}

// Queue adds a write, to be sent with the others before COMMIT or before the next statement.
func (t *Tx) Queue(w Write, args ...any) *Queued {
	t.run.note(w, args)
	return t.add(&Queued{sql: w.s.sql, write: w.s, args: args, expect: -1})
}

// QueueRead is [Tx.Queue] for a statement that changes no table, to be read in the same round trip.
func (t *Tx) QueueRead(sql string, args ...any) *Queued {
	return t.add(&Queued{sql: sql, args: args, expect: -1})
}

func (t *Tx) add(q *Queued) *Queued {
	t.queue = append(t.queue, q)
	return q
}

// Expect fails the transaction with err unless the write affects exactly n rows.
func (q *Queued) Expect(n int64, err error) *Queued {
	q.expect, q.orElse = n, err
	return q
}

// OnConstraint fails the transaction with err if this write violates the named constraint.
func (q *Queued) OnConstraint(name string, err error) *Queued {
	if q.faults == nil {
		q.faults = make(map[string]error, 1)
	}
	q.faults[name] = err
	return q
}

// Rows sets the function that reads the rows of RETURNING. It runs once per try.
func (q *Queued) Rows(read func(pgx.Rows) error) *Queued {
	q.rows = read
	return q
}

// Flush sends the queued writes in one round trip and checks the result of each.
func (t *Tx) Flush(ctx context.Context) error {
	if len(t.queue) == 0 {
		return nil
	}
	if err := t.inject.AtTry(ctx, AtStatement, t.run.name, t.try); err != nil {
		return err
	}
	queue := join(t.queue)
	t.queue = nil
	b := &pgx.Batch{}
	for _, q := range queue {
		b.Queue(q.sql, q.args...)
	}
	res := t.tx.SendBatch(t.declareQueue(ctx, queue), b)
	for _, q := range queue {
		if err := q.finish(res); err != nil {
			_ = res.Close() // its error only repeats this one
			return err
		}
	}
	if err := res.Close(); err != nil {
		return fmt.Errorf("finish batch of writes: %w", err)
	}
	return nil
}

// unconditional reports whether there are queued writes and nothing that they return could fail the transaction, or only one that
// may be repeated: by a number of rows that is expected, or by reading rows.
func (t *Tx) unconditional(repeatable bool) bool {
	return len(t.queue) > 0 && !slices.ContainsFunc(t.queue, func(q *Queued) bool { return q.expect >= 0 || q.rows != nil && !repeatable })
}

func (q *Queued) finish(res pgx.BatchResults) error {
	rows, err := res.Query()
	if err == nil && q.rows != nil {
		err = q.rows(rows)
	}
	rows.Close()
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		return q.translate(err)
	}
	if q.expect >= 0 && rows.CommandTag().RowsAffected() != q.expect {
		if q.orElse != nil {
			return q.orElse
		}
		return fmt.Errorf("write affected %d rows, expected %d: %s", rows.CommandTag().RowsAffected(), q.expect, q.sql)
	}
	return nil
}

func (q *Queued) translate(err error) error {
	if q.commits && outcomeUnknown(err) {
		return &unknownOutcome{err}
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName != "" {
		if mapped, ok := q.faults[pg.ConstraintName]; ok {
			return mapped
		}
	}
	return fmt.Errorf("run queued write: %w", err)
}
