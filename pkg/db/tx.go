package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Tx is one try of a transaction. Reads run at once; writes are queued and sent together,
// in order, right before the commit, which saves a round trip each.
type Tx struct {
	tx     Querier
	run    *txRun
	queue  []*Queued
	inject Injector
	try    int
	locked bool  // only what [Tx.Lock] reads was read, so READ COMMITTED is enough
	failed error // ends the try, whatever fn makes of it
}

// Now is the time of the transaction in UTC, with microsecond precision. [DB.RunTx] reads the clock once, before the
// first try, so a retry stores the same times.
func (t *Tx) Now() time.Time { return t.run.now }

// Queued is a write that waits for [Tx.Flush].
type Queued struct {
	sql    string
	args   []any
	rows   func(pgx.Rows) error
	expect int64
	orElse error
	faults map[string]error
}

// Query runs a statement at once, after the writes queued so far.
func (t *Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	return t.tx.Query(ctx, sql, args...)
}

// QueryRow runs a statement of at most one row at once, after the writes queued so far.
func (t *Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.ready(ctx); err != nil {
		return failedRows{err}
	}
	return t.tx.QueryRow(ctx, sql, args...)
}

// Exec runs a statement at once, after the writes queued so far.
func (t *Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := t.ready(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.tx.Exec(ctx, sql, args...)
}

// SendBatch runs a batch at once, after the writes queued so far.
func (t *Tx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.ready(ctx); err != nil {
		return failedBatch{err}
	}
	return t.tx.SendBatch(ctx, b)
}

// ready keeps the order of statements as written, and gives tests a place to fail. A transaction that has lowered its
// isolation for [Tx.Lock] starts again.
func (t *Tx) ready(ctx context.Context) error {
	if t.locked {
		t.failed = errReadsMore
		return errReadsMore
	}
	return t.send(ctx)
}

// send sends the queued writes before the next statement.
func (t *Tx) send(ctx context.Context) error {
	if err := t.Flush(ctx); err != nil {
		return err
	}
	return t.injectAt(ctx, AtStatement)
}

func (t *Tx) injectAt(ctx context.Context, p Point) error {
	if t.inject == nil {
		return nil
	}
	return t.inject.Fault(ctx, p, t.try)
}

// Queue adds a write that is sent with the others at the end of the transaction.
func (t *Tx) Queue(sql string, args ...any) *Queued {
	q := &Queued{sql: sql, args: args, expect: -1}
	t.queue = append(t.queue, q)
	return q
}

// Expect makes the transaction fail with err unless the write touches exactly n rows.
func (q *Queued) Expect(n int64, err error) *Queued {
	q.expect, q.orElse = n, err
	return q
}

// OnConstraint turns the violation of the named constraint by this write into err.
func (q *Queued) OnConstraint(name string, err error) *Queued {
	if q.faults == nil {
		q.faults = make(map[string]error, 1)
	}
	q.faults[name] = err
	return q
}

// Rows reads what the write returns. It may run several times, once a try.
func (q *Queued) Rows(read func(pgx.Rows) error) *Queued {
	q.rows = read
	return q
}

// Flush sends the queued writes in one round trip and checks each.
func (t *Tx) Flush(ctx context.Context) error {
	if len(t.queue) == 0 {
		return nil
	}
	if err := t.injectAt(ctx, AtStatement); err != nil {
		return err
	}
	queue := t.queue
	t.queue = nil
	b := &pgx.Batch{}
	for _, q := range queue {
		b.Queue(q.sql, q.args...)
	}
	res := t.tx.SendBatch(ctx, b)
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

// unconditional reports whether there are queued writes and nothing that they give can undo the transaction.
func (t *Tx) unconditional() bool {
	return len(t.queue) > 0 && !slices.ContainsFunc(t.queue, func(q *Queued) bool { return q.expect >= 0 })
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
		return fmt.Errorf("write touched %d rows, expected %d: %s", rows.CommandTag().RowsAffected(), q.expect, q.sql)
	}
	return nil
}

func (q *Queued) translate(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName != "" {
		if mapped, ok := q.faults[pg.ConstraintName]; ok {
			return mapped
		}
	}
	return fmt.Errorf("run queued write: %w", err)
}
