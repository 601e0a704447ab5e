package db

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"
)

func TestOperationsAreFew(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		`SELECT 1`: "SELECT", "\n\tselect 1": "SELECT", `(SELECT 1) UNION SELECT 2`: "SELECT", `begin isolation level serializable`: "BEGIN",
		`commit`: "COMMIT", `SET LOCAL x = 1`: "SET", `SETTLE`: "OTHER", `-- note`: "OTHER", ``: "OTHER", `WITH a AS (SELECT 1) SELECT 2`: "WITH",
	} {
		require.Equal(t, want, operation(sql), sql)
	}
}

// BenchmarkOperationMetrics is what the measurement adds to a round trip.
func BenchmarkOperationMetrics(b *testing.B) {
	m := newMeasure(PostgreSQL)
	data := pgx.TraceQueryStartData{SQL: `INSERT INTO outbox (bucket, pos, id) VALUES ($1, $2, $3)`}
	b.Run("measured", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.TraceQueryEnd(m.TraceQueryStart(b.Context(), nil, data), nil, pgx.TraceQueryEndData{})
		}
	})
	t := m.with(noop.NewTracerProvider())
	b.Run("tracer only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			t.Tracer.TraceQueryEnd(t.Tracer.TraceQueryStart(b.Context(), nil, data), nil, pgx.TraceQueryEndData{})
		}
	})
}
