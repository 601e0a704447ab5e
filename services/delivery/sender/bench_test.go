package sender

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/schemas/sql"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// durableDB is a database that loses nothing, unlike the one of the tests: benchmarks measure with fsync on.
func durableDB(b *testing.B) *db.DB {
	b.Helper()
	dir, err := os.MkdirTemp("", "tradegrid-bench-") //nolint:usetesting // the server's own user must reach it
	require.NoError(b, err)
	require.NoError(b, os.Chmod(dir, 0o711))
	ctx := context.Background()
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{Dir: dir})
	require.NoError(b, err)
	d, err := db.Open(ctx, db.Config{URL: pg.URL("tradegrid"), MaxConns: 8})
	require.NoError(b, err)
	b.Cleanup(func() {
		d.Close()
		require.NoError(b, pg.Stop(ctx))
		require.NoError(b, os.RemoveAll(dir))
	})
	_, err = migrate.Up(ctx, d.Pool(), sql.Files, d.Dialect(), migrate.Contract, nil)
	require.NoError(b, err)
	return d
}

func discard(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusOK)
}

// BenchmarkSender drains preloaded records of 100 subscriptions to one local receiver; the time includes the
// results in the database. Run it with -benchtime=50000x.
func BenchmarkSender(b *testing.B) {
	d := durableDB(b)
	k := newKit(b, d, nil)
	k.stop()
	hook := httptest.NewServer(http.HandlerFunc(discard))
	b.Cleanup(hook.Close)
	const receivers = 100
	all := make([]*webhook.Message, 0, b.N)
	for i := range receivers {
		sub, _ := k.Subscribe(hook.URL)
		n := b.N / receivers
		if i < b.N%receivers {
			n++
		}
		all = append(all, k.Messages(sub, n)...)
	}
	// The records of all receivers are mixed, as they would arrive.
	slices.SortFunc(all, func(x, y *webhook.Message) int { return slices.Compare(x.EventID[8:], y.EventID[8:]) })
	k.Send(all...)
	b.ResetTimer()
	k.run(quickConfig(k.Kafka))
	start := time.Now()
	for k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND state = 2`, k.Company) < b.N {
		if time.Since(start) > 2*time.Minute {
			b.Fatalf("only %d of %d after %v", k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND state = 2`, k.Company), b.N, time.Since(start))
		}
		<-time.After(20 * time.Millisecond)
	}
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "deliveries/s")
	b.StopTimer()
	k.stop()
}

// BenchmarkSenderLatency measures single deliveries on an idle system, from the producer to the receiver.
func BenchmarkSenderLatency(b *testing.B) {
	k := newKit(b, durableDB(b), nil)
	arrived := make(chan time.Time, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		discard(w, r)
		arrived <- time.Now()
	}))
	b.Cleanup(hook.Close)
	sub, _ := k.Subscribe(hook.URL)
	messages := k.Messages(sub, b.N+1)
	k.Send(messages[b.N]) // until the group is formed
	<-arrived
	took := make([]time.Duration, b.N)
	b.ResetTimer()
	for i, m := range messages[:b.N] {
		start := time.Now()
		k.Send(m)
		took[i] = (<-arrived).Sub(start)
	}
	reportPercentiles(b, took, "")
}

func reportPercentiles(b *testing.B, took []time.Duration, label string) (p99 time.Duration) {
	b.Helper()
	slices.Sort(took)
	at := func(p int) time.Duration { return took[min(len(took)*p/100, len(took)-1)] }
	b.ReportMetric(float64(at(50).Microseconds())/1000, label+"p50-ms")
	b.ReportMetric(float64(at(99).Microseconds())/1000, label+"p99-ms")
	return at(99)
}

// isolation sends at a steady rate to ten healthy receivers of one company, whatever else there is.
type isolation struct {
	k    *kit
	good *httptest.Server // of the healthy ones; answers a path /slow after 9 s

	mu   sync.Mutex
	sent map[string]time.Time
	took []time.Duration
	got  atomic.Int64
}

func newIsolation(b *testing.B, d *db.DB) *isolation {
	b.Helper()
	v := &isolation{sent: map[string]time.Time{}}
	v.k = newKit(b, d, func(c *Config) {
		c.Egress.Timeout, c.Breaker, c.Retry = 10*time.Second, BreakerConfig{}, RetryConfig{MaxAttempts: c.Retry.MaxAttempts}
	})
	v.k.ForwardDelayed()
	v.good = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-time.After(9 * time.Second):
			case <-r.Context().Done():
			}
			return
		}
		discard(w, r)
		v.mu.Lock()
		defer v.mu.Unlock()
		if at, ok := v.sent[r.Header.Get(webhook.HeaderDeliveryID)]; ok {
			v.took = append(v.took, time.Since(at))
		}
		v.got.Add(1)
	}))
	return v
}

