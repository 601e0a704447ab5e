package db

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
)

// waitingConn is a connection to the database. Those who wait for its answers leave their thread meanwhile, if they are measured.
type waitingConn struct{ net.Conn }

// Read implements [io.Reader].
func (c waitingConn) Read(p []byte) (int, error) {
	defer cputime.Wait()()
	return c.Conn.Read(p) //nolint:wrapcheck // the driver inspects its type
}

type resumeKey struct{}

// TraceAcquireStart implements [pgxpool.AcquireTracer]: so do those who wait for a connection.
func (measure) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	return context.WithValue(ctx, resumeKey{}, cputime.Wait())
}

// TraceAcquireEnd implements [pgxpool.AcquireTracer].
func (measure) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireEndData) {
	if resume, ok := ctx.Value(resumeKey{}).(func()); ok {
		resume()
	}
}

// TraceAcquireStart implements [pgxpool.AcquireTracer].
func (t measureAndTrace) TraceAcquireStart(ctx context.Context, p *pgxpool.Pool, data pgxpool.TraceAcquireStartData) context.Context {
	return t.measure.TraceAcquireStart(t.Tracer.TraceAcquireStart(ctx, p, data), p, data)
}

// TraceAcquireEnd implements [pgxpool.AcquireTracer].
func (t measureAndTrace) TraceAcquireEnd(ctx context.Context, p *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	t.measure.TraceAcquireEnd(ctx, p, data)
	t.Tracer.TraceAcquireEnd(ctx, p, data)
}
