package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// manyRows is the size of the file of [BenchmarkImports], the largest that is taken.
const manyRows = 50_000

// BenchmarkImports imports a CSV file of 50 000 new products, while nothing else runs: first as a dry run, then for real, then again,
// when nothing differs.
//
//   - dry-rows/s, real-rows/s, again-rows/s: from the request until the job is done
//   - dry-api-us, dry-database-us and so on: time of processors per row
func BenchmarkImports(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	s := a.shops(1)[0]
	for round := 0; b.Loop(); round++ {
		var file strings.Builder
		file.WriteString("sku,name,price,cost,description,brand,unit\n")
		for i := range manyRows {
			fmt.Fprintf(&file, "I-%d-%d,Espresso %[2]d,18.90,9.00,dark,B,kg\n", round, i)
		}
		p.importFile(r, a, s, "dry", file.String(), "created")
		p.importFile(r, a, s, "real", file.String(), "created")
		r.emptyOutbox()
		p.importFile(r, a, s, "again", file.String(), "unchanged")
	}
	b.ReportMetric(0, "ns/op")
}

// importFile imports products and reports what that took; all rows must have the outcome.
func (p *process) importFile(r *kit, a *api, s *shop, arm, file, outcome string) {
	b := p.b
	start, own, database := time.Now(), p.cpu(), r.databaseCPU()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, fmt.Sprintf("%s/imports?resource=products&dryRun=%t", a.base, arm == "dry"), strings.NewReader(file))
	require.NoError(b, err)
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "text/csv")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b, err)
	defer resp.Body.Close()
	require.Equal(b, http.StatusAccepted, resp.StatusCode)
	var job struct {
		ID, Status string
		Summary    map[string]any
	}
	require.NoError(b, json.NewDecoder(resp.Body).Decode(&job))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for job.Status != "done" {
		<-tick.C
		answer, _ := a.get(s.token, "/jobs/"+job.ID)
		require.NoError(b, json.Unmarshal(answer, &job))
		require.NotEqual(b, "failed", job.Status, "%s", answer)
	}
	took := time.Since(start)
	require.EqualValues(b, manyRows, job.Summary[outcome], "%v", job.Summary)
	b.ReportMetric(manyRows/took.Seconds(), arm+"-rows/s")
	reportCPU(b, arm+"-api-us", p.cpu()-own, manyRows)
	reportCPU(b, arm+"-database-us", r.databaseCPU()-database, manyRows)
}
