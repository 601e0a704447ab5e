package router

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/match"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

func runRouter(k *dispatchtest.Kit, change func(*Router)) (stop func()) {
	k.T.Helper()
	r, err := New(k.DB, dispatchtest.Registry(), dispatchtest.Components{}, Config{Kafka: k.Kafka, TTL: dispatchtest.Policy().DeliveryTTL, Backoff: time.Millisecond})
	require.NoError(k.T, err)
	if change != nil {
		change(r)
	}
	return k.Run(r.Run)
}

const testTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestRouterMakesOneDeliveryPerSubscription(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	wants, other := k.Subscription(), k.Subscription()
	leads, inactive, disabled := k.Subscription(), k.Subscription(), k.Subscription()
	k.Set(leads, "events = ARRAY['lead.*']")
	k.Set(inactive, "is_active = false")
	k.Set(disabled, "status = 'disabled'")
	sent := k.Collect(topics.Deliveries)
	runRouter(k, nil)

	e := k.Event("order.created")
	e.Trace = testTrace
	rec := e.Record(t)
	k.Produce(rec)

	var got []uuid.UUID
	for _, r := range k.Await(sent, 2) {
		m := k.Decode(r)
		got = append(got, m.SubscriptionID)
		require.Equal(t, string(rec.Value), string(m.Body), "the body is frozen")
		require.Equal(t, webhook.DeliveryID(e.ID, m.SubscriptionID, 0), m.DeliveryID)
		require.Equal(t, testTrace, m.TraceParent)
		require.Equal(t, 1, m.Attempt)
		require.WithinDuration(t, time.Now().Add(22*time.Hour), m.ExpiresAt, time.Minute)
		require.False(t, m.CommittedAt.IsZero())
		require.Equal(t, m.SubscriptionID.String(), string(r.Key))
	}
	require.ElementsMatch(t, []uuid.UUID{wants, other}, got)
	require.Equal(t, 2, k.Deliveries("state = 0 AND attempt = 0 AND next_attempt_at IS NOT NULL"))
	require.Equal(t, 2, k.Deliveries("true"))
}

func TestRouterRecognisesRepeats(t *testing.T) {
	t.Parallel()
	const events, repeats = 300, 3
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent := k.Collect(topics.Deliveries)
	var records []*kgo.Record
	for range events {
		r := k.Event("order.created").Record(t)
		for range repeats {
			records = append(records, &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: r.Headers})
		}
	}
	rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	k.Produce(records...)
	runRouter(k, nil)
	marker := k.Event("order.created")
	k.Produce(marker.Record(t)) // the last of its partition
	require.Eventually(t, func() bool { return k.Deliveries("event_id = '"+marker.ID.String()+"'") == 1 }, time.Minute, 10*time.Millisecond)
	require.Equal(t, events+1, k.Deliveries("true"), "one row per event and subscription")
	distinct := func() int { // what no sender has seen yet may be sent again
		ids := map[uuid.UUID]bool{}
		for _, r := range sent() {
			ids[k.Decode(r).DeliveryID] = true
		}
		return len(ids)
	}
	require.Eventually(t, func() bool { return distinct() >= events+1 }, time.Minute, 20*time.Millisecond, "each delivery is sent")
	require.Equal(t, events+1, distinct())
}

func TestRouterDoesNotRepeatWhatIsOver(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent := k.Collect(topics.Deliveries)
	runRouter(k, nil)
	e := k.Event("order.created")
	k.Produce(e.Record(t))
	k.Await(sent, 1)
	k.Exec(`UPDATE deliveries SET state = 2, attempt = 1 WHERE company_id = $1`, k.Company)
	k.Produce(e.Record(t), k.Event("order.created").Record(t))
	require.Len(t, k.Await(sent, 2), 2, "the repeat of the delivered one is dropped")
}

func TestRouterHoldsDeliveriesOfPausedSubscriptions(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	paused, active := k.Subscription(), k.Subscription()
	k.Set(paused, "status = 'paused'")
	sent := k.Collect(topics.Deliveries)
	runRouter(k, nil)
	k.Produce(k.Event("order.created").Record(t))
	require.Equal(t, active, k.Decode(k.Await(sent, 1)[0]).SubscriptionID)
	require.Equal(t, 1, k.Deliveries("subscription_id = '"+paused.String()+"' AND state = 0 AND next_attempt_at IS NULL"))
	require.Len(t, sent(), 1)
}

