package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/topics"
)

const (
	deliveryShops = 20
	preloaded     = 20_000 // events
	ordersPerSec  = 100
	steadyFor     = 10 * time.Second
)

// platform is all roles, and a receiver beside them.
type platform struct {
	*kit
	api     *api
	process *process // all roles, or the API alone
	ops     string   // address of the metrics of all roles
	shops   []*shop

	hooks []*hook

	costs map[string]float64 // what [BenchmarkCost] has measured

	mu      sync.Mutex
	arrived map[string]time.Time // by id of the record
}

// hook is where the events of a company go.
type hook struct {
	company tenant.ID
	id      uuid.UUID // of the subscription
	url     *url.URL
	signer  *webhook.Signer
}

// startPlatform subscribes every shop to its new orders.
func startPlatform(b *testing.B, shops int) *platform {
	b.Helper()
	p := &platform{kit: newKit(b), arrived: map[string]time.Time{}}
	state := b.TempDir()
	address := freeAddress(b)
	p.ops = freeAddress(b)
	p.process = p.start("dev", "--demo-data=none", "--state", state, "--database-url", p.url, "--trace-sample", "0.05",
		"--listen", address, "--ops-listen", p.ops, "--receiver-listen", freeAddress(b), "--admin-listen", freeAddress(b), "--console-listen", freeAddress(b))
	require.Eventually(b, func() bool {
		_, err := os.Stat(filepath.Join(state, "dev.json"))
		return err == nil
	}, time.Minute, 50*time.Millisecond, "%s", p.process)
	p.open(address, shops)
	return p
}

// open makes shops, subscribes each to its new orders and clients at a receiver, and waits until orders arrive.
func (p *platform) open(address string, shops int) {
	p.b.Helper()
	hooks := receiver.New(receiver.Config{Arrived: p.arrive})
	srv := httptest.NewServer(hooks)
	p.b.Cleanup(func() { hooks.Close(); srv.Close() })
	p.api = p.kit.api(address)
	p.shops = p.api.shops(shops)
	for _, s := range p.shops {
		var made struct{ ID, Secret string }
		address := srv.URL + "/hook/" + s.company.String()
		p.api.create(s.token, "/webhooks/subscriptions", map[string]any{"url": address, "events": []string{"order.created", "client.created"}}, &made)
		require.NoError(p.b, hooks.SetSecret(s.company.String(), made.Secret))
		h := &hook{company: s.company, id: uuid.MustParse(made.ID)}
		var err error
		h.url, err = url.Parse(address)
		require.NoError(p.b, err)
		h.signer, err = webhook.NewSigner(made.Secret, "")
		require.NoError(p.b, err)
		p.hooks = append(p.hooks, h)
	}
	for _, s := range p.shops {
		p.first(s)
	}
}

func (p *platform) arrive(d receiver.Delivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.DataID != "" {
		p.arrived[d.DataID] = d.ReceivedAt
	}
}

// first orders until an order arrives: the router learns of a new subscription a moment after the API has stored it.
func (p *platform) first(s *shop) {
	p.b.Helper()
	require.Eventually(p.b, func() bool {
		p.mu.Lock()
		before := len(p.arrived)
		p.mu.Unlock()
		p.order(s)
		return assert.Eventually(discard{}, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.arrived) > before
		}, time.Second, 5*time.Millisecond)
	}, time.Minute, time.Millisecond, "%s", p.process)
}

// discard is a test whose failures do not count.
type discard struct{}

// Errorf implements [assert.TestingT].
func (discard) Errorf(string, ...any) {}

// await waits until so many records have arrived.
func (p *platform) await(n int) {
	p.b.Helper()
	require.Eventually(p.b, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.arrived) >= n
	}, 2*time.Minute, 5*time.Millisecond, "%s", p.process)
}

// order places an order and returns its id.
func (p *platform) order(s *shop) string {
	status, answer, err := p.api.post(s.token, "/orders", "", s.order)
	if err != nil || status != fasthttp.StatusCreated {
		p.b.Errorf("order: %d %s %v", status, answer, err)
	}
	var made struct{ ID string }
	if err := json.Unmarshal(answer, &made); err != nil {
		p.b.Errorf("order: %s: %v", answer, err)
	}
	return made.ID
}

