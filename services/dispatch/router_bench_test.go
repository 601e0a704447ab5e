package dispatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// BenchmarkRouter routes preloaded events of 50 companies with one subscription each, one operation per event.
func BenchmarkRouter(b *testing.B) {
	d := dbtest.OpenNew(b)
	cfg := kafka.Config{Brokers: dbtest.Broker(b), ClientID: "bench"}
	client, err := kafka.NewClient(cfg)
	require.NoError(b, err)
	b.Cleanup(client.Close)
	companies := make([]tenant.ID, 50)
	for i := range companies {
		companies[i] = tenant.NewID()
		_, err := d.Exec(b.Context(), sqlTestSubscription, companies[i], tenant.NewID(), "https://receiver.example/", webhook.NewSecret(), time.Now().UTC())
		require.NoError(b, err)
	}
	_, err = d.Exec(b.Context(), `UPDATE webhook_subscriptions SET read_scopes = ARRAY['*:read'] WHERE company_id IS NOT NULL`)
	require.NoError(b, err)
	records := make([]*kgo.Record, b.N)
	for i := range records {
		records[i] = newTestEvent(companies[i%len(companies)], "order.created").record(b)
	}
	require.NoError(b, client.ProduceSync(b.Context(), records...).FirstErr())
	r, err := NewRouter(d, testRegistry(), testModules, RouterConfig{Kafka: cfg})
	require.NoError(b, err)
	p := &pipe{db: d}
	b.ResetTimer()
	stop := p.runFor(b, r.Run)
	require.Eventually(b, func() bool {
		var n int
		err := d.QueryRow(b.Context(), `SELECT count(*) FROM deliveries`).Scan(&n)
		return err == nil && n == b.N
	}, 2*time.Minute, 5*time.Millisecond)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	stop()
}