// run sends to the healthy receivers perSecond times, and to the others in every step-th of these rounds.
func (v *isolation) run(others []*webhook.Message, step int) []time.Duration {
	const healthy, seconds, perSecond = 10, 15, 20
	k := v.k
	rounds := make([][]*webhook.Message, seconds*perSecond)
	var first uuid.UUID
	for range healthy {
		first, _ = k.Subscribe(v.good.URL)
		for i, m := range k.Messages(first, len(rounds)) {
			rounds[i] = append(rounds[i], m)
		}
	}
	for i, m := range others {
		round := i * step % len(rounds)
		rounds[round] = append(rounds[round], m)
	}
	k.Send(k.Messages(first, 1)...)
	k.Eventually(func() bool { return v.got.Load() == 1 }, "group formed")
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for _, round := range rounds {
		<-tick.C
		now := time.Now()
		v.mu.Lock()
		for _, m := range round {
			v.sent[m.DeliveryID.String()] = now
		}
		v.mu.Unlock()
		k.Send(round...)
	}
	k.Eventually(func() bool { return v.got.Load() >= int64(healthy*len(rounds)+1) }, "healthy ones complete")
	v.good.CloseClientConnections()
	k.stop()
	v.good.Close()
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.took)
}

func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func drip(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for r.Context().Err() == nil {
		_, _ = w.Write([]byte("."))
		_ = http.NewResponseController(w).Flush()
		<-tick.C
	}
}

// BenchmarkIsolation compares the healthy receivers alone, beside one that hangs, one that drips and one that fails, and
// beside 19 of another company on the same host that answer 200 after 9 s. Run it with -benchtime=1x.
func BenchmarkIsolation(b *testing.B) {
	d := durableDB(b)
	b.ResetTimer()
	for range b.N {
		base := reportPercentiles(b, newIsolation(b, d).run(nil, 1), "base-")

		v := newIsolation(b, d)
		var failing []*webhook.Message
		for _, h := range []http.HandlerFunc{hang, drip, dispatchtest.Status(500)} {
			s := httptest.NewServer(h)
			defer s.Close()
			defer s.CloseClientConnections()
			sub, _ := v.k.Subscribe(s.URL)
			failing = append(failing, v.k.Messages(sub, 300)...)
		}
		beside := reportPercentiles(b, v.run(failing, 1), "beside-")
		b.ReportMetric(float64(beside)/float64(base), "p99-ratio")

		v = newIsolation(b, d)
		other := *v.k.Kit
		other.Company = tenant.NewID()
		var late []*webhook.Message
		for range 19 {
			sub, _ := other.Subscribe(v.good.URL + "/slow")
			late = append(late, other.Messages(sub, 30)...)
		}
		sharing := reportPercentiles(b, v.run(late, 10), "sharing-")
		b.ReportMetric(float64(sharing)/float64(base), "sharing-p99-ratio")
	}
}

// BenchmarkOneRecord sends many changes of a single record to one receiver, with the id of the record in the messages, so that
// they are sent one after the other, and without, so that up to four are under way; in turns.
//
//   - ratio: of the deliveries a second of the two
//   - deliveries/s: one after the other
//   - ordered/s: the same to an ordered subscription
//   - overtaken: share of the deliveries, without the id, that arrived after a later change
func BenchmarkOneRecord(b *testing.B) {
	for name, answers := range map[string]time.Duration{"at-once": 0, "after-10ms": 10 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			k := newKit(b, dbtest.OpenNew(b), func(c *Config) { c.Results = ResultsConfig{} }) // as the roles have it
			n, rounds := 1000, 3
			if answers > 0 {
				n = 300 // none waits so long that it is postponed
			}
			modes := []string{"named", "unnamed", "ordered"}
			for b.Loop() {
				rate, overtaken := map[string]float64{}, 0
				for range rounds {
					for _, mode := range modes {
						a, receiver := newArrivals(b, func() time.Duration { return answers })
						sub, _ := k.Subscribe(receiver.URL)
						k.Set(sub, "ordered = $3", mode == "ordered")
						messages := a.changes(k.Kit, sub, n, mode != "unnamed")
						start := time.Now()
						k.Send(messages...)
						k.Eventually(func() bool { return a.count() == n }, "all arrive")
						rate[mode] += float64(n) / time.Since(start).Seconds() / float64(rounds)
						if mode == "unnamed" {
							overtaken += a.overtaken()
						}
					}
				}
				b.ReportMetric(rate["named"]/rate["unnamed"], "ratio")
				b.ReportMetric(rate["named"], "deliveries/s")
				b.ReportMetric(rate["ordered"], "ordered/s")
				b.ReportMetric(float64(overtaken)/float64(n*rounds), "overtaken")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
