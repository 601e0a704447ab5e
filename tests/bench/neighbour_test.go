package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Load of the benchmark of neighbours.
const (
	neighbourRounds  = 8
	neighbourFor     = 3 * time.Second // of each half of a round
	neighbourRate    = 40              // requests a second of the quiet company: orders and lists in turns
	neighbourClients = 40              // of the loud one, each with a batch of about 10 MiB all the time
	neighbourItems   = 200
	neighbourLine    = 125 << 20 // bytes a second that all of them can send: about a gigabit
	neighbourPart    = 64 << 10
)

// BenchmarkNeighbour places orders and reads lists for one company at a constant rate, in turns alone and beside a company whose
// token sends 40 batches of 10 MiB at once, again after the time in Retry-After if one is refused. Its clients share a line of a
// gigabit: without one, it would be measured how fast the machine copies.
//
//   - alone-…, beside-…: median and p99 of orders and of lists
//   - orders-x, lists-x: p99 beside the batches, against alone, in the same run
//   - refused: requests of the quiet company that were not answered with success
//   - batches-made, batches-refused: what became of the batches
//   - peak-MB: the most memory that the API held; held-2s-MB, held-20s-MB: what it held so long after the last batch
func BenchmarkNeighbour(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := &largeAPI{r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ",")), r, ops}
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	quiet, loud := a.shop("Quiet"), &loudCompany{api: a, shop: a.shop("Loud"), body: largeBatchBody(b)}
	for b.Loop() {
		var alone, beside neighbourTimes
		p.resetPeak()
		a.steady(quiet, time.Second, &neighbourTimes{}) // warms up
		for range neighbourRounds {
			a.steady(quiet, neighbourFor, &alone)
			stop := loud.send(b.Context())
			a.steady(quiet, neighbourFor, &beside)
			stop()
		}
		b.ReportMetric(p.peakMB(), "peak-MB")
		time.Sleep(2 * time.Second)
		b.ReportMetric(p.heldMB(), "held-2s-MB")
		time.Sleep(18 * time.Second)
		b.ReportMetric(p.heldMB(), "held-20s-MB")
		b.ReportMetric(percentile(beside.orders, 99)/percentile(alone.orders, 99), "orders-x")
		b.ReportMetric(percentile(beside.lists, 99)/percentile(alone.lists, 99), "lists-x")
		for label, times := range map[string]*neighbourTimes{"alone-": &alone, "beside-": &beside} {
			reportPercentiles(b, label+"orders-", times.orders)
			reportPercentiles(b, label+"lists-", times.lists)
		}
		b.ReportMetric(float64(alone.refused+beside.refused), "refused")
		b.ReportMetric(float64(loud.made.Load()), "batches-made")
		b.ReportMetric(float64(loud.refused.Load()), "batches-refused")
	}
	b.ReportMetric(0, "ns/op")
}

// neighbourTimes are the times of the quiet company.
type neighbourTimes struct {
	mu            sync.Mutex
	orders, lists []time.Duration
	refused       int
}

// steady places orders and reads lists at a constant rate, whether answers come or not.
func (a *api) steady(s *shop, d time.Duration, into *neighbourTimes) {
	tick := time.NewTicker(time.Second / neighbourRate)
	defer tick.Stop()
	var wg sync.WaitGroup
	for i := range int(d.Seconds() * neighbourRate) {
		<-tick.C
		wg.Go(func() {
			began, want := time.Now(), fasthttp.StatusOK
			var status int
			var err error
			if i%2 == 0 {
				want = fasthttp.StatusCreated
				status, _, err = a.post(s.token, "/orders", uuid.NewString(), s.order)
			} else {
				status, _, err = a.send(fasthttp.MethodGet, s.token, "/orders?status=new&pageSize=20", "", nil)
			}
			took := time.Since(began)
			into.mu.Lock()
			defer into.mu.Unlock()
			if err != nil || status != want {
				into.refused++
			}
			if i%2 == 0 {
				into.orders = append(into.orders, took)
			} else {
				into.lists = append(into.lists, took)
			}
		})
	}
	wg.Wait()
}

// loudCompany sends large batches.
type loudCompany struct {
	api           *api
	shop          *shop
	body          []byte
	made, refused atomic.Int64
}

// send has all clients send batches until stop is called, which waits for those under way.
func (l *loudCompany) send(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	line := rate.NewLimiter(neighbourLine, neighbourPart)
	dial := func(addr string) (net.Conn, error) {
		c, err := fasthttp.Dial(addr)
		return lineConn{c, line}, err //nolint:wrapcheck // of the client
	}
	client := &fasthttp.HostClient{Addr: l.api.client.Addr, Dial: dial, MaxConns: neighbourClients, RetryIfErr: func(*fasthttp.Request, int, error) (resetTimeout, retry bool) { return false, false }}
	var wg sync.WaitGroup
	for range neighbourClients {
		wg.Go(func() {
			for ctx.Err() == nil {
				made, after := l.batch(client)
				if made {
					l.made.Add(1)
					continue
				}
				l.refused.Add(1)
				select {
				case <-ctx.Done():
				case <-time.After(after):
				}
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// lineConn sends over a line that others use, too.
type lineConn struct {
	net.Conn
	line *rate.Limiter
}

// Write implements [io.Writer].
func (c lineConn) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, neighbourPart) {
		if err := c.line.WaitN(context.Background(), len(part)); err != nil {
			return n, err //nolint:wrapcheck // never: a part fits the burst
		}
		sent, err := c.Conn.Write(part)
		if n += sent; err != nil {
			return n, err //nolint:wrapcheck // of the connection
		}
	}
	return n, nil
}

// batch sends a batch. If it is refused, it returns when to send it again: after the time in Retry-After, or a second if the connection
// was closed while the client was still sending.
func (l *loudCompany) batch(client *fasthttp.HostClient) (made bool, again time.Duration) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.SetRequestURI(l.api.base + "/catalog/products/batch")
	req.Header.Set("Authorization", "Bearer "+l.shop.token)
	req.Header.Set("X-Idempotency-Key", uuid.NewString())
	req.Header.SetContentType("application/json")
	req.SetBodyRaw(l.body)
	if err := client.Do(req, res); err != nil {
		return false, time.Second
	}
	seconds, _ := strconv.Atoi(string(res.Header.Peek("Retry-After")))
	return res.StatusCode() == fasthttp.StatusOK, time.Duration(seconds) * time.Second
}

// largeBatchBody is a batch of products with long texts in many languages, of 10 MiB in all.
func largeBatchBody(b *testing.B) []byte {
	b.Helper()
	texts := map[string]string{}
	for _, locale := range strings.Fields("de fr it es pt nl da sv nb fi pl cs sk hu ro bg el tr uk ru lt lv et sl hr") {
		texts[locale] = strings.Repeat("Espresso beans. ", 128)
	}
	items := make([]map[string]any, neighbourItems)
	for i := range items {
		sku := fmt.Sprint("LOUD-", i)
		items[i] = map[string]any{"op": "upsert", "sku": sku, "body": map[string]any{"name": sku, "price": i, "descriptionI18n": texts}}
	}
	body, err := json.Marshal(map[string]any{"items": items})
	require.NoError(b, err)
	require.Less(b, len(body), 10<<20)
	return body
}
