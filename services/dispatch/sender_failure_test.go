package dispatch

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// outage makes every transaction fail while it lasts.
type outage struct{ on atomic.Bool }

func (o *outage) Fault(_ context.Context, p db.Point, _ int) error {
	if p == db.AtBegin && o.on.Load() {
		return &pgconn.PgError{Severity: "FATAL", Code: "53300", Message: "outage"}
	}
	return nil
}

func TestSenderTakesNoMoreWorkThanItCanRecord(t *testing.T) {
	t.Parallel()
	down := &outage{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4, Inject: down})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	rig := newSenderRig(t, d, func(c *SenderConfig) {
		c.Results = ResultsConfig{Linger: time.Millisecond, Batch: 50, Limit: 100}
		c.Retry.MaxParks = 1000 // no sweeper here
	})
	rig.forward() // on a busy machine the lane may be full for a moment
	h := newHook(t, status(200))
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 3000)
	down.on.Store(true)
	rig.produce(m...)
	rig.eventually(func() bool { return rig.sender.results.blocked() != nil }, "blocked")
	// What was let in before the results piled up is sent; then it stays quiet.
	before := -1
	rig.eventually(func() bool {
		n := len(h.all())
		quiet := n == before
		before = n
		return quiet
	}, "quiet")
	require.Less(t, before, 3000)
	require.Zero(t, rig.inState(sub, webhook.StateSuccess))
	down.on.Store(false)
	rig.eventually(func() bool { return rig.inState(sub, webhook.StateSuccess) == 3000 }, "all recorded")
	require.Len(t, h.all(), 3000, "nothing sent twice")
}

func TestSenderRecognisesRepeatsByTheDatabase(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	h := newHook(t, status(200))
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 5)
	set := func(m *webhook.Message, state, attempt int) {
		rig.exec(`UPDATE deliveries SET state = $4, attempt = $5 WHERE company_id = $1 AND subscription_id = $2 AND id = $3`,
			m.Company, m.SubscriptionID, m.DeliveryID, state, attempt)
	}
	m[0].Attempt = 3
	set(m[0], 0, 2) // the attempt to be made
	m[1].Attempt = 3
	set(m[1], 0, 3) // made already
	m[2].Attempt = 3
	set(m[2], 2, 1) // over
	m[3].Attempt = 1
	set(m[3], 1, 0) // begun by a worker that died
	rig.produce(m...)
	rig.eventuallyState(m[4], webhook.StateSuccess)
	rig.eventuallyState(m[0], webhook.StateSuccess)
	rig.eventuallyState(m[3], webhook.StateSuccess)
	got := map[string]int{}
	for _, hit := range h.all() {
		got[hit.id] = hit.attempt
	}
	require.Equal(t, map[string]int{m[0].DeliveryID.String(): 3, m[3].DeliveryID.String(): 1, m[4].DeliveryID.String(): 1}, got)
	require.EqualValues(t, 3, rig.row(m[1]).Attempt)
}

func TestSenderMovesPartitionsWithoutLoss(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	rig.forward() // on a busy machine a delivery may wait too long for its turn
	h := newHook(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-r.Context().Done():
		}
	})
	const receivers, each = 20, 100
	var subs []uuid.UUID
	for range receivers {
		sub, _ := rig.subscribe(h.URL)
		subs = append(subs, sub)
		rig.produceAll(rig.messages(sub, each))
	}
	rig.eventually(func() bool { return len(h.all()) > 100 }, "under way")
	first := rig.stop
	rig.run(quickConfig(rig.brokers)) // joins the group
	rig.eventually(func() bool { return len(h.all()) > 600 }, "two members")
	first() // and the first one leaves
	rig.eventually(func() bool {
		done := 0
		for _, sub := range subs {
			done += rig.inState(sub, webhook.StateSuccess)
		}
		return done == receivers*each
	}, "all delivered")
	ids := map[string]bool{}
	for _, hit := range h.all() {
		ids[hit.id] = true
	}
	require.Len(t, ids, receivers*each)
}

func TestSenderTraces(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	rig := newSenderRig(t, dbtest.Open(t), func(c *SenderConfig) { c.Tracer, c.PropagateTrace = provider, true })
	rig.forward()
	var calls atomic.Int64
	h := newHook(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	sub, _ := rig.subscribe(h.URL)
	m := rig.messages(sub, 1)[0]
	m.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	rig.produce(m)
	rig.eventuallyState(m, webhook.StateSuccess)
	ended := spans.Ended()
	require.Len(t, ended, 2)
	cause := "0af7651916cd43dd8448eb211c80319c"
	require.Equal(t, cause, ended[0].SpanContext().TraceID().String(), "the first attempt belongs to the request")
	require.Equal(t, "b7ad6b7169203331", ended[0].Parent().SpanID().String())
	require.NotEqual(t, cause, ended[1].SpanContext().TraceID().String(), "a retry is a trace of its own")
	require.Equal(t, cause, ended[1].Links()[0].SpanContext.TraceID().String())
	require.Equal(t, trace.SpanKindClient, ended[0].SpanKind())
	for i, hit := range h.all() {
		ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(hit.header))
		require.Equal(t, ended[i].SpanContext().SpanID(), trace.SpanContextFromContext(ctx).SpanID())
	}
}

func TestReceiverCacheFollowsAnnouncements(t *testing.T) {
	t.Parallel()
	rig := newSenderRig(t, dbtest.Open(t), nil)
	sub, _ := rig.subscribe("https://one.example/")
	cache := NewReceiverCache(rig.db, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- cache.Watch(ctx, kafka.Config{Brokers: rig.brokers}) }()
	host := func() string {
		r, err := cache.Receiver(ctx, rig.company, sub)
		require.NoError(t, err)
		return r.URL.Host
	}
	require.Equal(t, "one.example", host())
	rig.exec(`UPDATE webhook_subscriptions SET url = 'https://two.example/' WHERE company_id = $1 AND id = $2`, rig.company, sub)
	require.Equal(t, "one.example", host(), "kept")
	rig.eventually(func() bool {
		// Announced again and again: the watch begins at the end of the topic at an unknown moment.
		rec := &kgo.Record{Topic: topics.Subscriptions, Key: []byte(rig.company.String() + "/" + sub.String()), Value: []byte("{}")}
		require.NoError(t, rig.client.ProduceSync(ctx, rec).FirstErr())
		return host() == "two.example"
	}, "announced")
	cancel()
	require.NoError(t, <-done)

	r, err := cache.Receiver(t.Context(), rig.company, uuid.New())
	require.NoError(t, err)
	require.Nil(t, r)
}
