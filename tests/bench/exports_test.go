package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// BenchmarkExports exports 1 M orders to a file, in each format, while nothing else runs.
//
//   - records/s: from the request until the job is done
//   - api-us, database-us: time of processors per record
//   - start-MB, middle-MB, end-MB: memory that the process holds at a tenth, at half and at the end
func BenchmarkExports(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	s := a.shop("Large")
	r.fill("orders", fillOrders, s.company, manyOrders)
	for _, format := range []string{"csv", "ndjson", "xlsx"} {
		b.Run(format, func(b *testing.B) {
			r.b, p.b = b, b
			for b.Loop() {
				p.export(r, a, s, format)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	r.b, p.b = b, b
}

// export exports all orders and reports what that took.
func (p *process) export(r *kit, a *api, s *shop, format string) {
	b := p.b
	start, own, database := time.Now(), p.cpu(), r.databaseCPU()
	status, answer, err := a.post(s.token, "/exports", uuid.NewString(), fmt.Appendf(nil, `{"resource":"orders","format":%q}`, format))
	require.NoError(b, err)
	require.Equal(b, fasthttp.StatusAccepted, status, "%s", answer)
	var job struct {
		ID, Status string
		Processed  int64
		Error      any
	}
	require.NoError(b, json.Unmarshal(answer, &job))
	seen := map[string]float64{}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for job.Status != "done" {
		<-tick.C
		answer, _ := a.get(s.token, "/jobs/"+job.ID)
		require.NoError(b, json.Unmarshal(answer, &job))
		require.NotEqual(b, "failed", job.Status, "%s", answer)
		for label, from := range map[string]int64{"start-MB": manyOrders / 10, "middle-MB": manyOrders / 2} {
			if seen[label] == 0 && job.Processed >= from {
				seen[label] = p.heldMB()
			}
		}
	}
	took := time.Since(start)
	seen["end-MB"] = p.heldMB()
	require.EqualValues(b, manyOrders, job.Processed)
	b.ReportMetric(manyOrders/took.Seconds(), "records/s")
	reportCPU(b, "api-us", p.cpu()-own, manyOrders)
	reportCPU(b, "database-us", r.databaseCPU()-database, manyOrders)
	for label, mb := range seen {
		b.ReportMetric(mb, label)
	}
}

// heldMB is the memory that the process holds now, in MiB.
func (p *process) heldMB() float64 {
	p.b.Helper()
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.PID()))
	require.NoError(p.b, err)
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	require.NoError(p.b, err)
	return float64(pages*os.Getpagesize()) / (1 << 20)
}
