package db

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lateTx is a transaction that takes its connection at its first statement, with which BEGIN travels: that saves a
// round trip, and nothing holds a connection while it waits for [Tx.LockInProcess].
// The connection goes back to its pool at the end, which closes it should the transaction still be open.
type lateTx struct {
	pool    *pgxpool.Pool
	iso     pgx.TxIsoLevel
	relaxed bool
	conn    *pgxpool.Conn // nil until the first statement
	ended   bool          // by a COMMIT among the writes
}

func (d *DB) newTx(o txOptions) *lateTx {
	return &lateTx{pool: d.pool, iso: cmp.Or(o.iso, pgx.Serializable), relaxed: o.relaxed && d.dialect == PostgreSQL}
}

// begun reports whether a statement was sent: from then on the isolation is settled and locks may be held.
func (t *lateTx) begun() bool { return t.conn != nil }

// begin lists what goes before the first statement.
func (t *lateTx) begin() []string {
	begin := []string{"begin isolation level " + string(t.iso)}
	if t.relaxed {
		begin = append(begin, "set local synchronous_commit = off")
	}
	return begin
}

// SendBatch implements [Querier].
func (t *lateTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if t.begun() {
		return t.conn.SendBatch(ctx, b)
	}
	conn, err := t.pool.Acquire(ctx)
	if err != nil {
		return failedBatch{fmt.Errorf("begin: %w", err)}
	}
	t.conn = conn
	begin := t.begin()
	first := &pgx.Batch{}
	for _, sql := range begin {
		first.Queue(sql)
	}
	first.QueuedQueries = append(first.QueuedQueries, b.QueuedQueries...)
	res := t.conn.SendBatch(ctx, first)
	for range begin {
		_, _ = res.Exec() // its error stays with the results, and the next one to read them gets it
	}
	return res
}

// Query implements [Querier].
func (t *lateTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if t.begun() {
		return t.conn.Query(ctx, sql, args...)
	}
	b := &pgx.Batch{}
	b.Queue(sql, args...)
	res := t.SendBatch(ctx, b)
	rows, err := res.Query()
	r := &firstRows{Rows: rows, res: res}
	if err != nil {
		r.Close()
	}
	return r, err
}

// QueryRow implements [Querier].
func (t *lateTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.begun() {
		return t.conn.QueryRow(ctx, sql, args...)
	}
	rows, err := t.Query(ctx, sql, args...)
	return firstRow{rows, err}
}

// Exec implements [Querier].
func (t *lateTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if t.begun() {
		return t.conn.Exec(ctx, sql, args...)
	}
	rows, err := t.Query(ctx, sql, args...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// commitNext makes COMMIT the last of the queued writes. It is not reached when one of them fails.
func (t *lateTx) commitNext(tx *Tx) {
	tx.Queue("commit")
	t.ended = true
}

func (t *lateTx) commit(ctx context.Context) error {
	if !t.begun() {
		return nil
	}
	defer t.conn.Release()
	if t.ended {
		return nil
	}
	tag, err := t.conn.Exec(ctx, "commit")
	if connectionSpent(err) {
		t.close(ctx)
	}
	if err == nil && tag.String() == "ROLLBACK" {
		return pgx.ErrTxCommitRollback
	}
	return err
}

func (t *lateTx) rollback(ctx context.Context) error {
	if !t.begun() {
		return nil
	}
	defer t.conn.Release()
	if t.conn.Conn().IsClosed() {
		return nil
	}
	_, err := t.conn.Exec(ctx, "rollback")
	return err
}

// abandon ends the transaction with its connection, which is of no use any more.
func (t *lateTx) abandon(ctx context.Context) {
	if !t.begun() {
		return
	}
	defer t.conn.Release()
	t.close(ctx)
}

// close makes the pool throw the connection away when it gets it back.
func (t *lateTx) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = t.conn.Conn().Close(ctx) // the server has said more than this error would
}

// firstRows are the rows of a statement that went out with BEGIN: the batch of both ends with them.
type firstRows struct {
	pgx.Rows
	res    pgx.BatchResults
	closed bool
	err    error
}

// Next implements [pgx.Rows].
func (r *firstRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Close implements [pgx.Rows].
func (r *firstRows) Close() {
	r.Rows.Close()
	if !r.closed {
		r.closed = true
		r.err = r.res.Close()
	}
}

// Err implements [pgx.Rows].
func (r *firstRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// firstRow is the only row of a statement that went out with BEGIN.
type firstRow struct {
	rows pgx.Rows
	err  error
}

// Scan implements [pgx.Row].
func (r firstRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