// BenchmarkDeliveries puts events of 1 KB into the outbox in one transaction, and measures from its commit until the
// last of them has arrived at its receiver: relay, broker, router, sender and results. Then the same client sends as many
// requests to the same receiver with nothing between them, which is the most that this machine can do.
//
// In "together", all roles and the broker are one process, and there are 20 companies. In the others, relay and
// dispatcher are processes of their own; they tell what the number of companies and of partitions costs.
//
//   - deliveries/s: events over that time
//   - direct/s: requests with nothing between client and receiver
//   - of-direct: deliveries/s : direct/s
//   - put-off: share of the deliveries that were postponed before their attempt
//   - <role>-µs/delivery, database-µs/delivery: time of processors that is spent on one delivery; "roles" is all in one process
//   - peak-MB, <role>-peak-MB: most memory that the process has held
//   - dispatcher-start-s: until the dispatcher is ready
func BenchmarkDeliveries(b *testing.B) {
	b.Run("together", drainTogether)
	for _, companies := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("companies=%d", companies), func(b *testing.B) { drainApart(b, companies, 0, topics.Local()) })
	}
	b.Run("companies=10000,subscriptions=100000", func(b *testing.B) { drainApart(b, 10_000, 9, topics.Local()) })
	b.Run("companies=100,partitions=production", func(b *testing.B) { drainApart(b, 100, 0, topics.All()) })
}

func drainTogether(b *testing.B) {
	p := startPlatform(b, deliveryShops)
	for b.Loop() {
		p.clear()
		p.preload(preloaded)
		p.drain(map[string]*process{"roles": p.process})
	}
	b.ReportMetric(p.process.peakMB(), "peak-MB")
	b.ReportMetric(0, "ns/op")
}

// drain measures until the preloaded events have arrived, and then the direct way.
func (p *platform) drain(roles map[string]*process) {
	b := p.b
	b.Helper()
	before, postponedBefore := p.cpuOf(roles), p.postponed()
	delivered := p.throughput()
	b.ReportMetric((p.postponed()-postponedBefore)/preloaded, "put-off")
	for part, used := range p.cpuOf(roles) {
		reportCPU(b, part+"-µs/delivery", used-before[part], preloaded)
	}
	p.clear()
	go p.direct(preloaded)
	direct := p.throughput()
	b.ReportMetric(delivered, "deliveries/s")
	b.ReportMetric(direct, "direct/s")
	b.ReportMetric(delivered/direct, "of-direct")
}

// postponed is how many deliveries were postponed so far.
func (p *platform) postponed() float64 { return p.metric(p.ops, "tradegrid_lane_parked") }

func (p *platform) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.arrived)
}

// throughput waits until all events have arrived and returns how many a second did.
func (p *platform) throughput() float64 {
	p.b.Helper()
	began := time.Now()
	p.await(preloaded)
	return preloaded / p.lastArrival(began).Sub(began).Seconds()
}

// lastArrival is when the last record arrived, not before began.
func (p *platform) lastArrival(began time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := began
	for _, at := range p.arrived {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// inFlight is how many requests the sender has under way at one host.
const inFlight = 16

// direct sends events as the sender does, and does nothing else.
func (p *platform) direct(n int) {
	client := egress.New(egress.Config{Settings: egress.Settings{AllowInsecure: true}, AllowPrivate: true})
	defer client.Close()
	now := time.Now().UTC()
	var next atomic.Int64
	var all sync.WaitGroup
	for range inFlight {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				h, event := p.hooks[i%len(p.hooks)], uuid.Must(uuid.NewV7())
				body := orderCreated(h.company, uuid.Must(uuid.NewV7()), event, now)
				header := make(http.Header, 16)
				h.signer.Sign(header, webhook.Attempt{
					Event: "order.created", EventID: event.String(), DeliveryID: webhook.DeliveryID(event, h.id, 0).String(),
					WebhookID: h.id.String(), Number: 1, At: time.Now(),
				}, body)
				if answer, err := client.Post(context.Background(), h.url, header, body); err != nil || answer.Status != http.StatusOK {
					p.b.Errorf("request: %d %v", answer.Status, err)
				}
			}
		})
	}
	all.Wait()
}

