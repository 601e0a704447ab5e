package outbox

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// BenchmarkRelay drains an outbox filled beforehand with 1 KB rows of 64 companies.
func BenchmarkRelay(b *testing.B) {
	const rows = 40_000
	for b.Loop() {
		b.StopTimer()
		g := setup(b)
		preload(g, rows)
		r, err := NewRelay(g.db, g.client(), RelayConfig{EventRetention: 30 * day, Node: "bench", stats: time.Hour})
		require.NoError(b, err)
		b.StartTimer()
		start := time.Now()
		stop := g.run(r)
		require.Eventually(b, func() bool {
			var left bool
			require.NoError(b, g.db.QueryRow(b.Context(), "SELECT EXISTS (SELECT 1 FROM outbox)").Scan(&left))
			return !left
		}, 2*time.Minute, 20*time.Millisecond)
		b.ReportMetric(rows/time.Since(start).Seconds(), "rows/s")
		b.StopTimer()
		stop()
		b.StartTimer()
	}
}

func preload(g *testKit, n int) {
	var companies []tenant.ID
	for range 64 {
		companies = append(companies, tenant.NewID())
	}
	payload := fmt.Appendf(nil, "%01000d", 0)
	base := time.Now().Add(-time.Minute).UnixMicro()
	_, err := g.db.Pool().CopyFrom(g.t.Context(), pgx.Identifier{"outbox"},
		[]string{"bucket", "pos", "id", "company_id", "topic", "key", "event", "agg_type", "agg_id", "agg_version", "payload", "traceparent", "tracestate", "created_at"},
		pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			c := companies[i%len(companies)]
			return []any{
				Bucket(c), base + int64(i), uuid.Must(uuid.NewV7()), c, topics.Events, c.String(), "order.updated", "order",
				uuid.New(), int64(1), payload, "", "", time.Now(),
			}, nil
		}))
	require.NoError(g.t, err)
}

// BenchmarkRelayLatency measures the time from the commit of one row to its acknowledgement on an idle system.
func BenchmarkRelayLatency(b *testing.B) {
	g := setup(b)
	acked := make(chan time.Time, 1)
	r, err := NewRelay(g.db, g.client(), RelayConfig{EventRetention: 30 * day, Node: "bench", stats: time.Hour, inject: failpoint.On(points{
		afterAck: func(context.Context) error { acked <- time.Now(); return nil },
	})})
	require.NoError(b, err)
	stop := g.run(r)
	require.Eventually(b, func() bool { return r.Owned() == Buckets }, eventually, time.Millisecond)
	c := company()
	var took []time.Duration
	for b.Loop() {
		m := message(uuid.New(), 1, nowMicro())
		require.NoError(b, g.db.RunTx(b.Context(), "bench", func(ctx context.Context, tx *db.Tx) error {
			return Append(ctx, tx, c, m)
		}))
		start := time.Now()
		took = append(took, (<-acked).Sub(start))
	}
	stop()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkRelaySteady measures the latency from commit to log while 16 writers of 200 companies commit single
// rows as fast as they can.
func BenchmarkRelaySteady(b *testing.B) {
	g := setup(b)
	var passes atomic.Int64
	r, err := NewRelay(g.db, g.client(), RelayConfig{EventRetention: 30 * day, Node: "bench", stats: time.Hour, inject: failpoint.On(points{
		afterAck: func(context.Context) error { passes.Add(1); return nil },
	})})
	require.NoError(b, err)
	g.run(r)
	var companies []tenant.ID
	for range 200 {
		companies = append(companies, tenant.NewID())
	}
	var rows atomic.Int64
	start := time.Now()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c := companies[rows.Add(1)%200]
			m := message(uuid.New(), 1, nowMicro())
			if err := g.db.RunTx(b.Context(), "bench", func(ctx context.Context, tx *db.Tx) error { return Append(ctx, tx, c, m) }, db.Repeatable()); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(rows.Load())/time.Since(start).Seconds(), "rows/s")
	g.drained()
	b.ReportMetric(float64(rows.Load())/time.Since(start).Seconds(), "drained-rows/s")
	b.ReportMetric(float64(rows.Load())/float64(passes.Load()), "rows/turn")
}
