package sender

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// outage makes every transaction fail while it lasts.
type outage struct{ on atomic.Bool }

func (o *outage) inject(_ context.Context, h failpoint.Hit) error {
	if h.Point == db.AtBegin && o.on.Load() {
		return &pgconn.PgError{Severity: "FATAL", Code: "53300", Message: "outage"}
	}
	return nil
}

func TestSenderTakesNoMoreWorkThanItCanRecord(t *testing.T) {
	t.Parallel()
	down := &outage{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4, Inject: down.inject})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	k := newKit(t, d, func(c *Config) {
		c.Results = ResultsConfig{Linger: time.Millisecond, batch: 50, limit: 100}
		c.Queues.burst = 200            // on a busy machine, all are let in before the first results are there
		c.Retry.maxPostponements = 1000 // no sweeper here
		c.Egress.Timeout = time.Minute  // a busy machine may pause for long: an attempt that it cuts off would be repeated
	})
	k.ForwardDelayed() // on a busy machine the queue may be full for a moment
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 3000)
	down.on.Store(true)
	k.Send(m...)
	k.Eventually(func() bool { return k.sender.results.blocked() != nil }, "blocked")
	// What was let in before the results piled up is sent; then it stays quiet.
	before := -1
	k.Eventually(func() bool {
		n := len(h.Requests())
		quiet := n == before
		before = n
		return quiet
	}, "quiet")
	require.Less(t, before, 3000)
	require.Zero(t, k.InState(sub, webhook.StateSuccess))
	down.on.Store(false)
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 3000 }, "all recorded")
	require.Len(t, h.Requests(), 3000, "nothing sent twice")
}

func TestSenderRecognisesRepeatsByTheDatabase(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	h := dispatchtest.NewReceiver(t, dispatchtest.Status(200))
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 5)
	set := func(m *webhook.Message, state, attempt int) {
		k.Exec(`UPDATE deliveries SET state = $4, attempt = $5 WHERE company_id = $1 AND subscription_id = $2 AND id = $3`,
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
	k.Send(m...)
	k.AwaitState(m[4].DeliveryID, webhook.StateSuccess)
	k.AwaitState(m[0].DeliveryID, webhook.StateSuccess)
	k.AwaitState(m[3].DeliveryID, webhook.StateSuccess)
	got := map[string]int{}
	for _, hit := range h.Requests() {
		got[hit.ID] = hit.Attempt
	}
	require.Equal(t, map[string]int{m[0].DeliveryID.String(): 3, m[3].DeliveryID.String(): 1, m[4].DeliveryID.String(): 1}, got)
	require.EqualValues(t, 3, k.Row(m[1].DeliveryID).Attempt)
}

func TestSenderMovesPartitionsWithoutLoss(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	k.ForwardDelayed() // on a busy machine a delivery may wait too long for its turn
	h := dispatchtest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-r.Context().Done():
		}
	})
	const receivers, each = 20, 100
	var subs []uuid.UUID
	for range receivers {
		sub, _ := k.Subscribe(h.URL)
		subs = append(subs, sub)
		k.Send(k.Messages(sub, each)...)
	}
	k.Eventually(func() bool { return len(h.Requests()) > 100 }, "under way")
	first := k.stop
	k.run(quickConfig(k.Kafka)) // joins the group
	k.Eventually(func() bool { return len(h.Requests()) > 600 }, "two members")
	first() // and the first one leaves
	k.Eventually(func() bool {
		done := 0
		for _, sub := range subs {
			done += k.InState(sub, webhook.StateSuccess)
		}
		return done == receivers*each
	}, "all delivered")
	ids := map[string]bool{}
	for _, hit := range h.Requests() {
		ids[hit.ID] = true
	}
	require.Len(t, ids, receivers*each)
}

