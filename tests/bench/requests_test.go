package bench

import (
	"context"
	"slices"
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
	loggedTokens = 400             // so many that hardly any has more requests in a second than are kept
	loggedRounds = 12              // each arm begins in half of them
	loggedTime   = 2 * time.Second // of one arm
)

// BenchmarkRequestLog sends the same requests to an API process with the request log and to one without, in turns on one
// database: readings of a product, and orders.
//
//   - ratio: of the time of processors, of the process and the database together, that a request takes with and without the log;
//     the median of twelve pairs
//   - µs/request: that time with the log
//   - kept: share of the requests that was logged
func BenchmarkRequestLog(b *testing.B) {
	r := newKit(b)
	var arms []*logArm
	for _, flags := range [][]string{{"--request-log-quota=0"}, nil} {
		address, ops := freeAddress(b), freeAddress(b)
		p := r.start(append([]string{"api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ",")}, flags...)...)
		p.answers("http://" + ops + "/readyz")
		arms = append(arms, &logArm{process: p, api: r.api(address), ops: ops})
	}
	shops := arms[0].api.shops(loggedTokens)
	for name, send := range map[string]func(a *api, s *shop){
		"read": func(a *api, s *shop) { a.get(s.token, "/catalog/products?pageSize=1") },
		"order": func(a *api, s *shop) {
			status, answer, err := a.post(s.token, "/orders", "", s.order)
			if err != nil || status != fasthttp.StatusCreated {
				b.Errorf("order: %d %s %v", status, answer, err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var ratios []float64
				var total, n float64
				kept := r.metric(arms[1].ops, "tradegrid_request_log_written_total")
				for round := range loggedRounds {
					var each [2]float64 // microseconds
					for turn := range arms {
						i := (round + turn) % 2
						before := arms[i].process.cpu() + r.databaseCPU()
						done := float64(arms[i].load(b, shops, send))
						used := float64((arms[i].process.cpu() + r.databaseCPU() - before).Microseconds())
						if each[i] = used / done; i == 1 {
							total, n = total+used, n+done
						}
					}
					ratios = append(ratios, each[1]/each[0])
				}
				slices.Sort(ratios)
				b.ReportMetric((ratios[loggedRounds/2-1]+ratios[loggedRounds/2])/2, "ratio")
				b.ReportMetric(total/n, "µs/request")
				b.ReportMetric((r.metric(arms[1].ops, "tradegrid_request_log_written_total")-kept)/n, "kept")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// logArm is an API process, with the request log or without.
type logArm struct {
	process *process
	api     *api
	ops     string
}

// load sends requests of all shops in turn for some time and returns how many were answered.
func (arm *logArm) load(b *testing.B, shops []*shop, send func(a *api, s *shop)) int64 {
	b.Helper()
	var next, done atomic.Int64
	ctx, cancel := context.WithTimeout(b.Context(), loggedTime)
	defer cancel()
	var wg sync.WaitGroup
	for range orderClients {
		wg.Go(func() {
			for ctx.Err() == nil && !b.Failed() {
				send(arm.api, shops[int(next.Add(1))%len(shops)])
				done.Add(1)
			}
		})
	}
	wg.Wait()
	<-time.After(1500 * time.Millisecond) // what is logged is written a second later
	require.Positive(b, done.Load())
	return done.Load()
}
