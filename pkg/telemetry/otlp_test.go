package telemetry_test

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/tradegrid/tradegrid/pkg/telemetry"
	"github.com/tradegrid/tradegrid/pkg/telemetry/otlptest"
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
	log := newLog(stderr)
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "test_took_seconds", Help: "h", Buckets: []float64{1}})
	tel, err := telemetry.Start(t.Context(), telemetry.Config{
		Service: "tradegrid-test", Instance: "here", Release: "1", Endpoint: c.URL, Sample: 1, Metrics: []prometheus.Collector{took}, Log: log,
	})
	require.NoError(t, err)
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
	log := newLog(io.Discard)
	tel, err := telemetry.Start(t.Context(), telemetry.Config{Endpoint: c.URL, Signals: []string{telemetry.SignalTraces}, Sample: 1, Log: log})
	require.NoError(t, err)
	ctx, span := tel.Provider.Tracer("test").Start(t.Context(), "work")
	log.InfoContext(ctx, "worked")
	span.End()
	tel.Stop(t.Context())
	require.Len(t, c.Spans(), 1)
	require.Empty(t, c.Metrics())
	require.Empty(t, c.Lines())
}

// A collector that hangs holds up nobody; what it does not take is counted, and the log tells it once.
func TestCollectorThatIsDown(t *testing.T) { //nolint:paralleltest // the providers are the process's
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hang)
	stderr := &lines{}
	tel, err := telemetry.Start(t.Context(), telemetry.Config{Endpoint: server.URL, Signals: []string{telemetry.SignalTraces}, Sample: 1, Metrics: telemetry.Metrics(), Log: newLog(stderr)})
	require.NoError(t, err)
	start := time.Now()
	for range 20_000 { // many times what waits to be sent
		_, span := tel.Provider.Tracer("test").Start(t.Context(), "work")
		span.End()
	}
	require.Less(t, time.Since(start), 4*time.Second, "nobody waits for the collector, which is given 5 s")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	tel.Stop(ctx)
	_, page := get(t, tel, "/metrics")
	require.Contains(t, page, `tradegrid_telemetry_lost_total{signal="metrics"} 0`)
	require.Eventually(t, func() bool {
		_, page := get(t, tel, "/metrics")
		return !strings.Contains(page, `tradegrid_telemetry_lost_total{signal="traces"} 0`)
	}, 20*time.Second, 10*time.Millisecond, "counted")
	require.LessOrEqual(t, strings.Count(stderr.String(), "telemetry is lost"), 1)
}