func TestRouterDeadLettersPoisonAndGoesOn(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent, letters := k.Collect(topics.Deliveries), k.Collect(topics.EventsDead)
	runRouter(k, nil)
	poison := k.Event("order.created").Record(t)
	poison.Value = []byte(`{"event":`)
	nameless := k.Event("order.created").Record(t)
	dispatchtest.SetHeader(nameless, "ce_id", "planet")
	k.Produce(k.Event("order.created").Record(t), poison, nameless, k.Event("order.created").Record(t))
	k.Await(sent, 2)
	dead := k.Await(letters, 2)
	require.Equal(t, `{"event":`, string(dead[0].Value))
	require.Contains(t, dispatchtest.Header(dead[0], "dead_error"), "not a JSON object")
	require.Equal(t, deadletter.Decode, dispatchtest.Header(dead[0], "dead_reason"))
	require.Contains(t, dispatchtest.Header(dead[0], "dead_from"), topics.Events+"/")
	require.Contains(t, dispatchtest.Header(dead[1], "dead_error"), "ce_id")
}

func newerEvents(t *testing.T) float64 {
	t.Helper()
	var d dto.Metric
	require.NoError(t, routedEvents.WithLabelValues("newer").Write(&d))
	return d.GetCounter().GetValue()
}

// What a later release wrote waits for a router of that release: it is not dead, and nothing behind it overtakes it.
func TestRouterLeavesWhatALaterReleaseWrote(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent, letters := k.Collect(topics.Deliveries), k.Collect(topics.EventsDead)
	before := newerEvents(t)
	stop := runRouter(k, nil)
	later := k.Event("order.created").Record(t)
	dispatchtest.SetHeader(later, "ce_type", "planet.created")
	k.Produce(k.Event("order.created").Record(t), k.Event("order.created").Record(t), later, k.Event("order.created").Record(t))
	k.Await(sent, 2)
	require.Eventually(t, func() bool { return newerEvents(t) > before }, time.Minute, 10*time.Millisecond)
	stop()
	require.Empty(t, letters())
	require.Len(t, sent(), 2)

	runRouter(k, func(r *Router) {
		r.registry = event.NewRegistry(append(dispatchtest.Registry().All(), event.New[struct{}]("planet.created", "A planet was made.").Type("orders", "orders")))
	})
	k.Await(sent, 3)
	require.Empty(t, letters())
}

// After a rollback no router of the later release comes: its last events go to the dead letter topic when they have waited
// long enough, and do not hold up their partition for ever.
func TestRouterDoesNotWaitForALaterReleaseForever(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent, letters := k.Collect(topics.Deliveries), k.Collect(topics.EventsDead)
	before := newerEvents(t)
	var late atomic.Int64
	runRouter(k, func(r *Router) {
		r.now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	})
	later := k.Event("order.created").Record(t)
	dispatchtest.SetHeader(later, "ce_type", "planet.created")
	k.Produce(k.Event("order.created").Record(t), later, k.Event("order.created").Record(t))
	k.Await(sent, 1)
	require.Eventually(t, func() bool { return newerEvents(t) > before }, time.Minute, 10*time.Millisecond)
	require.Empty(t, letters())
	require.Len(t, sent(), 1, "nothing overtakes it")
	late.Store(int64(newerPatience))
	k.Await(sent, 2)
	letter := k.Await(letters, 1)[0]
	require.Equal(t, deadletter.Newer, dispatchtest.Header(letter, "dead_reason"))
	require.Contains(t, dispatchtest.Header(letter, "dead_error"), "planet.created")
}

