package bench

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Size of the search for free slots.
const (
	searchedResources = 20
	searchedDays      = 14
	searchedBookings  = 3_000 // that are tried; some meet others
	searchClients     = 2
	searches          = 600
)

// BenchmarkAvailability searches the free slots of 20 resources over 14 days, of which about a third are taken.
//
//   - p50-ms, p99-ms: of a search, from two connections
//   - slots: in an answer
func BenchmarkAvailability(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	s := a.shop("Salon")
	ids := make([]string, searchedResources)
	for i := range ids {
		var resource struct{ ID string }
		a.create(s.token, "/scheduling/resources", map[string]any{"type": "staff", "name": "Ann", "timeZone": "Europe/Berlin"}, &resource)
		ids[i] = resource.ID
	}
	first := time.Date(2040, 1, 2, 8, 0, 0, 0, time.UTC)
	for range searchedBookings {
		start := first.AddDate(0, 0, rand.IntN(searchedDays)).Add(time.Duration(rand.IntN(24)) * 30 * time.Minute)
		body, err := json.Marshal(map[string]any{
			"resourceId": ids[rand.IntN(len(ids))], "startAt": start, "durationMinutes": 30, "customerName": "Erika Example", "customerPhone": "+49 30 5550100",
		})
		require.NoError(b, err)
		_, _, err = a.post(s.token, "/scheduling/bookings", "", body)
		require.NoError(b, err)
	}
	path := "/scheduling/availability?dateFrom=2040-01-02&dateTo=2040-01-15&resourceIds=" + strings.Join(ids, ",")
	for b.Loop() {
		took := make([][]time.Duration, searchClients)
		slots := 0
		var wg sync.WaitGroup
		for i := range took {
			wg.Go(func() {
				for range searches / searchClients {
					start := time.Now()
					status, answer, err := a.send(fasthttp.MethodGet, s.token, path, "", nil)
					took[i] = append(took[i], time.Since(start))
					if err != nil || status != fasthttp.StatusOK {
						b.Errorf("search: %d %s %v", status, answer, err)
						return
					}
					if i == 0 {
						slots = strings.Count(string(answer), `"startAt"`)
					}
				}
			})
		}
		wg.Wait()
		var all []time.Duration
		for _, each := range took {
			all = append(all, each...)
		}
		b.ReportMetric(percentile(all, 50), "p50-ms")
		b.ReportMetric(percentile(all, 99), "p99-ms")
		b.ReportMetric(float64(slots), "slots")
	}
	b.ReportMetric(0, "ns/op")
	r.emptyOutbox()
}
