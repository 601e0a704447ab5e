package bench

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	manyOrders    = 1_000_000
	manyProducts  = 100_000
	neighbours    = 10_000 // other companies
	readsPerSec   = 100
	dearPerSec    = 20 // of what takes longer: jumps into the depth, searches in many records
	readFor       = 10 * time.Second
	pagesInARow   = 40
	deepPage      = 15_000
	catalogPulled = 200 // records of a page of a whole catalog
)

// BenchmarkLists reads pages of 50 from a company with 1 M orders and 100 k products over the API.
//
//   - all-first-ms: the very first page of all orders after the start, with total
//   - all-p50-ms, all-p99-ms: that page at 100 requests/s
//   - orders-p50-ms, orders-p99-ms: with two filters and total, at 100 requests/s, the filters in turns
//   - no-hit-p99-ms: filters without a hit, at the same rate
//   - search-p50-ms, search-p99-ms: products with search and total, at 100 requests/s, the texts in turns
//   - first-ms: median of the first page of orders, one after the other
//   - deep-x: pages from page 15 000 on in a row, against first-ms
//   - jump-cold-p50-ms, jump-cold-p99-ms: pages anywhere among all orders at 20 requests/s, from the start of another process on
//   - jump-p50-ms, jump-p99-ms: the same, later
//   - jump-total-ms: median of pages anywhere among the orders by their amount, one after the other: the slowest way to read
//   - found-p50-ms, found-p99-ms: orders with search and total at 20 requests/s, by number and by name, each text once
//   - by-total-ms, by-due-ms: first page in these orders
//   - pull-x: the last pages of a pull of all products by cursor, against its first ones
//   - companies-x: first-ms beside 10 000 other companies, against alone
//   - written-p50-ms, written-p99-ms: orders with two filters and total while an order is written 10 times a second
//   - all-written-p50-ms, all-written-p99-ms: all orders with total while that happens
func BenchmarkLists(b *testing.B) {
	r := newKit(b)
	a := r.startAPI()
	s := a.shop("Large")
	r.fill("orders", fillOrders, s.company, manyOrders)
	_, err := r.db.Exec(b.Context(), `INSERT INTO counters (company_id, kind, n) VALUES ($1, 'order', $2)`, s.company, manyOrders)
	require.NoError(b, err)
	r.fill("products", fillProducts, s.company, manyProducts)
	for b.Loop() {
		_, took := a.get(s.token, "/orders")
		b.ReportMetric(float64(took.Microseconds())/1000, "all-first-ms")
		a.reportRate("all-", s, func(int) string { return "/orders" })
		alone := a.firstPages(s)
		b.ReportMetric(alone, "first-ms")
		a.measureOrders(s)
		a.measureProducts(s)
		r.startAPI().measureJumps(s)
		r.fill("orders", fillNeighbours, neighbours)
		b.ReportMetric(a.firstPages(s)/alone, "companies-x")
	}
	b.ReportMetric(0, "ns/op")
}

// startAPI starts a process that serves the API.
func (r *kit) startAPI() *api {
	r.b.Helper()
	address, ops := freeAddress(r.b), freeAddress(r.b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(r.b), ","))
	p.answers("http://" + ops + "/readyz")
	return r.api(address)
}

// measureJumps reads pages anywhere, and searches, from a process that has served nothing yet.
func (a *api) measureJumps(s *shop) {
	b := a.r.b
	b.Helper()
	jump := func(i int) string { return fmt.Sprint("/orders?page=", 1+(i*7919+977)%(manyOrders/50)) }
	reportPercentiles(b, "jump-cold-", a.atRate(s, dearPerSec, readFor, jump))
	reportPercentiles(b, "jump-", a.atRate(s, dearPerSec, readFor, func(i int) string { return jump(i + 1000) }))
	b.ReportMetric(a.median(s, pagesInARow, func(i int) string { return jump(i) + "&sort=total" }), "jump-total-ms")
	reportPercentiles(b, "found-", a.atRate(s, dearPerSec, readFor, func(i int) string {
		if i%2 == 0 {
			return fmt.Sprint("/orders?search=", 100_000+i*4421)
		}
		return "/orders?search=" + url.QueryEscape(fmt.Sprint("customer ", 1000+i*7))
	}))
}

