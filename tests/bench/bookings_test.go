package bench

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	bookingClients = 32              // connections that book, each one after the other
	rivals         = 4               // bookings that want the same slot
	raceTime       = 5 * time.Second // of one race
)

// BenchmarkBookings has clients race for the slots of one resource with one place: each slot is wanted several times.
//
//   - decisions/s: answered 201 or 409 BOOKING_SLOT_TAKEN
//   - bookings/s: answered 201
func BenchmarkBookings(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	s := a.shop("Salon")
	var hours []map[string]any
	for day := range 7 {
		hours = append(hours, map[string]any{"weekday": day + 1, "from": "00:00", "to": "24:00"})
	}
	for b.Loop() {
		var resource struct{ ID string }
		a.create(s.token, "/scheduling/resources", map[string]any{"type": "staff", "name": "Ann", "workingHours": hours}, &resource)
		decisions, bookings := a.race(s, resource.ID)
		b.ReportMetric(decisions, "decisions/s")
		b.ReportMetric(bookings, "bookings/s")
		r.emptyOutbox()
	}
	b.ReportMetric(0, "ns/op")
	r.countBookings()
}

// race has the clients book for some time, and returns decisions and bookings per second.
func (a *api) race(s *shop, resource string) (decisions, bookings float64) {
	a.r.b.Helper()
	var next, made, refused atomic.Int64
	begin := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	start := time.Now()
	var wg sync.WaitGroup
	for range bookingClients {
		wg.Go(func() {
			for time.Since(start) < raceTime {
				slot := begin.Add(time.Duration((next.Add(1)-1)/rivals) * 30 * time.Minute)
				body, err := json.Marshal(map[string]any{
					"resourceId": resource, "startAt": slot, "durationMinutes": 30, "customerName": "Erika Example", "customerPhone": "+49 30 5550100",
				})
				if err != nil {
					a.r.b.Error(err)
					return
				}
				switch status, answer, err := a.post(s.token, "/scheduling/bookings", "", body); {
				case err == nil && status == fasthttp.StatusCreated:
					made.Add(1)
				case err == nil && status == fasthttp.StatusConflict && strings.Contains(string(answer), "BOOKING_SLOT_TAKEN"):
					refused.Add(1)
				default:
					a.r.b.Errorf("booking: %d %s %v", status, answer, err)
					return
				}
			}
		})
	}
	wg.Wait()
	seconds := time.Since(start).Seconds()
	return float64(made.Load()+refused.Load()) / seconds, float64(made.Load()) / seconds
}

// countBookings makes sure that no slot was given twice, and that the bookings have the numbers 1, 2, 3 …
func (r *kit) countBookings() {
	r.b.Helper()
	var twice, gaps int
	err := r.db.QueryRow(r.b.Context(), `SELECT (SELECT count(*) FROM (SELECT 1 FROM bookings GROUP BY company_id, resource_id, start_at HAVING count(*) > 1) AS t),
(SELECT count(*) FROM (SELECT company_id, count(*) AS c, max(number) AS top FROM bookings GROUP BY company_id) AS b WHERE b.c <> b.top)`).Scan(&twice, &gaps)
	require.NoError(r.b, err)
	require.Zero(r.b, twice, "slots that were given twice")
	require.Zero(r.b, gaps, "companies whose numbers have gaps")
}
