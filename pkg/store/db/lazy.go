package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// lazyTx is a transaction that takes a connection at its first statement and sends BEGIN along with it. That saves a
// round trip, and a transaction that waits for [Tx.LockInProcess] holds no connection.
// At the end the connection returns to the pool, which closes it if the transaction is still open.
type lazyTx struct {
	db      *DB
	company tenant.ID // whose share of the pool it takes a connection of
	iso     pgx.TxIsoLevel
	async   bool
	wait    time.Duration // for a lock; 0 = the limit of the pool
	conn    *conn         // nil until the first statement
	ended   bool          // by a COMMIT among the writes
}

func (d *DB) newTx(ctx context.Context, o txOptions) *lazyTx {
	t := &lazyTx{db: d, company: tenant.Of(ctx), iso: cmp.Or(o.iso, pgx.Serializable)}
	if d.dialect == PostgreSQL {
		t.async, t.wait = o.async, o.lockTimeout
	}
	return t
}

// begun reports whether a statement was sent. From then on the isolation is fixed and locks may be held.
func (t *lazyTx) begun() bool { return t.conn != nil }

// begin lists the statements that are sent before the first one.
func (t *lazyTx) begin() []string {
	begin := []string{"begin isolation level " + string(t.iso)}
	if t.async {
		begin = append(begin, "set local synchronous_commit = off")
	}
	if t.wait > 0 {
		begin = append(begin, fmt.Sprintf("set local lock_timeout = %d", t.wait.Milliseconds()))
	}
	return begin
}

// SendBatch implements [Querier].
func (t *lazyTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if t.begun() {
		return t.conn.SendBatch(ctx, b)
	}
	conn, err := t.db.acquire(ctx, t.company)
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
		_, _ = res.Exec() // an error stays in the results and is returned by the next read
	}
	return res
}

// Query implements [Querier].
func (t *lazyTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if t.begun() {
		return t.conn.Query(ctx, sql, args...)
	}
	b := &pgx.Batch{}
	b.Queue(sql, args...)
	res := t.SendBatch(ctx, b)
	rows, err := res.Query()
	r := &endingRows{Rows: rows, end: res.Close}
	if err != nil {
		r.Close()
	}
	return r, err
}

// QueryRow implements [Querier].
func (t *lazyTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.begun() {
		return t.conn.QueryRow(ctx, sql, args...)
	}
	rows, err := t.Query(ctx, sql, args...)
	return onlyRow{rows, err}
}

// Exec implements [Querier].
func (t *lazyTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
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

// commitNext appends COMMIT to the queued writes; the server skips it if one of them fails.
func (t *lazyTx) commitNext(tx *Tx) {
	tx.QueueRead("commit").commits = true
	t.ended = true
}

// afterCommit tells whether the COMMIT behind writes that failed with err may have taken effect: not after an error of the server,
// which [Queued.finish] judges, nor before something was sent.
func (t *lazyTx) afterCommit(err error) error {
	var pg *pgconn.PgError
	if t.begun() && t.conn.Conn().IsClosed() && !errors.As(err, &pg) {
		return &unknownOutcome{err}
	}
	return err
}

func (t *lazyTx) commit(ctx context.Context) error {
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

func (t *lazyTx) rollback(ctx context.Context) error {
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

// abandon closes the connection, which ends the transaction.
func (t *lazyTx) abandon(ctx context.Context) {
	if !t.begun() {
		return
	}
	defer t.conn.Release()
	t.close(ctx)
}

// close closes the connection, so the pool discards it when it is released.
func (t *lazyTx) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = t.conn.Conn().Close(ctx) // the error of the server says more
}
