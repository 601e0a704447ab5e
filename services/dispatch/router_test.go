package dispatch

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// pipe is a broker and a database with a company of its own, for routers, delay lines and sweepers.
type pipe struct {
	t       *testing.T
	db      *db.DB
	cfg     kafka.Config
	client  *kgo.Client
	company tenant.ID
}

func newPipe(t *testing.T, d *db.DB) *pipe {
	t.Helper()
	cfg := kafka.Config{Brokers: dbtest.Broker(t), ClientID: "test"}
	client, err := kafka.NewClient(cfg)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return &pipe{t: t, db: d, cfg: cfg, client: client, company: tenant.NewID()}
}

func (p *pipe) router(change func(*Router)) (stop func()) {
	p.t.Helper()
	r, err := NewRouter(p.db, testRegistry(), testModules, RouterConfig{Kafka: p.cfg, Backoff: time.Millisecond})
	require.NoError(p.t, err)
	if change != nil {
		change(r)
	}
	return p.run(r.Run)
}

// run runs a role until stop is called or the test ends.
func (p *pipe) run(role func(context.Context) error) (stop func()) { return p.runFor(p.t, role) }

func (p *pipe) runFor(t testing.TB, role func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- role(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

func (p *pipe) produce(records ...*kgo.Record) {
	p.t.Helper()
	for len(records) > 0 {
		var again []*kgo.Record
		for _, r := range p.client.ProduceSync(p.t.Context(), records...) {
			if errors.Is(r.Err, kerr.UnknownTopicID) { // a real broker may still tell of the topic of the test before
				again = append(again, r.Record)
				continue
			}
			require.NoError(p.t, r.Err)
		}
		records = again
	}
}

// collect keeps what is on the topics, from the beginning.
func (p *pipe) collect(names ...string) func() []*kgo.Record {
	p.t.Helper()
	client, err := kafka.NewClient(p.cfg, kgo.ConsumeTopics(names...))
	require.NoError(p.t, err)
	var mu sync.Mutex
	var all []*kgo.Record
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, r)
			})
		}
	}()
	p.t.Cleanup(func() {
		cancel()
		<-done
		client.Close()
	})
	return func() []*kgo.Record {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// eventually waits until the collected records number n.
func (p *pipe) eventually(records func() []*kgo.Record, n int) []*kgo.Record {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return len(records()) >= n }, time.Minute, 5*time.Millisecond)
	return records()
}

func (p *pipe) exec(sql string, args ...any) {
	p.t.Helper()
	_, err := p.db.Exec(context.Background(), sql, args...)
	require.NoError(p.t, err)
}

// subscribe makes a subscription to everything of the company.
func (p *pipe) subscribe() uuid.UUID {
	p.t.Helper()
	id := uuid.Must(uuid.NewV7())
	p.exec(sqlTestSubscription, p.company, id, "https://receiver.example/", webhook.NewSecret(), time.Now().UTC())
	p.set(id, "read_scopes = ARRAY['*:read']")
	return id
}

func (p *pipe) set(sub uuid.UUID, assignment string, args ...any) {
	p.t.Helper()
	p.exec(`UPDATE webhook_subscriptions SET `+assignment+` WHERE company_id = $1 AND id = $2`, append([]any{p.company, sub}, args...)...)
}

func (p *pipe) count(condition string) (n int) {
	p.t.Helper()
	require.NoError(p.t, p.db.QueryRow(context.Background(),
		`SELECT count(*) FROM deliveries WHERE company_id = $1 AND `+condition, p.company).Scan(&n))
	return n
}

func (p *pipe) decode(r *kgo.Record) *webhook.Message {
	p.t.Helper()
	m, err := webhook.DecodeMessage(r)
	require.NoError(p.t, err)
	return m
}

const testTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestRouterMakesOneDeliveryPerSubscription(t *testing.T) {
	t.Parallel()
	p := newPipe(t, dbtest.Open(t))
	wants, other := p.subscribe(), p.subscribe()
	leads, inactive, disabled := p.subscribe(), p.subscribe(), p.subscribe()
	p.set(leads, "events = ARRAY['lead.*']")
	p.set(inactive, "is_active = false")
	p.set(disabled, "status = 'disabled'")
	sent := p.collect(topics.Deliveries)
	p.router(nil)

	e := newTestEvent(p.company, "order.created")
	e.trace = testTrace
	rec := e.record(t)
	p.produce(rec)

	var got []uuid.UUID
	for _, r := range p.eventually(sent, 2) {
		m := p.decode(r)
		got = append(got, m.SubscriptionID)
		require.Equal(t, string(rec.Value), string(m.Body), "the body is frozen")
		require.Equal(t, webhook.DeliveryID(e.id, m.SubscriptionID, 0), m.DeliveryID)
		require.Equal(t, testTrace, m.TraceParent)
		require.Equal(t, 1, m.Attempt)
		require.WithinDuration(t, time.Now().Add(22*time.Hour), m.ExpiresAt, time.Minute)
		require.False(t, m.CommittedAt.IsZero())
		require.Equal(t, m.SubscriptionID.String(), string(r.Key))
	}
	require.ElementsMatch(t, []uuid.UUID{wants, other}, got)
	require.Equal(t, 2, p.count("state = 0 AND attempt = 0 AND next_attempt_at IS NOT NULL"))
	require.Equal(t, 2, p.count("true"))
}

func TestRouterRecognisesRepeats(t *testing.T) {
	t.Parallel()
	const events, repeats = 300, 3
	p := newPipe(t, dbtest.Open(t))
	p.subscribe()
	sent := p.collect(topics.Deliveries)
	var records []*kgo.Record
	for range events {
		r := newTestEvent(p.company, "order.created").record(t)
		for range repeats {
			records = append(records, &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: r.Headers})
		}
	}
	rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	p.produce(records...)
	p.router(nil)
	marker := newTestEvent(p.company, "order.created")
	p.produce(marker.record(t)) // the last of its partition
	require.Eventually(t, func() bool { return p.count("event_id = '"+marker.id.String()+"'") == 1 }, time.Minute, 10*time.Millisecond)
	require.Equal(t, events+1, p.count("true"), "one row per event and subscription")
	distinct := func() int { // what no sender has seen yet may be sent again
		ids := map[uuid.UUID]bool{}
		for _, r := range sent() {
			ids[p.decode(r).DeliveryID] = true
		}
		return len(ids)
	}
	require.Eventually(t, func() bool { return distinct() >= events+1 }, time.Minute, 20*time.Millisecond, "each delivery is sent")
	require.Equal(t, events+1, distinct())
}

func TestRouterDoesNotRepeatWhatIsOver(t *testing.T) {
	t.Parallel()
	p := newPipe(t, dbtest.Open(t))
	p.subscribe()
	sent := p.collect(topics.Deliveries)
	p.router(nil)
	e := newTestEvent(p.company, "order.created")
	p.produce(e.record(t))
	p.eventually(sent, 1)
	p.exec(`UPDATE deliveries SET state = 2, attempt = 1 WHERE company_id = $1`, p.company)
	p.produce(e.record(t), newTestEvent(p.company, "order.created").record(t))
	require.Len(t, p.eventually(sent, 2), 2, "the repeat of the delivered one is dropped")
}

func TestRouterParksForPausedSubscriptions(t *testing.T) {
	t.Parallel()
	p := newPipe(t, dbtest.Open(t))
	paused, active := p.subscribe(), p.subscribe()
	p.set(paused, "status = 'paused'")
	sent := p.collect(topics.Deliveries)
	p.router(nil)
	p.produce(newTestEvent(p.company, "order.created").record(t))
	require.Equal(t, active, p.decode(p.eventually(sent, 1)[0]).SubscriptionID)
	require.Equal(t, 1, p.count("subscription_id = '"+paused.String()+"' AND state = 0 AND next_attempt_at IS NULL"))
	require.Len(t, sent(), 1)
}

