package db

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
)

// operationSeconds follows OpenTelemetry's conventions for database clients. The tracer library has the same metric, but
// for one database product only and with attributes allocated per call, so its metric is off.
var operationSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "db_client_operation_duration_seconds", Help: "Duration of statements and batches, including reading their results; error_type is the SQLSTATE, or timeout, canceled, connection.",
	Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
}, []string{"db_system_name", "db_operation_name", "error_type"})

const opBatch = "BATCH"

// operations are the statements that have their own label.
var operations = [...]string{"SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET", "WITH"}

// operation is the label of a statement: its first word, or OTHER.
func operation(sql string) string {
	sql = strings.TrimLeft(sql, " \n\t(")
	for _, op := range operations {
		if len(sql) >= len(op) && strings.EqualFold(sql[:len(op)], op) && (len(sql) == len(op) || !letter(sql[len(op)])) {
			return op
		}
	}
	return "OTHER"
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// measure records the duration of statements and batches.
type measure struct{ dialect Dialect }

// newMeasure creates the series of the usual operations before the first one runs.
func newMeasure(d Dialect) measure {
	for _, op := range []string{"SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", opBatch} {
		operationSeconds.WithLabelValues(string(d), op, "")
		operationSeconds.WithLabelValues(string(d), op, "40001")
	}
	return measure{d}
}

type startKey struct{}

type started struct {
	at time.Time
	op string
}

func begin(ctx context.Context, op string) context.Context {
	return context.WithValue(ctx, startKey{}, &started{time.Now(), op})
}

func (m measure) end(ctx context.Context, err error) {
	if s, ok := ctx.Value(startKey{}).(*started); ok {
		telemetry.Observe(ctx, operationSeconds.WithLabelValues(string(m.dialect), s.op, errorType(err)), time.Since(s.at).Seconds())
	}
}

// TraceQueryStart implements [pgx.QueryTracer].
func (m measure) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return begin(ctx, operation(data.SQL))
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (m measure) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	m.end(ctx, data.Err)
}

// TraceBatchStart implements [pgx.BatchTracer].
func (m measure) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return begin(ctx, opBatch)
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (measure) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (m measure) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	m.end(ctx, data.Err)
}

// measureAndTrace combines measure with the tracer library.
type measureAndTrace struct {
	*otelpgx.Tracer
	measure
}

func (m measure) with(provider trace.TracerProvider) measureAndTrace {
	return measureAndTrace{
		otelpgx.NewTracer(otelpgx.WithTracerProvider(provider), otelpgx.WithMeterProvider(noop.NewMeterProvider()), otelpgx.WithDisableSQLStatementInAttributes()),
		m,
	}
}

// TraceQueryStart implements [pgx.QueryTracer].
func (t measureAndTrace) TraceQueryStart(ctx context.Context, c *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return t.Tracer.TraceQueryStart(t.measure.TraceQueryStart(ctx, c, data), c, data)
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (t measureAndTrace) TraceQueryEnd(ctx context.Context, c *pgx.Conn, data pgx.TraceQueryEndData) {
	t.measure.TraceQueryEnd(ctx, c, data)
	t.Tracer.TraceQueryEnd(ctx, c, data)
}

// TraceBatchStart implements [pgx.BatchTracer].
func (t measureAndTrace) TraceBatchStart(ctx context.Context, c *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	return t.Tracer.TraceBatchStart(t.measure.TraceBatchStart(ctx, c, data), c, data)
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (t measureAndTrace) TraceBatchQuery(ctx context.Context, c *pgx.Conn, data pgx.TraceBatchQueryData) {
	t.Tracer.TraceBatchQuery(ctx, c, data)
}

// TraceBatchEnd implements [pgx.BatchTracer].
func (t measureAndTrace) TraceBatchEnd(ctx context.Context, c *pgx.Conn, data pgx.TraceBatchEndData) {
	t.measure.TraceBatchEnd(ctx, c, data)
	t.Tracer.TraceBatchEnd(ctx, c, data)
}

// errorType has few values: a SQLSTATE, timeout, canceled or connection.
func errorType(err error) string {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pg):
		return pg.Code
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "connection"
}