func (a *api) measureOrders(s *shop) {
	b := a.r.b
	b.Helper()
	a.reportRate("orders-", s, ordersFiltered())
	a.reportRate("no-hit-", s, func(i int) string {
		return fmt.Sprintf("/orders?status=new&assignedToId=00000000-0000-4000-8000-%012d", i%10)
	})
	first := a.firstPages(s)
	deep := a.median(s, pagesInARow, func(i int) string { return fmt.Sprint("/orders?page=", deepPage+i) })
	b.ReportMetric(deep/first, "deep-x")
	b.ReportMetric(a.median(s, pagesInARow, func(int) string { return "/orders?sort=total&order=desc" }), "by-total-ms")
	b.ReportMetric(a.median(s, pagesInARow, func(int) string { return "/orders?sort=dueAt&order=desc" }), "by-due-ms")
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		tick := time.NewTicker(time.Second / 10)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if status, answer, err := a.post(s.token, "/orders", "", s.order); err != nil || status != fasthttp.StatusCreated {
				b.Errorf("order: %d %s %v", status, answer, err)
				return
			}
		}
	})
	a.reportRate("written-", s, ordersFiltered())
	a.reportRate("all-written-", s, func(int) string { return "/orders" })
	close(stop)
	writer.Wait()
}

func ordersFiltered() func(i int) string {
	var pairs []string
	for _, status := range []string{"new", "confirmed", "in_progress", "ready"} {
		for _, payment := range []string{"unpaid", "partial", "paid", "unpaid,partial"} {
			pairs = append(pairs, "/orders?status="+status+"&paymentStatus="+payment)
		}
	}
	return func(i int) string { return pairs[i%len(pairs)] }
}

func (a *api) measureProducts(s *shop) {
	b := a.r.b
	b.Helper()
	a.reportRate("search-", s, func(i int) string {
		return "/catalog/products?search=" + url.QueryEscape(fmt.Sprintf("of %d", i%20*31))
	})
	var times []time.Duration
	cursor := ""
	for {
		path := fmt.Sprintf("/catalog/products?sort=name&pageSize=%d", catalogPulled)
		if cursor != "" {
			path += "&cursor=" + url.QueryEscape(cursor)
		}
		answer, took := a.get(s.token, path)
		var page struct{ NextCursor *string }
		require.NoError(b, json.Unmarshal(answer, &page))
		times = append(times, took)
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	require.GreaterOrEqual(b, len(times), manyProducts/catalogPulled)
	n := len(times) / 10
	b.ReportMetric(float64(middle(times[len(times)-n-1:len(times)-1]))/float64(middle(times[1:n+1])), "pull-x")
}

// firstPages is the median of first pages of orders, in milliseconds.
func (a *api) firstPages(s *shop) float64 {
	a.r.b.Helper()
	return a.median(s, pagesInARow, func(int) string { return "/orders?status=new" })
}

// median reads pages one after the other.
func (a *api) median(s *shop, n int, path func(i int) string) float64 {
	a.r.b.Helper()
	times := make([]time.Duration, n)
	for i := range n {
		_, times[i] = a.get(s.token, path(i))
	}
	return float64(middle(times).Microseconds()) / 1000
}

func middle(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// reportRate reads at a constant rate, whether answers come or not, after a round that warms up.
func (a *api) reportRate(label string, s *shop, path func(i int) string) {
	a.r.b.Helper()
	a.atRate(s, readsPerSec, 2*time.Second, path)
	reportPercentiles(a.r.b, label, a.atRate(s, readsPerSec, readFor, path))
}

func (a *api) atRate(s *shop, perSecond int, d time.Duration, path func(i int) string) []time.Duration {
	a.r.b.Helper()
	times := make([]time.Duration, int(d.Seconds())*perSecond)
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	var wg sync.WaitGroup
	for i := range times {
		<-tick.C
		wg.Go(func() { _, times[i] = a.get(s.token, path(i)) })
	}
	wg.Wait()
	return times
}

// get reads a path, which must be answered 200.
func (a *api) get(token, path string) (answer []byte, took time.Duration) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI(a.base + path)
	req.Header.Set("Authorization", "Bearer "+token)
	start := time.Now()
	err := a.client.Do(req, res)
	took = time.Since(start)
	if err != nil || res.StatusCode() != fasthttp.StatusOK {
		a.r.b.Errorf("%s: %d %s %v", path, res.StatusCode(), res.Body(), err)
	}
	return slices.Clone(res.Body()), took
}
