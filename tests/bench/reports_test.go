package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// ofOneDay gives a company the orders of [fillOrders] within the last hour.
var ofOneDay = strings.ReplaceAll(fillOrders, "interval '30 seconds'", "interval '0.003 seconds'")

// BenchmarkReports reads the report of orders by day, status, payment status and channel over the API.
//
//   - year-first-ms: of the last 366 days of a company with 1 M orders in 347 days, when nothing is kept
//   - year-p50-ms, year-max-ms: the same afterwards, one after the other; days-p50-ms, days-max-ms: by day only
//   - day-first-ms, day-p50-ms, day-max-ms: of yesterday and today, of a company with 1 M orders in the last hour, one after the other
//   - changed-p50-ms: of the year, after a change of an order of another day each time, one after the other
func BenchmarkReports(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	s, busy := a.shop("Large"), a.shop("Busy")
	r.fill("orders", fillOrders, s.company, manyOrders)
	r.fill("orders", ofOneDay, busy.company, manyOrders)
	year, day := reportOfDays(365), reportOfDays(1)
	for b.Loop() {
		_, err := r.db.Exec(b.Context(), `DELETE FROM day_sums`)
		require.NoError(b, err)
		_, took := a.get(s.token, year)
		b.ReportMetric(float64(took.Microseconds())/1000, "year-first-ms")
		var kept int
		require.NoError(b, r.db.QueryRow(b.Context(), `SELECT count(*) FROM day_sums`).Scan(&kept))
		require.Greater(b, kept, 340, "the sums of days that are over are kept")
		a.oneByOne(s, "year", year)
		a.oneByOne(s, "days", strings.Replace(year, "day,status,paymentStatus,channel", "day", 1))
		var times []time.Duration
		for i := range 20 {
			_, err := r.db.Exec(b.Context(), `INSERT INTO day_changes (company_id, report, day, id, n) VALUES ($1, 'orders', $2, gen_random_uuid(), 1)`,
				s.company, time.Now().UTC().AddDate(0, 0, -10*i-3).Truncate(24*time.Hour))
			require.NoError(b, err)
			_, took := a.get(s.token, year)
			times = append(times, took)
		}
		b.ReportMetric(float64(middle(times).Microseconds())/1000, "changed-p50-ms")
		_, took = a.get(busy.token, day)
		b.ReportMetric(float64(took.Microseconds())/1000, "day-first-ms")
		a.oneByOne(busy, "day", day)
	}
	b.ReportMetric(0, "ns/op")
}

// oneByOne reads a report twenty times, one after the other.
func (a *api) oneByOne(s *shop, label, path string) {
	a.r.b.Helper()
	var times []time.Duration
	for range 20 {
		_, took := a.get(s.token, path)
		times = append(times, took)
	}
	a.r.b.Log(label, times)
	a.r.b.ReportMetric(percentile(times, 50), label+"-p50-ms")
	a.r.b.ReportMetric(percentile(times, 99), label+"-max-ms")
}

// reportOfDays is the path of the report of the days up to today.
func reportOfDays(before int) string {
	today := time.Now().UTC()
	return fmt.Sprintf("/reports/orders?groupBy=day,status,paymentStatus,channel&from=%s&to=%s", today.AddDate(0, 0, -before).Format(time.DateOnly), today.Format(time.DateOnly))
}
