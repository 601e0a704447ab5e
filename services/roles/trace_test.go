package roles_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
	"github.com/tradegrid/tradegrid/topics"
)

// flow is one order on its way through all roles in this process: its webhook fails once and then succeeds.
type flow struct {
	spans    *tracetest.SpanRecorder
	caller   trace.SpanContext // of the integration that placed the order
	attempts []http.Header     // of order.created, as they arrived
	db       *db.DB
	brokers  []string
}

const deliveryTimeout = time.Minute

// runFlow places the order and waits for the second attempt. It sets the tracer of the process.
func runFlow(t *testing.T, propagate bool) *flow {
	t.Helper()
	f := &flow{spans: tracetest.NewSpanRecorder()}
	before := otel.GetTracerProvider()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(f.spans), sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
	otel.SetTracerProvider(provider)
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 8, Tracer: provider})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	brokers := dbtest.Broker(t)
	f.db, f.brokers = d, brokers
	n := rolestest.NewNode(d, rolestest.Alone())
	arrived := make(chan arrivedHook, 64)
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get(webhook.HeaderAttempt) == "1" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		arrived <- arrivedHook{r.Header.Clone(), string(body)}
	}))
	t.Cleanup(hooks.Close)
	records := fill(t, n)
	records.owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"`+hooks.URL+`/","events":["order.created"]}`)
	rolestest.StartRelay(t, d, brokers)
	startDispatcher(t, n, brokers, propagate)

	ctx, client := provider.Tracer("test").Start(t.Context(), "integration")
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	f.caller = client.SpanContext()
	order := records.owner.OK(t, "POST", "/orders", `{"items":[{"refId":"`+records.id["PRODUCT"]+`","qty":2}]}`, "traceparent", carrier["traceparent"])
	client.End()
	f.await(t, arrived, order.ID(t))
	return f
}

type arrivedHook struct {
	header http.Header
	body   string
}

// await takes the two attempts to deliver the order.
func (f *flow) await(t *testing.T, arrived <-chan arrivedHook, order string) {
	t.Helper()
	for timeout := time.After(deliveryTimeout); len(f.attempts) < 2; {
		select {
		case hook := <-arrived:
			if strings.Contains(hook.body, order) {
				f.attempts = append(f.attempts, hook.header)
			}
		case <-timeout:
			require.FailNow(t, "the order was not delivered in time", "%d attempts", len(f.attempts))
		}
	}
	require.Eventually(t, func() bool { return len(f.posts()) == 2 }, deliveryTimeout, 5*time.Millisecond)
}

// startDispatcher runs all roles of the dispatcher with short delays.
func startDispatcher(t *testing.T, n *rolestest.Node, brokers []string, propagate bool) {
	t.Helper()
	flags := config.Defaults[roles.DispatcherFlags](roles.Vars())
	flags.Egress.AllowInsecure, flags.PropagateTrace, flags.Sweeper.Every = true, propagate, time.Hour
	for i := range flags.RetryDelays {
		flags.RetryDelays[i] = time.Duration(i+1) * 50 * time.Millisecond
	}
	notes := map[string]func() []string{}
	d := roles.Dispatcher{
		DispatcherFlags: flags, Domains: n.Domains, Broker: kafka.Config{Brokers: brokers, ClientID: "dispatcher"}, Log: slog.New(slog.DiscardHandler),
		Note: func(name string, current func() []string) { notes[name] = current },
	}
	parts, err := d.Parts()
	require.NoError(t, err)
	require.Empty(t, notes["partitions"](), "/readyz tells which partitions nobody reads")
	for _, part := range parts {
		apitest.Background(t, part)
	}
}

// named are the finished spans whose name begins so and that match.
func (f *flow) named(name string, match func(sdktrace.ReadOnlySpan) bool) []sdktrace.ReadOnlySpan {
	return slices.DeleteFunc(f.spans.Ended(), func(s sdktrace.ReadOnlySpan) bool { return !strings.HasPrefix(s.Name(), name) || !match(s) })
}

// posts are the attempts to deliver the order, in their order.
func (f *flow) posts() []sdktrace.ReadOnlySpan {
	delivery := f.attempts[0].Get(webhook.HeaderDeliveryID)
	return f.named(http.MethodPost, func(s sdktrace.ReadOnlySpan) bool { return text(s, "messaging.message.id") == delivery })
}

func text(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// ours are the spans of the trace that the integration began.
func (f *flow) ours(s sdktrace.ReadOnlySpan) bool {
	return s.SpanContext().TraceID() == f.caller.TraceID()
}

func (f *flow) one(t *testing.T, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	return f.awaitSpan(t, name, f.ours)
}

// awaitSpan waits for the end of the one span that matches.
func (f *flow) awaitSpan(t *testing.T, name string, match func(sdktrace.ReadOnlySpan) bool) sdktrace.ReadOnlySpan {
	t.Helper()
	require.Eventually(t, func() bool { return len(f.named(name, match)) > 0 }, deliveryTimeout, 5*time.Millisecond, name)
	found := f.named(name, match)
	require.Len(t, found, 1, name)
	return found[0]
}

// One trace leads from the integration's request to the receiver.
func TestOneTraceFromRequestToReceiver(t *testing.T) { //nolint:paralleltest // sets the tracer of the process
	f := runFlow(t, true)
	server := f.one(t, "POST "+httpapi.BasePath+"/orders")
	require.Equal(t, trace.SpanKindServer, server.SpanKind())
	require.Equal(t, f.caller.SpanID(), server.Parent().SpanID())
	require.True(t, server.Parent().IsRemote())
	tx := f.one(t, "tx numbering.order")
	require.Equal(t, server.SpanContext().SpanID(), tx.Parent().SpanID())
	routed := f.one(t, "process "+topics.Events)
	require.Equal(t, trace.SpanKindConsumer, routed.SpanKind())
	// Orders of several requests may share a transaction, so that what an order causes belongs to its request.
	created := server.SpanContext()
	require.Equal(t, created.SpanID(), routed.Parent().SpanID())
	require.Equal(t, "order.created", text(routed, "app.event"))

	posts := f.posts()
	first, second := posts[0], posts[1]
	require.Equal(t, trace.SpanKindClient, first.SpanKind())
	require.Equal(t, f.caller.TraceID(), first.SpanContext().TraceID())
	require.Equal(t, created.SpanID(), first.Parent().SpanID(), "messages keep the context of their creation")
	require.Equal(t, "500", text(first, "http.response.status_code"))
	require.Equal(t, "0", text(first, "http.request.resend_count"))

	// What is done for many requests at once, or much later, links to the request.
	send := f.awaitSpan(t, "send ", func(s sdktrace.ReadOnlySpan) bool { return linked(s, created) })
	require.Equal(t, trace.SpanKindProducer, send.SpanKind())
	require.NotEqual(t, f.caller.TraceID(), send.SpanContext().TraceID())
	require.NotEqual(t, f.caller.TraceID(), second.SpanContext().TraceID())
	require.False(t, second.Parent().IsValid())
	require.True(t, linked(second, created))
	require.Equal(t, "1", text(second, "http.request.resend_count"))

	f.requireProductTrace(t)
	for i, h := range f.attempts {
		require.Equal(t, strconv.Itoa(i+1), h.Get(webhook.HeaderAttempt))
		got := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(h)))
		require.Equal(t, posts[i].SpanContext().TraceID(), got.TraceID())
		require.Equal(t, posts[i].SpanContext().SpanID(), got.SpanID())
	}
}

// What a change of its own transaction causes belongs to that transaction.
func (f *flow) requireProductTrace(t *testing.T) {
	t.Helper()
	routed := f.awaitSpan(t, "process "+topics.Events, func(s sdktrace.ReadOnlySpan) bool { return text(s, "app.event") == "product.created" })
	all := map[trace.SpanID]sdktrace.ReadOnlySpan{}
	for _, s := range f.spans.Ended() {
		all[s.SpanContext().SpanID()] = s
	}
	tx := all[routed.Parent().SpanID()]
	require.NotNil(t, tx)
	require.True(t, strings.HasPrefix(tx.Name(), "tx "), tx.Name())
	server := all[tx.Parent().SpanID()]
	require.NotNil(t, server)
	require.Equal(t, "POST "+httpapi.BasePath+"/catalog/products", server.Name())
	require.Equal(t, server.SpanContext().TraceID(), routed.SpanContext().TraceID())
}

func linked(s sdktrace.ReadOnlySpan, to trace.SpanContext) bool {
	return slices.ContainsFunc(s.Links(), func(l sdktrace.Link) bool {
		return l.SpanContext.TraceID() == to.TraceID() && l.SpanContext.SpanID() == to.SpanID()
	})
}

// Receivers are strangers: they see no ids of traces unless an operator wants it.
func TestReceiversSeeNoTraceByDefault(t *testing.T) { //nolint:paralleltest // sets the tracer of the process
	f := runFlow(t, false)
	require.Len(t, f.posts(), 2)
	for _, h := range f.attempts {
		require.Empty(t, h.Values("traceparent"))
		require.Empty(t, h.Values("tracestate"))
	}
}

// What operators are told to watch is there to be watched, once it has happened.
func TestOperatorsFindTheMetricsOfTheDocs(t *testing.T) { //nolint:paralleltest // sets the tracer of the process
	f := runFlow(t, false)
	f.conflict(t)
	f.poison(t)
	registry := prometheus.NewRegistry()
	registry.MustRegister(roles.AllMetrics()...)
	doc, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	watched := regexp.MustCompile(`tradegrid_[a-z_]+`).FindAllString(string(doc), -1)
	require.Greater(t, len(watched), 5)
	var missing []string
	require.Eventually(t, func() bool {
		exposed := exposedBy(t, registry)
		missing = slices.DeleteFunc(slices.Clone(watched), func(name string) bool { return exposed[name] })
		return len(missing) == 0
	}, deliveryTimeout, 50*time.Millisecond, "missing: %v", &missing)
}

func exposedBy(t *testing.T, registry *prometheus.Registry) map[string]bool {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	exposed := map[string]bool{}
	for _, family := range families {
		exposed[family.GetName()] = true
	}
	return exposed
}

// conflict makes a transaction run twice.
func (f *flow) conflict(t *testing.T) {
	t.Helper()
	tries := 0
	require.NoError(t, f.db.RunTx(t.Context(), "test.conflict", func(context.Context, *db.Tx) error {
		if tries++; tries == 1 {
			return &pgconn.PgError{Code: "40001"}
		}
		return nil
	}))
	require.Equal(t, 2, tries)
}

// poison puts a record on the topic of events that nobody can read.
func (f *flow) poison(t *testing.T) {
	t.Helper()
	client, err := kafka.NewClient(kafka.Config{Brokers: f.brokers, ClientID: "test"})
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: topics.Events, Key: []byte("x"), Value: []byte("{")}).FirstErr())
}