func TestRouterBuriesPoisonAndGoesOn(t *testing.T) {
	t.Parallel()
	p := newPipe(t, dbtest.Open(t))
	p.subscribe()
	sent, buried := p.collect(topics.Deliveries), p.collect(topics.EventsDead)
	p.router(nil)
	poison := newTestEvent(p.company, "order.created").record(t)
	poison.Value = []byte(`{"event":`)
	unknown := newTestEvent(p.company, "order.created").record(t)
	setHeader("ce_type", "planet.created")(unknown)
	p.produce(newTestEvent(p.company, "order.created").record(t), poison, unknown, newTestEvent(p.company, "order.created").record(t))
	p.eventually(sent, 2)
	dead := p.eventually(buried, 2)
	header := func(r *kgo.Record, key string) string {
		for _, h := range r.Headers {
			if h.Key == key {
				return string(h.Value)
			}
		}
		return ""
	}
	require.Equal(t, `{"event":`, string(dead[0].Value))
	require.Contains(t, header(dead[0], headerDeadError), "not a JSON object")
	require.Equal(t, DeadDecode, header(dead[0], headerDeadReason))
	require.Contains(t, header(dead[0], headerDeadFrom), topics.Events+"/")
	require.Contains(t, header(dead[1], headerDeadError), "planet.created")
}

func TestRouterSeesChangesOfSubscriptions(t *testing.T) {
	t.Parallel()
	p := newPipe(t, dbtest.Open(t))
	sub := p.subscribe()
	sent := p.collect(topics.Deliveries)
	r, err := NewRouter(p.db, testRegistry(), testModules, RouterConfig{Kafka: p.cfg, CacheTTL: time.Hour})
	require.NoError(t, err)
	p.run(r.Run)
	p.produce(newTestEvent(p.company, "order.created").record(t))
	p.eventually(sent, 1)
	later := p.subscribe()
	require.Eventually(t, func() bool { // the announcement may come before the router listens
		p.produce(&kgo.Record{Topic: topics.Subscriptions, Key: []byte(p.company.String() + "/" + later.String()), Value: []byte(`{}`)})
		p.produce(newTestEvent(p.company, "order.created").record(t))
		return slices.ContainsFunc(sent(), func(r *kgo.Record) bool { return string(r.Key) == later.String() })
	}, time.Minute, 50*time.Millisecond)
	require.NotEqual(t, sub, later)
}

// lost takes nothing, as a broker that is away, or a router that dies after it has written its rows.
type lost struct{ calls atomic.Int32 }

func (l *lost) ProduceSync(_ context.Context, records ...*kgo.Record) kgo.ProduceResults {
	l.calls.Add(1)
	var res kgo.ProduceResults
	for _, r := range records {
		res = append(res, kgo.ProduceResult{Record: r, Err: errors.New("no broker")})
	}
	return res
}

func TestRouterDeathBetweenInsertAndProduceLosesNothing(t *testing.T) {
	t.Parallel()
	const events = 50
	p := newPipe(t, dbtest.Open(t))
	p.subscribe()
	sent := p.collect(topics.Deliveries)
	out := &lost{}
	stop := p.router(func(r *Router) { r.out = out })
	want := map[uuid.UUID]bool{}
	for range events {
		e := newTestEvent(p.company, "order.created")
		want[e.id] = true
		p.produce(e.record(t))
	}
	require.Eventually(t, func() bool { return out.calls.Load() > 2 && p.count("true") > 0 }, time.Minute, time.Millisecond)
	stop()
	require.Empty(t, sent())
	p.router(nil)
	p.eventually(sent, events)
	times := map[uuid.UUID]int{}
	for _, r := range sent() {
		times[p.decode(r).EventID]++
	}
	require.Len(t, times, events)
	for id, n := range times {
		require.True(t, want[id])
		require.Equal(t, 1, n)
	}
	require.Equal(t, events, p.count("true"))
}

func TestRouterBelongsToTheTraceOfTheRequest(t *testing.T) {
	t.Parallel()
	p := newPipe(t, dbtest.Open(t))
	p.subscribe()
	sent := p.collect(topics.Deliveries)
	spans := tracetest.NewSpanRecorder()
	r, err := NewRouter(p.db, testRegistry(), testModules, RouterConfig{
		Kafka: p.cfg, Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
	})
	require.NoError(t, err)
	stop := p.run(r.Run)
	e := newTestEvent(p.company, "order.created")
	e.trace = testTrace
	p.produce(e.record(t))
	require.Equal(t, testTrace, p.decode(p.eventually(sent, 1)[0]).TraceParent)
	stop()
	require.Len(t, spans.Ended(), 1)
	span := spans.Ended()[0]
	require.Equal(t, "process "+topics.Events, span.Name())
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", span.SpanContext().TraceID().String())
	require.Equal(t, "00f067aa0ba902b7", span.Parent().SpanID().String())
}
