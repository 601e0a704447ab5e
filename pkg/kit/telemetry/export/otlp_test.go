package export_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/export"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/otlptest"
)

func newLog(w io.Writer) *slog.Logger {
	return slog.New(telemetry.Handler(slog.NewTextHandler(w, nil), slog.LevelInfo))
}

// All three signals arrive, tell who sends them, and lead from one to the other: the line and the exemplar to the trace.
// The providers are the process's, so this test runs alone.
func TestAllSignalsReachTheCollector(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=api-0")
	c := otlptest.New(t)
	stderr := &lines{}
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "test_took_seconds", Help: "h", Buckets: []float64{1}})
	tel, err := export.Start(t.Context(), export.Config{
		Service: "tradegrid-test", Instance: "here", Release: "1", Endpoint: c.URL, Sample: 1, Metrics: []prometheus.Collector{took}, Log: newLog(stderr),
	})
	require.NoError(t, err)
	log := newLog(stderr) // a handler keeps the provider that it found first
	calls, err := otel.Meter("test").Int64Counter("test.calls", metric.WithUnit("{call}"))
	require.NoError(t, err)
	ctx, span := otel.Tracer("test").Start(t.Context(), "work")
	calls.Add(ctx, 2)
	telemetry.Observe(ctx, took, 0.5)
	log.With("shop", "north").InfoContext(ctx, "worked", "n", "1")
	log.DebugContext(ctx, "details")
	span.End()
	id := span.SpanContext().TraceID().String()

	_, page := get(t, tel, "/metrics")
	require.Contains(t, page, "test_calls_total 2", "an instrument is on the page")
	tel.Stop(t.Context())
	require.Equal(t, "work", c.Spans()[0].Name)
	require.Equal(t, id, c.Spans()[0].Trace)
	for key, want := range map[string]string{
		"service.name": "tradegrid-test", "service.version": "1", "service.instance.id": "here", "service.namespace": "tradegrid", "k8s.pod.name": "api-0",
	} {
		require.Equal(t, want, c.Resource()[key], key)
	}
	require.NotEmpty(t, c.Resource()["host.name"])
	require.EqualValues(t, 2, c.Metrics()["test.calls"].GetSum().GetDataPoints()[0].GetAsInt())
	point := c.Metrics()["test_took_seconds"].GetHistogram().GetDataPoints()[0]
	require.EqualValues(t, 1, point.GetCount())
	require.Equal(t, id, hex.EncodeToString(point.GetExemplars()[0].GetTraceId()))
	got := c.Lines()
	require.Len(t, got, 1, "the other is below the level")
	require.Equal(t, "worked", got[0].Text)
	require.Equal(t, id, got[0].Trace)
	require.Equal(t, "north", got[0].Attrs["shop"])
	require.Contains(t, stderr.String(), "trace_id="+id+" span_id="+span.SpanContext().SpanID().String())
}

// Only what is asked for goes out.
func TestSignalsCanBeChosen(t *testing.T) { //nolint:paralleltest // the providers are the process's
	c := otlptest.New(t)
	tel, err := export.Start(t.Context(), export.Config{Endpoint: c.URL, Signals: []string{export.SignalTraces}, Sample: 1, Log: newLog(io.Discard)})
	require.NoError(t, err)
	log := newLog(io.Discard)
	ctx, span := tel.Provider.Tracer("test").Start(t.Context(), "work")
	log.InfoContext(ctx, "worked")
	span.End()
	tel.Stop(t.Context())
	require.Len(t, c.Spans(), 1)
	require.Empty(t, c.Metrics())
	require.Empty(t, c.Lines())
}

// What the collector took makes room for more.
func TestQueueIsUsedAgainAndAgain(t *testing.T) { //nolint:paralleltest // the providers are the process's
	c := otlptest.New(t)
	tel, err := export.Start(t.Context(), export.Config{Endpoint: c.URL, Signals: []string{export.SignalTraces}, Sample: 1, Metrics: export.Metrics(), Log: newLog(io.Discard)})
	require.NoError(t, err)
	before := lost(t, tel, "traces")
	const times, n = 3, 1500
	for range times {
		for range n {
			_, span := tel.Provider.Tracer("test").Start(t.Context(), "work")
			span.End()
		}
		require.NoError(t, tel.Provider.ForceFlush(t.Context()))
	}
	require.Equal(t, times*n, len(c.Spans())) //nolint:testifylint // a failure must not show thousands of spans
	require.InDelta(t, before, lost(t, tel, "traces"), 0)
	tel.Stop(t.Context())
}

// A collector that hangs holds up nobody; every span that it does not take is counted, those that cannot even wait for it
// too, and the log tells it once.
func TestCollectorThatIsDown(t *testing.T) { //nolint:paralleltest // the providers are the process's
	hang := make(chan struct{})
	release := sync.OnceFunc(func() { close(hang) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
			w.WriteHeader(http.StatusServiceUnavailable)
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer release()
	stderr := &lines{}
	tel, err := export.Start(t.Context(), export.Config{
		Endpoint: server.URL, Signals: []string{export.SignalTraces, export.SignalLogs}, Sample: 1, Metrics: export.Metrics(), Log: newLog(stderr),
	})
	require.NoError(t, err)
	log := newLog(io.Discard) // a handler keeps the provider that it found first
	const n = 20_000          // many times what may wait
	spans, told := lost(t, tel, "traces"), lost(t, tel, "logs")
	start := time.Now()
	for range n {
		_, span := tel.Provider.Tracer("test").Start(t.Context(), "work")
		span.End()
		log.InfoContext(t.Context(), "worked")
	}
	require.Less(t, time.Since(start), 4*time.Second, "nobody waits for the collector, which is given 5 s")
	require.InDelta(t, n-2048, lost(t, tel, "traces")-spans, 1, "what finds no room is counted at once")
	require.InDelta(t, n-2048, lost(t, tel, "logs")-told, 1)
	release()
	tel.Stop(t.Context())
	require.EqualValues(t, n, lost(t, tel, "traces")-spans, "and nothing is counted twice")
	require.EqualValues(t, n, lost(t, tel, "logs")-told)
	require.Zero(t, lost(t, tel, "metrics"))
	require.LessOrEqual(t, strings.Count(stderr.String(), "telemetry export failed"), 1)
}

// lost is tradegrid_telemetry_lost_total of a signal.
func lost(t *testing.T, tel *export.Telemetry, signal string) (n int) {
	t.Helper()
	_, page := get(t, tel, "/metrics")
	_, value, ok := strings.Cut(page, `tradegrid_telemetry_lost_total{signal="`+signal+`"} `)
	require.True(t, ok, page)
	_, err := fmt.Sscan(value, &n)
	require.NoError(t, err)
	return n
}
