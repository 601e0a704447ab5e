package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Statements, batches and failures are measured, and traced as before.
func TestStatementsAreMeasured(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	for name, provider := range map[string]*sdktrace.TracerProvider{
		"traced": sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)), "not traced": nil,
	} {
		cfg := db.Config{URL: dbtest.URL(t)}
		if provider != nil {
			cfg.Tracer = provider
		}
		d, err := db.Open(t.Context(), cfg)
		require.NoError(t, err, name)
		t.Cleanup(d.Close)
		measured := func(op, failure string) float64 {
			return dbtest.Series(t, db.Metrics(), "db_client_operation_duration_seconds",
				"db_system_name", string(d.Dialect()), "db_operation_name", op, "error_type", failure)
		}
		selects, failed, batches, late := measured("SELECT", ""), measured("SELECT", "22012"), measured("BATCH", ""), measured("SELECT", "timeout")
		ctx := t.Context()
		if provider != nil { // what has no parent is not traced
			parent, span := provider.Tracer("test").Start(ctx, "request")
			defer span.End()
			ctx = parent
		}
		var n int
		require.NoError(t, d.QueryRow(ctx, `SELECT 1`).Scan(&n))
		require.Error(t, d.QueryRow(ctx, `SELECT 1 / $1::INT8`, 0).Scan(&n))
		b := &pgx.Batch{}
		b.Queue(`SELECT 1`)
		require.NoError(t, d.SendBatch(ctx, b).Close())
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		require.Error(t, d.QueryRow(short, `SELECT pg_sleep(20)`).Scan(&n))
		cancel()
		require.GreaterOrEqual(t, measured("SELECT", "")-selects, 1.0, name)
		require.GreaterOrEqual(t, measured("SELECT", "22012")-failed, 1.0, name)
		require.GreaterOrEqual(t, measured("BATCH", "")-batches, 1.0, name)
		require.GreaterOrEqual(t, measured("SELECT", "timeout")-late, 1.0, name)
		require.Zero(t, dbtest.Series(t, db.Metrics(), "db_client_operation_duration_seconds", "db_system_name", ""), "each has its product")
	}
	require.NotEmpty(t, spans.Ended())
}
