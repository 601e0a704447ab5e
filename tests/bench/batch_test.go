package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Size of the batch benchmark.
const (
	batchRounds   = 6
	batchProducts = 1000 // of one arm and round
	batchInOne    = 200  // of a batch that is made in its request
)

// BenchmarkBatch creates 1 000 products by upsert over one connection, in turns: by a request for each, by batches of 200, and by one
// batch of 1 000, which is a job; then it sends them again unchanged.
//
//   - single/batch: ratio of the times of the first two; the median of the rounds
//   - single/job: of the first and the last, from the request to the end of the job
//   - single-again/batch-again: as the first, for products that are there and unchanged
//   - ms/single, ms/batch, ms/job: the times, for all products
func BenchmarkBatch(b *testing.B) {
	r := newKit(b)
	address, ops := freeAddress(b), freeAddress(b)
	p := r.start("api", "--listen", address, "--ops-listen", ops, "--database-url", r.url, "--kafka-brokers", strings.Join(dbtest.Broker(b), ","))
	p.answers("http://" + ops + "/readyz")
	a := r.api(address)
	s := a.shops(1)[0]
	const fields = `"name":"Espresso","price":1890,"cost":900,"description":"dark","brand":"B","unit":"kg"`
	body := func(arm string, first, n int) []byte {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf(`{"op":"upsert","sku":"%s-%d","body":{%s}}`, arm, first+i, fields))
		}
		return []byte(`{"items":[` + strings.Join(items, ",") + `]}`)
	}
	send := func(arm string, first, n, status int) []byte {
		got, answer, err := a.post(s.token, "/catalog/products/batch", "", body(arm, first, n))
		require.NoError(b, err)
		require.Equal(b, status, got, "%s", answer)
		require.NotContains(b, string(answer), `"code"`)
		return answer
	}
	timed := func(fn func()) float64 {
		began := time.Now()
		fn()
		return float64(time.Since(began).Microseconds()) / 1000
	}
	inBatches := func(arm string, first, size int) func() {
		return func() {
			for i := 0; i < batchProducts; i += size {
				send(arm, first+i, size, fasthttp.StatusOK)
			}
		}
	}
	asJob := func(first int) func() {
		return func() {
			var started struct{ ID string }
			require.NoError(b, json.Unmarshal(send("J", first, batchProducts, fasthttp.StatusAccepted), &started))
			require.Eventually(b, func() bool {
				var found struct {
					Status  string
					Summary struct{ Succeeded int }
				}
				_, answer, err := a.send(fasthttp.MethodGet, s.token, "/jobs/"+started.ID, "", nil)
				return err == nil && json.Unmarshal(answer, &found) == nil && found.Status == "done" && found.Summary.Succeeded == batchProducts
			}, time.Minute, 10*time.Millisecond)
		}
	}
	for b.Loop() {
		var single, batch, job, singleAgain, batchAgain []float64
		for round := range batchRounds {
			first := round * batchProducts
			arms := []func(){
				func() {
					single = append(single, timed(inBatches("S", first, 1)))
					singleAgain = append(singleAgain, timed(inBatches("S", first, 1)))
				},
				func() {
					batch = append(batch, timed(inBatches("B", first, batchInOne)))
					batchAgain = append(batchAgain, timed(inBatches("B", first, batchInOne)))
				},
				func() { job = append(job, timed(asJob(first))) },
			}
			for i := range arms {
				arms[(round+i)%len(arms)]()
			}
			r.emptyOutbox()
		}
		b.ReportMetric(median(ratios(single, batch)), "single/batch")
		b.ReportMetric(median(ratios(single, job)), "single/job")
		b.ReportMetric(median(ratios(singleAgain, batchAgain)), "single-again/batch-again")
		b.ReportMetric(median(single), "ms/single")
		b.ReportMetric(median(batch), "ms/batch")
		b.ReportMetric(median(job), "ms/job")
	}
	b.ReportMetric(0, "ns/op")
}
