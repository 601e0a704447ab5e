package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const sqlKind = `SELECT n FROM counters WHERE company_id = $1 AND kind = $2`

var (
	sqlAdd = counters.InsertRow("company_id", "kind", "n")
	sqlSet = counters.Update(`SET n = $3 WHERE company_id = $1 AND kind = $2 RETURNING n`)
)

// Writes are sent in the order in which they were queued, and reads see those before them.
func TestWritesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	company := uuid.New()
	read := func(ctx context.Context, q db.Querier) (n int64) {
		require.NoError(t, q.QueryRow(ctx, sqlKind, company, "a").Scan(&n))
		return n
	}
	err := d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		tx.Queue(sqlAdd, company, "a", 1)
		tx.Queue(sqlSet, company, "a", 2)
		var n int64
		if err := tx.QueryRow(ctx, sqlKind, company, "a").Scan(&n); err != nil {
			return err
		}
		require.EqualValues(t, 2, n, "QueryRow")
		tx.Queue(sqlSet, company, "a", 3)
		rows, err := tx.Query(ctx, sqlKind, company, "a")
		if err != nil {
			return err
		}
		if n, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64]); err != nil {
			return err
		}
		require.EqualValues(t, 3, n, "Query")
		tx.Queue(sqlSet, company, "a", 4)
		tag, err := tx.Write(ctx, counters.Update(`SET n = 5 WHERE company_id = $1 AND kind = 'a' AND n = 4`), company)
		if err != nil {
			return err
		}
		require.EqualValues(t, 1, tag.RowsAffected(), "Exec")
		tx.Queue(sqlSet, company, "a", 6)
		b := &pgx.Batch{}
		b.Queue(sqlKind, company, "a").QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		require.EqualValues(t, 6, n, "SendBatch")
		tx.Queue(sqlSet, company, "a", 7)
		tx.Queue(sqlSet, company, "a", 8)
		return nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 8, read(t.Context(), d))
}

func TestRowsOfAQueuedWrite(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	company := uuid.New()
	var got []int64
	err := d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(counters.Insert(`(company_id, kind, n) VALUES ($1, 'a', 1), ($1, 'b', 2) RETURNING n`), company).
			Rows(func(rows pgx.Rows) (err error) {
				got, err = pgx.CollectRows(rows, pgx.RowTo[int64])
				return err
			}).Expect(2, nil)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, got)

	unread := errors.New("unread")
	err = d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlSet, company, "a", 10).Rows(func(pgx.Rows) error { return unread })
		tx.Queue(sqlSet, company, "b", 10)
		return nil
	})
	require.ErrorIs(t, err, unread)
	for kind, want := range map[string]int64{"a": 1, "b": 2} {
		var n int64
		require.NoError(t, d.QueryRow(t.Context(), sqlKind, company, kind).Scan(&n))
		require.Equal(t, want, n, kind)
	}
}

// The error of an expectation is the caller's own, or says what was expected of which statement.
func TestExpect(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	company := uuid.New()
	gone := apierr.NotFound("ORDER", company.String())
	set := func(orElse error) error {
		return d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlSet, company, "none", 1).Expect(1, orElse)
			return nil
		})
	}
	require.ErrorIs(t, set(gone), gone)
	require.ErrorContains(t, set(nil), "write affected 0 rows, expected 1: "+sqlSet.SQL())
}

// Only the named constraint, and only of the write that names it, becomes the caller's fault.
func TestOnConstraint(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	company := uuid.New()
	taken := apierr.StateConflict("SKU_EXISTS", "sku is taken")
	twice := func(first, second func(*db.Queued)) error {
		return d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			first(tx.Queue(sqlAdd, company, "a", 1))
			second(tx.Queue(sqlAdd, company, "a", 2))
			return nil
		})
	}
	plain := func(*db.Queued) {}
	named := func(name string) func(*db.Queued) {
		return func(q *db.Queued) { q.OnConstraint("other_key", errors.New("other")).OnConstraint(name, taken) }
	}
	require.ErrorIs(t, twice(plain, named("counters_pkey")), taken)
	for _, err := range []error{twice(plain, named("another_key")), twice(named("counters_pkey"), plain)} {
		var pg *pgconn.PgError
		require.ErrorAs(t, err, &pg)
		require.Equal(t, "counters_pkey", pg.ConstraintName)
		require.NotErrorIs(t, err, taken)
	}
	var n int
	require.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM counters WHERE company_id = $1`, company).Scan(&n))
	require.Zero(t, n)
}

// lacking is an error that needs another transaction to say all.
type lacking struct{ all string }

func (l *lacking) Error() string                        { return "something is taken" + l.all }
func (l *lacking) Complete(context.Context, db.Querier) { l.all = ", by another record" }

// An error is completed after its transaction, and what wraps it stays.
func TestErrorsAreCompletedAfterTheirTransaction(t *testing.T) {
	t.Parallel()
	otherwise := errors.New("otherwise")
	err := dbtest.Open(t).RunTx(t.Context(), "test", func(context.Context, *db.Tx) error { return fmt.Errorf("%w: %w", otherwise, &lacking{}) })
	require.ErrorIs(t, err, otherwise)
	var complete *lacking
	require.ErrorAs(t, err, &complete)
	require.EqualError(t, complete, "something is taken, by another record")
}

// A write that fails while a read flushes it fails the read, and the transaction too when the function goes on.
func TestFailedWriteFailsTheNextRead(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	company := uuid.New()
	taken := errors.New("taken")
	for name, read := range map[string]func(context.Context, *db.Tx) error{
		"QueryRow": func(ctx context.Context, tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT 1`).Scan(new(int)) },
		"Query": func(ctx context.Context, tx *db.Tx) error {
			rows, err := tx.Query(ctx, `SELECT 1`)
			if err == nil {
				rows.Close()
			}
			return err
		},
		"Exec": func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		},
		"SendBatch": func(ctx context.Context, tx *db.Tx) error {
			b := &pgx.Batch{}
			b.Queue(`SELECT 1`)
			return tx.SendBatch(ctx, b).Close()
		},
	} {
		err := d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			tx.Queue(sqlAdd, company, "a", 1)
			tx.Queue(sqlAdd, company, "a", 1).OnConstraint("counters_pkey", taken)
			return read(ctx, tx)
		})
		require.ErrorIs(t, err, taken, name)
	}
}