func TestRouterSeesChangesOfSubscriptions(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	sub := k.Subscription()
	sent := k.Collect(topics.Deliveries)
	r, err := New(k.DB, dispatchtest.Registry(), dispatchtest.Components{}, Config{Kafka: k.Kafka, TTL: dispatchtest.Policy().DeliveryTTL, cacheTTL: time.Hour})
	require.NoError(t, err)
	k.Run(r.Run)
	k.Produce(k.Event("order.created").Record(t))
	k.Await(sent, 1)
	later := k.Subscription()
	require.Eventually(t, func() bool { // the announcement may come before the router listens
		k.Announce(later)
		k.Produce(k.Event("order.created").Record(t))
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
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent := k.Collect(topics.Deliveries)
	out := &lost{}
	stop := runRouter(k, func(r *Router) { r.out = out })
	want := map[uuid.UUID]bool{}
	for range events {
		e := k.Event("order.created")
		want[e.ID] = true
		k.Produce(e.Record(t))
	}
	require.Eventually(t, func() bool { return out.calls.Load() > 2 && k.Deliveries("true") > 0 }, time.Minute, time.Millisecond)
	stop()
	require.Empty(t, sent())
	runRouter(k, nil)
	k.Await(sent, events)
	times := map[uuid.UUID]int{}
	for _, r := range sent() {
		times[k.Decode(r).EventID]++
	}
	require.Len(t, times, events)
	for id, n := range times {
		require.True(t, want[id])
		require.Equal(t, 1, n)
	}
	require.Equal(t, events, k.Deliveries("true"))
}

func TestRouterBelongsToTheTraceOfTheRequest(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent := k.Collect(topics.Deliveries)
	spans := tracetest.NewSpanRecorder()
	r, err := New(k.DB, dispatchtest.Registry(), dispatchtest.Components{}, Config{
		Kafka: k.Kafka, TTL: dispatchtest.Policy().DeliveryTTL, tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
	})
	require.NoError(t, err)
	stop := k.Run(r.Run)
	e := k.Event("order.created")
	e.Trace = testTrace
	k.Produce(e.Record(t))
	require.Equal(t, testTrace, k.Decode(k.Await(sent, 1)[0]).TraceParent)
	stop()
	require.Len(t, spans.Ended(), 1)
	span := spans.Ended()[0]
	require.Equal(t, "process "+topics.Events, span.Name())
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", span.SpanContext().TraceID().String())
	require.Equal(t, "00f067aa0ba902b7", span.Parent().SpanID().String())
}

// mending takes nothing until it works.
type mending struct {
	lost
	next  producer
	works atomic.Bool
}

func (m *mending) ProduceSync(ctx context.Context, records ...*kgo.Record) kgo.ProduceResults {
	if m.works.Load() {
		return m.next.ProduceSync(ctx, records...)
	}
	return m.lost.ProduceSync(ctx, records...)
}

// A batch whose brokers are away loses some of its partitions to another router. The others are still routed.
func TestRouterKeepsWhatStaysWhenPartitionsMove(t *testing.T) {
	t.Parallel()
	const events = 64
	k := dispatchtest.New(t, dbtest.Open(t))
	k.Subscription()
	sent := k.Collect(topics.Deliveries)
	for range events {
		rec := k.Event("order.created").Record(t)
		rec.Key = []byte(uuid.NewString()) // spreads them over the partitions
		k.Produce(rec)
	}
	out := &mending{}
	runRouter(k, func(r *Router) { out.next, r.out = r.client, out })
	require.Eventually(t, func() bool { return k.Deliveries("true") == events && out.calls.Load() > 2 }, time.Minute, time.Millisecond)
	runRouter(k, nil)
	require.Eventually(t, func() bool { return len(sent()) > 0 }, time.Minute, time.Millisecond, "the other router has its share")
	require.Less(t, len(sent()), events)
	out.works.Store(true)
	k.Await(sent, events)
	got := map[uuid.UUID]bool{}
	for _, r := range sent() {
		got[k.Decode(r).EventID] = true
	}
	require.Len(t, got, events)
}

func TestChangesSeenAreTheLatestOfEachCompany(t *testing.T) {
	t.Parallel()
	one, two, three := tenant.NewID(), tenant.NewID(), tenant.NewID()
	of := func(company tenant.ID, changes ...int64) *incoming {
		e := &incoming{Event: &match.Event{Company: company}}
		if len(changes) > 0 {
			e.Changes = &changes[0]
		}
		return e
	}
	require.Equal(t, map[tenant.ID]int64{one: 5, three: 0}, changesSeen([]*incoming{of(one, 4), of(two, 1), of(one, 5), of(two), of(one, 3), of(three, 0)}),
		"an event of a relay that did not look may be the latest")
}