// preload raises events as orders do, each at a position of its own.
func (p *platform) preload(n int) {
	p.b.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	err := p.db.RunTx(p.b.Context(), "bench.preload", func(ctx context.Context, tx *db.Tx) error {
		for i := range n {
			h, id, event := p.hooks[i%len(p.hooks)], uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
			err := outbox.Append(ctx, tx, h.company, outbox.Message{
				ID: event, Name: "order.created", AggType: "order", AggID: id, Version: 1, Pos: now.UnixMicro() + int64(i),
				Payload: orderCreated(h.company, id, event, now), CreatedAt: now,
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, db.ReadCommitted())
	require.NoError(p.b, err)
}

var filler = fmt.Sprintf("%0700d", 0)

// orderCreated is the body of an event of 1 KB.
func orderCreated(company tenant.ID, order, eventID uuid.UUID, at time.Time) []byte {
	return fmt.Appendf(nil, `{"event":"order.created","companyId":%q,"occurredAt":%q,"actorId":"system","data":{"id":%q,"version":1,"note":%q},"eventId":%q}`,
		company, at.Format(event.TimeLayout), order, filler, eventID)
}

// BenchmarkLatency places orders over the API at a steady rate and measures how long their webhooks take,
// all roles in one process.
//
//   - p50-ms, p99-ms: from the answer to the order, which follows its commit, until the webhook has arrived
//   - whole-p50-ms, whole-p99-ms: from the request, so with the order itself
//   - steps-p50-ms, steps-p99-ms: a commit, two records and a request one after the other with nothing of the platform
//     between them, measured meanwhile; step-commit, step-produce and step-post: each of these by itself
//   - peak-MB: most memory that the process has held
func BenchmarkLatency(b *testing.B) {
	p := startPlatform(b, deliveryShops)
	alone := newSteps(b, p.db)
	for b.Loop() {
		p.steady(2 * time.Second) // warm-up
		ctx, stop := context.WithCancel(b.Context())
		floor := make(chan taken, 1)
		go func() { floor <- alone.measure(ctx, b) }()
		placed := p.steady(steadyFor)
		stop()
		took := <-floor
		reportPercentiles(b, "steps-", took.all)
		reportPercentiles(b, "step-commit-", took.commit)
		reportPercentiles(b, "step-produce-", took.produce)
		reportPercentiles(b, "step-post-", took.post)
		var after, whole []time.Duration
		p.mu.Lock()
		for id, t := range placed {
			at := p.arrived[id]
			after, whole = append(after, max(0, at.Sub(t.answered))), append(whole, at.Sub(t.sent))
		}
		p.mu.Unlock()
		reportPercentiles(b, "", after)
		reportPercentiles(b, "whole-", whole)
	}
	b.ReportMetric(p.process.peakMB(), "peak-MB")
	b.ReportMetric(0, "ns/op")
}

type times struct {
	shop           *shop
	sent, answered time.Time
}

// steady places orders at the steady rate, waits until all have arrived, and returns when each was placed, by id.
func (p *platform) steady(d time.Duration) map[string]times {
	p.b.Helper()
	return p.steadyOf(d, orderOf)
}

// steadyOf sends requests of the shops at the steady rate, each in a goroutine of its own so that a slow one does not
// hold up the next, waits until all have arrived, and returns when each record was asked for, by id.
func (p *platform) steadyOf(d time.Duration, of request) map[string]times {
	p.b.Helper()
	var mu sync.Mutex
	placed := map[string]times{}
	p.mu.Lock()
	before := len(p.arrived)
	p.mu.Unlock()
	n := int(d.Seconds() * ordersPerSec)
	tick := time.NewTicker(time.Second / ordersPerSec)
	defer tick.Stop()
	var wg sync.WaitGroup
	for i := range n {
		<-tick.C
		wg.Go(func() {
			id, t, ok := p.create(p.shops[i%len(p.shops)], of)
			if !ok {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			placed[id] = t
		})
	}
	wg.Wait()
	p.await(before + n)
	return placed
}

func reportPercentiles(b *testing.B, label string, all []time.Duration) {
	b.Helper()
	b.ReportMetric(percentile(all, 50), label+"p50-ms")
	b.ReportMetric(percentile(all, 99), label+"p99-ms")
}

// percentile is in milliseconds; it sorts the values.
func percentile(all []time.Duration, percent int) float64 {
	slices.Sort(all)
	return float64(all[len(all)*percent/100].Microseconds()) / 1000
}
