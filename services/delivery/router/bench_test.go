package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
)

// BenchmarkRouter routes preloaded events of 50 companies that all their subscriptions match, one operation per event.
func BenchmarkRouter(b *testing.B) {
	for _, subscriptions := range []int{1, 20, 100} {
		b.Run(fmt.Sprintf("subscriptions=%d", subscriptions), func(b *testing.B) { benchmarkRouter(b, subscriptions) })
	}
}

func benchmarkRouter(b *testing.B, subscriptions int) {
	d := dbtest.OpenNew(b)
	k := dispatchtest.New(b, d)
	companies := make([]tenant.ID, 50)
	for i := range companies {
		of := *k
		companies[i] = tenant.NewID()
		of.Company = companies[i]
		for range subscriptions {
			of.Subscription()
		}
	}
	records := make([]*kgo.Record, b.N)
	for i := range records {
		records[i] = dispatchtest.NewEvent(companies[i%len(companies)], "order.created").Record(b)
	}
	k.Produce(records...)
	r, err := New(d, dispatchtest.Registry(), dispatchtest.Components{}, Config{Kafka: k.Kafka, TTL: dispatchtest.Policy().DeliveryTTL})
	require.NoError(b, err)
	b.ResetTimer()
	stop := k.Run(r.Run)
	require.Eventually(b, func() bool {
		var n int
		err := d.QueryRow(b.Context(), `SELECT count(*) FROM deliveries`).Scan(&n)
		return err == nil && n == b.N*subscriptions
	}, 2*time.Minute, 5*time.Millisecond)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(b.N*subscriptions)/b.Elapsed().Seconds(), "deliveries/s")
	stop()
}
