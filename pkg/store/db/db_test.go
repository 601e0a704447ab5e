package db_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const counters = db.Table("counters")

const sqlCount = `SELECT n FROM counters WHERE company_id = $1 AND kind = 'test'`

var sqlTake = counters.Insert(`(company_id, kind, n) VALUES ($1, 'test', 1) ON CONFLICT (company_id, kind) DO UPDATE SET n = counters.n + 1 RETURNING n`)

func count(t *testing.T, d *db.DB, company uuid.UUID) (n int64) {
	t.Helper()
	if err := d.QueryRow(t.Context(), sqlCount, company).Scan(&n); !db.IsNoRows(err) {
		require.NoError(t, err)
	}
	return n
}

// Whatever statement comes first begins the transaction: all of it is stored, or nothing.
func TestFirstStatementBegins(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	undo := errors.New("undo")
	for name, first := range map[string]func(context.Context, *db.Tx, uuid.UUID) error{
		"row": func(ctx context.Context, tx *db.Tx, company uuid.UUID) error {
			var n int64
			return tx.ReturningRow(ctx, sqlTake, company).Scan(&n)
		},
		"no row": func(ctx context.Context, tx *db.Tx, company uuid.UUID) error {
			var n int64
			if err := tx.QueryRow(ctx, sqlCount, company).Scan(&n); !db.IsNoRows(err) {
				return errors.New("a row was not expected")
			}
			_, err := tx.Write(ctx, sqlTake, company)
			return err
		},
		"rows": func(ctx context.Context, tx *db.Tx, company uuid.UUID) error {
			rows, err := tx.Returning(ctx, sqlTake, company)
			if err != nil {
				return err
			}
			_, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
			return err
		},
		"exec": func(ctx context.Context, tx *db.Tx, company uuid.UUID) error {
			_, err := tx.Write(ctx, sqlTake, company)
			return err
		},
		"batch": func(ctx context.Context, tx *db.Tx, company uuid.UUID) error {
			b := &pgx.Batch{}
			b.Queue(sqlCount, company)
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			tx.Queue(sqlTake, company)
			return nil
		},
		"queue": func(_ context.Context, tx *db.Tx, company uuid.UUID) error {
			tx.Queue(sqlTake, company)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, opts := range [][]db.Option{nil, {db.ReadCommitted()}, {db.Repeatable()}, {db.Repeatable(), db.AsyncCommit()}} {
				company := uuid.New()
				require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
					return first(ctx, tx, company)
				}, opts...))
				require.Positive(t, count(t, d, company))
			}
			gone := uuid.New()
			require.ErrorIs(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return errors.Join(first(ctx, tx, gone), undo)
			}), undo)
			require.Zero(t, count(t, d, gone))
		})
	}
}

// A write that fails undoes those before it, also where COMMIT travels with them.
func TestFailedWriteUndoesAll(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	taken := errors.New("taken")
	for _, opts := range [][]db.Option{nil, {db.Repeatable()}, {db.Repeatable(), db.ReadCommitted()}} {
		company := uuid.New()
		err := d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlTake, company)
			tx.Queue(counters.Insert(`(company_id, kind, n) VALUES ($1, 'test', 1)`), company).OnConstraint("counters_pkey", taken)
			return nil
		}, opts...)
		require.ErrorIs(t, err, taken)
		require.Zero(t, count(t, d, company))
	}
}

// A write whose number of rows is not the expected one undoes the transaction, whatever its options.
func TestExpectationUndoesAll(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	other := errors.New("other")
	for _, opts := range [][]db.Option{nil, {db.Repeatable()}} {
		company := uuid.New()
		err := d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlTake, company)
			tx.Queue(counters.Delete(`WHERE company_id = $1 AND kind = 'none'`), company).Expect(1, other)
			return nil
		}, opts...)
		require.ErrorIs(t, err, other)
		require.Zero(t, count(t, d, company))
	}
}

// A transaction that ends in a panic leaves no connection in use and nothing stored.
func TestPanicUndoesAll(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	company := uuid.New()
	for range 20 { // more than the pool has connections
		require.PanicsWithValue(t, "test", func() {
			_ = d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Write(ctx, sqlTake, company)
				require.NoError(t, err)
				panic("test")
			})
		})
	}
	require.Zero(t, count(t, d, company))
	require.Zero(t, d.Pool().Stat().AcquiredConns())
}

func TestIsolationIsAsAsked(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for want, opts := range map[string][]db.Option{"serializable": nil, "read committed": {db.ReadCommitted()}} {
		var got string
		require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			return tx.QueryRow(ctx, `SELECT setting FROM pg_settings WHERE name = 'transaction_isolation'`).Scan(&got)
		}, opts...))
		require.Equal(t, want, got)
	}
}

// Large values are compressed by LZ4 where the server was built with it.
func TestLargeValuesAreCompressedFast(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("this database compresses by itself")
	}
	var can []string
	require.NoError(t, d.QueryRow(t.Context(), `SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression'`).Scan(&can))
	want := "pglz"
	if slices.Contains(can, "lz4") {
		want = "lz4"
	}
	job := uuid.New()
	_, err := d.Write(t.Context(), sqlInsertInput, uuid.New(), job, 1, bytes.Repeat([]byte("value"), 2000), time.Now())
	require.NoError(t, err)
	var got string
	require.NoError(t, d.QueryRow(t.Context(), `SELECT pg_column_compression(body) FROM job_inputs WHERE job_id = $1`, job).Scan(&got))
	require.Equal(t, want, got)
}

func TestAsyncCommitEndsWithItsTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	setting := func(opts ...db.Option) (value string) {
		require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			return tx.QueryRow(ctx, `SELECT COALESCE((SELECT setting FROM pg_settings WHERE name = 'synchronous_commit'), '')`).Scan(&value)
		}, append(opts, db.Repeatable())...))
		return value
	}
	before := setting()
	async := setting(db.AsyncCommit())
	require.Equal(t, before, setting())
	if d.Dialect() == db.PostgreSQL {
		require.Equal(t, "off", async)
	}
}

func TestPointersToUUIDs(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	id := uuid.New()
	var one, none *uuid.UUID
	var all []*uuid.UUID
	err := d.QueryRow(t.Context(), `SELECT $1::UUID, $2::UUID, $3::UUID[]`, &id, (*uuid.UUID)(nil), []*uuid.UUID{&id, nil}).Scan(&one, &none, &all)
	require.NoError(t, err)
	require.Equal(t, &id, one)
	require.Nil(t, none)
	require.Equal(t, []*uuid.UUID{&id, nil}, all)
}
