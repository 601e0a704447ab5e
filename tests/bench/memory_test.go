package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	largeShops    = 8
	largePages    = 5   // that each client reads
	largeProducts = 300 // of half a megabyte
	largeHeld     = 2 * time.Second
)

// BenchmarkMemory reads what takes most memory: pages of twelve orders whose lines are as large as they may be, by one and by
// several clients at once, and an export of products of half a megabyte.
//
//   - n-peak-MB: the most memory that the API held while n clients read, each in turn, those of eight companies
//   - n-held-MB: what it held 2 s later
//   - n-ok, n-refused: pages that were answered, and 503
//   - one-…: 16 clients of one company
//   - unread-…: 64 clients of eight companies that ask for a page and do not read it
//   - …-heap-MB: what of the memory held was in use by the program
//   - export-peak-MB, export-held-MB: the same while the products are exported
func BenchmarkMemory(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := &largeAPI{r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ",")), r, ops}
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	shops := make([]*shop, largeShops)
	for i := range shops {
		shops[i] = a.shop(fmt.Sprint("Large ", i))
		a.largeOrders(shops[i])
	}
	for b.Loop() {
		for _, n := range []int{1, 4, 16} {
			p.largePages(a, fmt.Sprint(n), n, shops)
		}
		p.largePages(a, "one", 16, shops[:1])
		p.unreadPages(address, shops)
		a.largeProducts(shops[0])
		p.resetPeak()
		p.exportAll(a, shops[0], "products", largeProducts)
		b.ReportMetric(p.peakMB(), "export-peak-MB")
		time.Sleep(largeHeld)
		p.reportHeld("export")
	}
	b.ReportMetric(0, "ns/op")
}

// largeAPI is an API whose memory is measured.
type largeAPI struct {
	*process
	kit *kit
	ops string
}

// largeOrders places twelve orders with lines of about 0.7 MB as JSON.
func (a *api) largeOrders(s *shop) {
	a.r.b.Helper()
	lines := make([]map[string]any, 440)
	for i := range lines {
		lines[i] = map[string]any{"kind": "custom", "name": strings.Repeat("\U0001F600", 255), "unitPrice": 1}
	}
	body, err := json.Marshal(map[string]any{"items": lines})
	require.NoError(a.r.b, err)
	for range 12 {
		status, answer, err := a.post(s.token, "/orders", uuid.NewString(), body)
		require.NoError(a.r.b, err)
		require.Equal(a.r.b, fasthttp.StatusCreated, status, "%.500s", answer)
	}
}

// largeProducts makes products with long texts in many languages.
func (a *api) largeProducts(s *shop) {
	a.r.b.Helper()
	texts := map[string]string{}
	for _, locale := range strings.Fields("de fr it es pt nl da sv nb fi pl cs sk hu ro bg el tr uk ru lt lv et sl hr") {
		texts[locale] = strings.Repeat("x", 20_000)
	}
	for i := range largeProducts {
		body, err := json.Marshal(map[string]any{"name": fmt.Sprint("Large ", i), "price": 1, "descriptionI18n": texts})
		require.NoError(a.r.b, err)
		status, answer, err := a.post(s.token, "/catalog/products", uuid.NewString(), body)
		require.NoError(a.r.b, err)
		require.Equal(a.r.b, fasthttp.StatusCreated, status, "%.500s", answer)
	}
}

// largePages has n clients read pages of large orders at once.
func (p *largeAPI) largePages(a *api, label string, n int, shops []*shop) {
	p.b.Helper()
	p.resetPeak()
	var ok, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for range largePages {
				switch status := a.page(shops[i%len(shops)], "/orders?include=lines&pageSize=12"); status {
				case fasthttp.StatusOK:
					ok.Add(1)
				case fasthttp.StatusServiceUnavailable:
					refused.Add(1)
				default:
					p.b.Errorf("status %d", status)
				}
			}
		})
	}
	wg.Wait()
	p.b.ReportMetric(p.peakMB(), label+"-peak-MB")
	time.Sleep(largeHeld)
	p.reportHeld(label)
	p.b.ReportMetric(float64(ok.Load()), label+"-ok")
	p.b.ReportMetric(float64(refused.Load()), label+"-refused")
}

// unreadPages has clients ask for pages of large orders, and read no more than the beginning of each.
func (p *largeAPI) unreadPages(address string, shops []*shop) {
	p.b.Helper()
	p.resetPeak()
	var ok, refused atomic.Int64
	var wg sync.WaitGroup
	done := make(chan struct{})
	for i := range 64 {
		wg.Go(func() {
			c, err := net.Dial("tcp", address)
			if err != nil {
				p.b.Error(err)
				return
			}
			defer c.Close()
			fmt.Fprintf(c, "GET %s/orders?include=lines&pageSize=12 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", httpapi.BasePath, shops[i%len(shops)].token)
			status := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(c, status); err != nil {
				p.b.Error(err)
			}
			if string(status) == "HTTP/1.1 200" {
				ok.Add(1)
			} else {
				refused.Add(1)
			}
			<-done
		})
	}
	time.Sleep(5 * time.Second)
	p.b.ReportMetric(p.peakMB(), "unread-peak-MB")
	p.reportHeld("unread")
	close(done)
	wg.Wait()
	p.b.ReportMetric(float64(ok.Load()), "unread-ok")
	p.b.ReportMetric(float64(refused.Load()), "unread-refused")
}

// reportHeld reports what the process holds now.
func (p *largeAPI) reportHeld(label string) {
	p.b.Helper()
	p.b.ReportMetric(p.heldMB(), label+"-held-MB")
	p.b.ReportMetric(p.kit.metric(p.ops, "go_memstats_heap_inuse_bytes")/(1<<20), label+"-heap-MB")
}

// page reads a page and returns its status.
func (a *api) page(s *shop, path string) int {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI(a.base + path)
	req.Header.Set("Authorization", "Bearer "+s.token)
	if err := fasthttp.DoTimeout(req, res, time.Minute); err != nil {
		return 0
	}
	return res.StatusCode()
}

// exportAll exports a list of n records.
func (p *largeAPI) exportAll(a *api, s *shop, resource string, n int64) {
	p.b.Helper()
	status, answer, err := a.post(s.token, "/exports", uuid.NewString(), fmt.Appendf(nil, `{"resource":%q}`, resource))
	require.NoError(p.b, err)
	require.Equal(p.b, fasthttp.StatusAccepted, status, "%s", answer)
	var job struct {
		ID, Status string
		Processed  int64
	}
	require.NoError(p.b, json.Unmarshal(answer, &job))
	for job.Status != "done" {
		time.Sleep(100 * time.Millisecond)
		answer, _ := a.get(s.token, "/jobs/"+job.ID)
		require.NoError(p.b, json.Unmarshal(answer, &job))
		require.NotEqual(p.b, "failed", job.Status, "%s", answer)
	}
	require.GreaterOrEqual(p.b, job.Processed, n)
}

// resetPeak has [process.peakMB] begin with what the process holds now.
func (p *largeAPI) resetPeak() {
	p.b.Helper()
	require.NoError(p.b, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0))
}
