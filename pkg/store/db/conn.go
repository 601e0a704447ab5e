package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

type pooled = pgxpool.Conn // another name for its field, because it has a method Conn

// conn is a connection of the pool that counts among those of a company.
type conn struct {
	*pooled
	shares  *shares
	company tenant.ID
}

// acquire takes a connection for a company; see [shares].
func (d *DB) acquire(ctx context.Context, company tenant.ID) (*conn, error) {
	if err := d.shares.enter(ctx, company); err != nil {
		return nil, err
	}
	c, err := d.pool.Acquire(ctx)
	if err != nil {
		d.shares.leave(company)
		return nil, err
	}
	return &conn{c, d.shares, company}, nil
}

// Release returns the connection. It is called exactly once.
func (c *conn) Release() {
	c.pooled.Release()
	c.shares.leave(c.company)
}

// Query runs one reading statement outside a transaction.
func (d *DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	c, err := d.acquire(ctx, tenant.Of(ctx))
	if err != nil {
		return failedRows{err}, err
	}
	rows, err := c.Query(ctx, sql, args...)
	r := &endingRows{Rows: rows, end: func() error { c.Release(); return nil }}
	if err != nil {
		r.Close()
	}
	return r, err
}

// QueryRow runs one reading statement of at most one row outside a transaction.
func (d *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := d.Query(ctx, sql, args...)
	return onlyRow{rows, err}
}

// Exec runs one statement without rows that changes no table.
func (d *DB) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	c, err := d.acquire(ctx, tenant.Of(ctx))
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer c.Release()
	return c.Exec(ctx, sql, args...)
}

// Write runs a write in its own transaction, without retries: use it only where a failure is acceptable. It is
// missing in [DB.WriteLog].
func (d *DB) Write(ctx context.Context, w Write, args ...any) (pgconn.CommandTag, error) {
	if d.traced() {
		ctx = declare(ctx, w.s.sql, w.s.tableAccess())
	}
	return d.Exec(ctx, w.s.sql, args...)
}

// SendBatch runs several reading statements in one round trip, in one implicit transaction.
func (d *DB) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	c, err := d.acquire(ctx, tenant.Of(ctx))
	if err != nil {
		return failedBatch{err}
	}
	return &endingResults{BatchResults: c.SendBatch(ctx, b), conn: c}
}

// endingResults release their connection when they are closed.
type endingResults struct {
	pgx.BatchResults
	conn *conn
}

// Close implements [pgx.BatchResults].
func (r *endingResults) Close() error {
	err := r.BatchResults.Close()
	if r.conn != nil {
		r.conn.Release()
		r.conn = nil
	}
	return err
}

// endingRows call end once, when they are closed, or read to their end.
type endingRows struct {
	pgx.Rows
	end    func() error
	closed bool
	err    error
}

// Next implements [pgx.Rows].
func (r *endingRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Scan implements [pgx.Rows]. An error ends the rows.
func (r *endingRows) Scan(dest ...any) error {
	err := r.Rows.Scan(dest...)
	if err != nil {
		r.Close()
	}
	return err
}

// Close implements [pgx.Rows].
func (r *endingRows) Close() {
	r.Rows.Close()
	if !r.closed {
		r.closed = true
		r.err = r.end()
	}
}

// Err implements [pgx.Rows].
func (r *endingRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// onlyRow is the row of a statement of at most one row.
type onlyRow struct {
	rows pgx.Rows
	err  error
}

// Scan implements [pgx.Row].
func (r onlyRow) Scan(dest ...any) error {
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
