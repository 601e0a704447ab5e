package bench

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Size of the upsert benchmark.
const (
	upsertShops   = 50
	upsertRounds  = 12  // each arm begins in half of them
	upsertRecords = 600 // of one arm and round
)

// BenchmarkUpsert creates clients with an external id by POST, creates as many by PUT, and sends those again unchanged, in turns.
//
//   - created/POST: ratio of the processor time, of the process and the database together, that a client takes when PUT creates it
//     and when POST does; the median of twelve rounds
//   - same/POST: the same for a PUT that changes nothing
//   - µs/POST: that time for a POST
func BenchmarkUpsert(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	shops := a.shops(upsertShops)
	// used sends requests with the numbers from first on, and returns the microseconds that one takes.
	used := func(first, status int, send func(s *shop, n int) (int, []byte, error)) float64 {
		before := p.cpu() + r.databaseCPU()
		var next atomic.Int64
		var wg sync.WaitGroup
		for range orderClients {
			wg.Go(func() {
				for i := int(next.Add(1)) - 1; i < upsertRecords && !b.Failed(); i = int(next.Add(1)) - 1 {
					if got, answer, err := send(shops[i%len(shops)], first+i); err != nil || got != status {
						b.Errorf("client: %d %s %v", got, answer, err)
					}
				}
			})
		}
		wg.Wait()
		return float64((p.cpu() + r.databaseCPU() - before).Microseconds()) / upsertRecords
	}
	const fields = `"kind":"individual","displayName":"Erika Example","phone":"+49 30 5550100","email":"erika@example.com"`
	post := func(s *shop, n int) (int, []byte, error) {
		return a.post(s.token, "/clients", "", fmt.Appendf(nil, `{%s,"source":"posted","externalId":"%d"}`, fields, n))
	}
	put := func(s *shop, n int) (int, []byte, error) {
		return a.send(fasthttp.MethodPut, s.token, fmt.Sprintf("/clients/by-external-id/put/%d", n), "", []byte("{"+fields+"}"))
	}
	for b.Loop() {
		var created, same, posted []float64
		for round := range upsertRounds {
			first := round * upsertRecords
			arms := []func(){
				func() { posted = append(posted, used(first, fasthttp.StatusCreated, post)) },
				func() {
					created = append(created, used(first, fasthttp.StatusCreated, put))
					same = append(same, used(first, fasthttp.StatusOK, put))
				},
			}
			arms[round%2]()
			arms[(round+1)%2]()
			r.emptyOutbox()
		}
		require.Len(b, same, upsertRounds)
		b.ReportMetric(median(ratios(created, posted)), "created/POST")
		b.ReportMetric(median(ratios(same, posted)), "same/POST")
		b.ReportMetric(median(posted), "µs/POST")
	}
	b.ReportMetric(0, "ns/op")
}

func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}