func TestSenderTraces(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.tracer, c.PropagateTrace = provider, true })
	k.ForwardDelayed()
	var calls atomic.Int64
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	sub, _ := k.Subscribe(h.URL)
	m := k.Messages(sub, 1)[0]
	m.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	k.Send(m)
	k.AwaitState(m.DeliveryID, webhook.StateSuccess)
	ended := spans.Ended()
	require.Len(t, ended, 2)
	cause := "0af7651916cd43dd8448eb211c80319c"
	require.Equal(t, cause, ended[0].SpanContext().TraceID().String(), "the first attempt belongs to the request")
	require.Equal(t, "b7ad6b7169203331", ended[0].Parent().SpanID().String())
	require.NotEqual(t, cause, ended[1].SpanContext().TraceID().String(), "a retry is a trace of its own")
	require.Equal(t, cause, ended[1].Links()[0].SpanContext.TraceID().String())
	require.Equal(t, trace.SpanKindClient, ended[0].SpanKind())
	for i, hit := range h.Requests() {
		ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(hit.Header))
		require.Equal(t, ended[i].SpanContext().SpanID(), trace.SpanContextFromContext(ctx).SpanID())
	}
}

// Receivers that are asked for one after the other are read at intervals, so that those of other callers join.
func TestReceiversAreReadAtIntervals(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	c := NewReceiverCache(k.DB, time.Hour, k.Keys, slog.New(slog.DiscardHandler))
	const n = 20
	began := time.Now()
	for range n {
		_, err := c.get(t.Context(), webhook.SubscriptionKey{Company: k.Company, ID: uuid.New()})
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, time.Since(began), (n-1)*loadPause)
}

// receiverQueries counts the queries of a cache of receivers.
type receiverQueries struct {
	db.Querier
	n atomic.Int32
}

func (c *receiverQueries) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	c.n.Add(1)
	return c.Querier.Query(ctx, sql, args...)
}

// Receivers that are used and expire soon are read with one that has expired, unless their change is announced meanwhile.
func TestReceiversThatExpireSoonAreReadTogether(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	q := &receiverQueries{Querier: k.DB}
	const ttl = time.Hour
	c := NewReceiverCache(q, ttl, k.Keys, slog.New(slog.DiscardHandler))
	var keys [3]webhook.SubscriptionKey
	for i := range keys {
		keys[i] = webhook.SubscriptionKey{Company: k.Company, ID: k.Subscription()}
	}
	queries := func(i int, age time.Duration) int32 {
		before := q.n.Load()
		c.mu.Lock()
		if e, ok := c.entries.Peek(keys[i]); ok {
			e.loadedAt = time.Now().Add(-age)
		}
		c.mu.Unlock()
		r, err := c.get(t.Context(), keys[i])
		require.NoError(t, err)
		require.NotNil(t, r)
		return q.n.Load() - before
	}
	for i := range keys {
		require.EqualValues(t, 1, queries(i, 0))
	}
	require.Zero(t, queries(0, ttl*3/4))
	require.Zero(t, queries(1, ttl*3/4))
	c.invalidate(keys[1])
	require.EqualValues(t, 1, queries(2, ttl+1), "with the first")
	c.mu.Lock()
	first, _ := c.entries.Peek(keys[0])
	require.Less(t, time.Since(first.loadedAt), ttl/2)
	require.False(t, c.entries.Contains(keys[1]))
	c.mu.Unlock()
	require.NotNil(t, first.receiver)
}

func TestReceiverCacheFollowsAnnouncements(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil)
	sub, _ := k.Subscribe("https://one.example/")
	cache := NewReceiverCache(k.DB, time.Hour, k.Keys, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- cache.Watch(ctx, k.Kafka) }()
	host := func() string {
		r, err := cache.get(ctx, webhook.SubscriptionKey{Company: k.Company, ID: sub})
		require.NoError(t, err)
		return r.URL.Host
	}
	require.Equal(t, "one.example", host())
	k.Exec(`UPDATE webhook_subscriptions SET url = 'https://two.example/' WHERE company_id = $1 AND id = $2`, k.Company, sub)
	require.Equal(t, "one.example", host(), "kept")
	k.Eventually(func() bool {
		// Announced again and again: the watch begins at the end of the topic at an unknown moment.
		rec := &kgo.Record{Topic: topics.Subscriptions, Key: []byte(k.Company.String() + "/" + sub.String()), Value: []byte("{}")}
		require.NoError(t, k.Client.ProduceSync(ctx, rec).FirstErr())
		return host() == "two.example"
	}, "announced")
	cancel()
	require.NoError(t, <-done)

	r, err := cache.get(t.Context(), webhook.SubscriptionKey{Company: k.Company, ID: uuid.New()})
	require.NoError(t, err)
	require.Nil(t, r)
}
