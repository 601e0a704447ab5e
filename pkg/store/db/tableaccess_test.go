package db_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// declaring remembers what was declared of the statements that were sent.
type declaring struct {
	statements

	mu  sync.Mutex
	all map[string]db.TableAccess
}

func (d *declaring) note(ctx context.Context, sql string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := db.TableAccessOf(ctx, sql); ok {
		d.all[sql] = known
	}
}

// TraceQueryStart implements [pgx.QueryTracer].
func (d *declaring) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	d.note(ctx, data.SQL)
	return ctx
}

// TraceBatchStart implements [pgx.BatchTracer].
func (d *declaring) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		d.note(ctx, q.SQL)
	}
	return ctx
}

// A tracer of tests sees what every statement of a transaction declares, and what a list declares, also within one.
func TestTracersSeeTheTableAccess(t *testing.T) {
	t.Parallel()
	seen := &declaring{all: map[string]db.TableAccess{}}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 2, QueryTracer: seen})
	require.NoError(t, err)
	defer d.Close()
	company := uuid.New()
	list := func(ctx context.Context, q db.Querier, sql string) error {
		b := &pgx.Batch{}
		b.Queue(sql, company)
		return q.SendBatch(db.DeclareReads(ctx, q, b, []db.Table{counters, "companies"}), b).Close()
	}
	require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		tx.QueueRow(sqlAdd, company, "a", 1)
		tx.QueueRow(sqlAdd, company, "b", 1)
		tx.Queue(sqlMarkAll, company)
		tx.QueueRead(`SELECT 1`)
		if err := tx.QueryRow(ctx, sqlKind, company, "a").Scan(new(int64)); err != nil {
			return err
		}
		if _, err := tx.Write(ctx, sqlRemove, company, "a"); err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(`SELECT 2`)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		return list(ctx, tx, sqlKinds)
	}, db.Repeatable()))
	require.NoError(t, list(t.Context(), d, sqlCount))
	_, err = d.Write(t.Context(), sqlTake, company)
	require.NoError(t, err)
	require.NoError(t, d.QueryRow(t.Context(), `SELECT 3`).Scan(new(int)))

	write := db.TableAccess{Changes: []db.Table{counters}}
	read := db.TableAccess{Partial: true}
	listed := db.TableAccess{Reads: []db.Table{counters, "companies"}}
	require.Equal(t, map[string]db.TableAccess{
		"INSERT INTO counters (company_id, kind, n)\nVALUES ($1, $2, $3), ($4, $5, $6)": write,
		sqlMarkAll.SQL(): {Changes: []db.Table{db.TxMarkers}, Reads: []db.Table{counters}},
		`SELECT 1`:       read,
		sqlKind:          read,
		sqlRemove.SQL():  write,
		`SELECT 2`:       read,
		sqlKinds:         listed,
		sqlCount:         listed,
		sqlTake.SQL():    write,
	}, seen.all)
}

// Without such a tracer nothing is kept.
func TestNoTableAccessWithoutATracer(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 2})
	require.NoError(t, err)
	defer d.Close()
	b := &pgx.Batch{}
	b.Queue(`SELECT 1`)
	require.Equal(t, t.Context(), db.DeclareReads(t.Context(), d, b, []db.Table{counters}))
}
