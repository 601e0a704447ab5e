package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	replayedEvents = 1_000_000
	replayRounds   = 5
)

// BenchmarkReplay places orders of 20 companies at a steady rate, in turns alone and beside a replay of a log of 1 M events to
// one of them, and compares how long the webhooks of the orders take. Each figure is the median of the rounds: a checkpoint of the
// database costs a round more than a replay does.
//
//   - p99-ms: from the answer to an order until its webhook has arrived, without a replay
//   - replay-<rate>-p99-ms: the same beside a replay at that rate; -ratio: against p99-ms
//   - replay-<rate>-own-p99-ms: the same of the company whose events are replayed
//   - replay-<rate>-sent/s: events that the replay sent
func BenchmarkReplay(b *testing.B) {
	p := startPlatform(b, deliveryShops)
	p.fillLog(p.hooks[0])
	_, err := p.db.Exec(b.Context(), `CHECKPOINT`)
	require.NoError(b, err)
	for b.Loop() {
		p.steady(2 * time.Second) // warm-up
		figures := map[string][]float64{}
		note := func(name string, v float64) { figures[name] = append(figures[name], v) }
		for range replayRounds {
			alone, _ := p.latencies()
			note("p99-ms", percentile(alone, 99))
			for _, rate := range []int{50, 500} {
				job := p.replay(rate)
				began, before := time.Now(), p.sentBy(job)
				all, own := p.latencies()
				label := fmt.Sprintf("replay-%d-", rate)
				note(label+"sent/s", float64(p.sentBy(job)-before)/time.Since(began).Seconds())
				note(label+"p99-ms", percentile(all, 99))
				note(label+"own-p99-ms", percentile(own, 99))
				p.cancel(job)
			}
		}
		for name, all := range figures {
			b.ReportMetric(median(all), name)
			if strings.HasPrefix(name, "replay-") && strings.HasSuffix(name, "0-p99-ms") {
				b.ReportMetric(median(all)/median(figures["p99-ms"]), strings.TrimSuffix(name, "p99-ms")+"ratio")
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// latencies is how long webhooks take at the steady rate: all, and those of the first shop.
func (p *platform) latencies() (all, first []time.Duration) {
	placed := p.steady(steadyFor)
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, t := range placed {
		took := max(0, p.arrived[id].Sub(t.answered))
		all = append(all, took)
		if t.shop == p.shops[0] {
			first = append(first, took)
		}
	}
	return all, first
}

// fillLog adds events to the log of a company. They are about no record, so that their arrivals do not count.
func (p *platform) fillLog(h *hook) {
	p.b.Helper()
	at := time.Now().UTC().Add(-time.Hour)
	low, _ := record.IDsBetween(at, at)
	body := fmt.Sprintf(`{"event":"order.created","companyId":%q,"occurredAt":%q,"actorId":"system","data":{"note":%q},"eventId":%q}`,
		h.company, at.Format(time.RFC3339), filler, low)
	p.fill("events", `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
SELECT $1::UUID, g - 10000000, (left($2::TEXT, 24) || lpad(to_hex(g), 12, '0'))::UUID, 'order.created', 'order', $1::UUID, 1, convert_to($3::TEXT, 'UTF8'),
 $4::TIMESTAMPTZ, $4::TIMESTAMPTZ + INTERVAL '30 days' FROM generate_series(1, $5::BIGINT) AS g`, h.company, low, body, at, replayedEvents)
}

// replay starts a replay to the first shop, waits until it sends, and returns its job.
func (p *platform) replay(rate int) string {
	p.b.Helper()
	body, err := json.Marshal(map[string]any{"status": "all", "rate": rate, "to": time.Now().UTC().Add(-30 * time.Minute)})
	require.NoError(p.b, err)
	status, answer, err := p.api.post(p.shops[0].token, "/webhooks/subscriptions/"+p.hooks[0].id.String()+"/replay", "", body)
	require.NoError(p.b, err)
	require.Equal(p.b, fasthttp.StatusAccepted, status, "%s", answer)
	var job struct{ ID string }
	require.NoError(p.b, json.Unmarshal(answer, &job))
	require.Eventually(p.b, func() bool { return p.sentBy(job.ID) > 0 }, time.Minute, 50*time.Millisecond, "%s", p.process)
	return job.ID
}

func (p *platform) sentBy(job string) (n int64) {
	p.b.Helper()
	require.NoError(p.b, p.db.QueryRow(p.b.Context(), `SELECT COALESCE((summary->>'sent')::BIGINT, 0) FROM jobs WHERE company_id = $1 AND id = $2`, p.hooks[0].company, job).Scan(&n))
	return n
}

// cancel ends a replay and waits until nothing of it is under way.
func (p *platform) cancel(job string) {
	p.b.Helper()
	status, answer, err := p.api.post(p.shops[0].token, "/jobs/"+job+"/cancel", "", nil)
	require.NoError(p.b, err)
	require.Equal(p.b, fasthttp.StatusOK, status, "%s", answer)
	require.Eventually(p.b, func() bool {
		var open bool
		require.NoError(p.b, p.db.QueryRow(p.b.Context(), `SELECT EXISTS (SELECT 1 FROM deliveries WHERE company_id = $1 AND state < 2)`, p.hooks[0].company).Scan(&open))
		return !open
	}, time.Minute, 50*time.Millisecond)
}
