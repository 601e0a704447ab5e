package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	orderClients = 64              // connections that place orders, each one after the other
	warmUp       = 2 * time.Second // before each arm
	armTime      = 4 * time.Second // of one arm; each runs twice, in turns
	armRounds    = 2
)

// BenchmarkOrders places orders over the API, and lets pgbench store the same rows by the same statements, in turns
// on one database. The relay does not run.
//
//   - orders/s: answered 201, by 64 clients that keep their connections
//   - pgbench-tx/s: by 32 clients with prepared statements
//   - ratio: of the two
//   - api-µs/order, database-µs/order: time of processors that one order takes of each
func BenchmarkOrders(b *testing.B) {
	for _, n := range []int{100, 1} {
		for _, keys := range []bool{false, true} {
			name := fmt.Sprintf("companies=%d", n)
			if keys {
				name += "/idempotent" // every request with a key of its own
			}
			b.Run(name, func(b *testing.B) { benchmarkOrders(b, n, keys) })
		}
	}
}

func benchmarkOrders(b *testing.B, companies int, keys bool) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	shops := a.shops(companies)
	script := newPGBench(r, a, shops[0], companies)
	for b.Loop() {
		var orders, transactions float64
		var api, database time.Duration
		var n int64
		for range armRounds {
			before, beforeDB := p.cpu(), r.databaseCPU()
			rate, placed := a.placeOrders(shops, keys)
			orders, n = orders+rate, n+placed
			api, database = api+p.cpu()-before, database+r.databaseCPU()-beforeDB
			r.emptyOutbox()
			transactions += script.run()
			r.emptyOutbox()
		}
		reportCPU(b, "api-µs/order", api, float64(n))
		reportCPU(b, "database-µs/order", database, float64(n))
		b.ReportMetric(orders/armRounds, "orders/s")
		b.ReportMetric(transactions/armRounds, "pgbench-tx/s")
		b.ReportMetric(orders/transactions, "ratio")
	}
	b.ReportMetric(0, "ns/op")
	r.countNumbers()
}

// placeOrders has the clients order as fast as they get answers, and returns orders per second after
// the warm-up, and all orders.
func (a *api) placeOrders(shops []*shop, keys bool) (rate float64, n int64) {
	a.r.b.Helper()
	var made, next atomic.Int64
	ctx, cancel := context.WithTimeout(a.r.b.Context(), warmUp+armTime)
	defer cancel()
	var wg sync.WaitGroup
	for range orderClients {
		wg.Go(func() {
			for ctx.Err() == nil {
				s := shops[int(next.Add(1))%len(shops)]
				key := ""
				if keys {
					key = uuid.NewString()
				}
				status, answer, err := a.post(s.token, "/orders", key, s.order)
				if err != nil || status != fasthttp.StatusCreated {
					a.r.b.Errorf("order: %d %s %v", status, answer, err)
					return
				}
				made.Add(1)
			}
		})
	}
	<-time.After(warmUp)
	before, start := made.Load(), time.Now()
	<-ctx.Done()
	rate = float64(made.Load()-before) / time.Since(start).Seconds()
	wg.Wait()
	return rate, made.Load()
}

// emptyOutbox removes what one arm leaves, so that the next one starts like the first.
func (r *kit) emptyOutbox() {
	r.b.Helper()
	_, err := r.db.Exec(r.b.Context(), `TRUNCATE outbox`)
	require.NoError(r.b, err)
}

// countNumbers makes sure that what was measured was done: every company's orders have the numbers 1, 2, 3 …
func (r *kit) countNumbers() {
	r.b.Helper()
	var gaps int
	err := r.db.QueryRow(r.b.Context(), `SELECT count(*) FROM (SELECT company_id, count(*) AS c, max(number) AS top FROM orders GROUP BY company_id) AS o
JOIN counters ON counters.company_id = o.company_id AND counters.kind = 'order' WHERE o.c <> o.top OR o.top <> counters.n`).Scan(&gaps)
	require.NoError(r.b, err)
	require.Zero(r.b, gaps, "companies whose numbers have gaps")
}
