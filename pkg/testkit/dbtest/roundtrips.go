package dbtest

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// RoundTrips is a [db.Config.QueryTracer] that counts what a pool sends to the database: statements and batches, each with an answer
// that somebody waits for.
type RoundTrips struct{ n atomic.Int64 }

// Of runs something and returns how many round trips were made meanwhile.
func (r *RoundTrips) Of(run func()) int64 {
	before := r.n.Load()
	run()
	return r.n.Load() - before
}

// TraceQueryStart implements [pgx.QueryTracer].
func (r *RoundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.n.Add(1)
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (*RoundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (r *RoundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.n.Add(1)
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (*RoundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (*RoundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
