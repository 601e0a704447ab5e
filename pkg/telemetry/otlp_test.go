package telemetry_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
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
	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	datapb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tradegrid/tradegrid/pkg/telemetry"
)

// collector takes OTLP over HTTP and keeps what it got.
type collector struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	spans    map[string]string // name → trace id
	metrics  map[string]*datapb.Metric
	lines    map[string]*logLine
	resource map[string]string
	requests int
}

type logLine struct {
	trace    string
	severity string
	attrs    map[string]string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, spans: map[string]string{}, metrics: map[string]*datapb.Metric{}, lines: map[string]*logLine{}, resource: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", take(c, &tracepb.ExportTraceServiceRequest{}, c.traces))
	mux.HandleFunc("POST /v1/metrics", take(c, &metricspb.ExportMetricsServiceRequest{}, c.measured))
	mux.HandleFunc("POST /v1/logs", take(c, &logspb.ExportLogsServiceRequest{}, c.logged))
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func take[M proto.Message](c *collector, empty M, keep func(M)) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				c.t.Error(err)
				return
			}
			body = unpacked
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			c.t.Error(err)
			return
		}
		m := proto.Clone(empty).(M)
		if err := proto.Unmarshal(raw, m); err != nil {
			c.t.Error(err)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests++
		keep(m)
	}
}

func (c *collector) traces(m *tracepb.ExportTraceServiceRequest) {
	for _, rs := range m.GetResourceSpans() {
		c.resource = texts(rs.GetResource().GetAttributes())
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				c.spans[s.GetName()] = hex.EncodeToString(s.GetTraceId())
			}
		}
	}
}

func (c *collector) measured(m *metricspb.ExportMetricsServiceRequest) {
	for _, rm := range m.GetResourceMetrics() {
		for _, sm := range rm.GetScopeMetrics() {
			for _, m := range sm.GetMetrics() {
				c.metrics[m.GetName()] = m
			}
		}
	}
}

func (c *collector) logged(m *logspb.ExportLogsServiceRequest) {
	for _, rl := range m.GetResourceLogs() {
		for _, sl := range rl.GetScopeLogs() {
			for _, r := range sl.GetLogRecords() {
				c.lines[r.GetBody().GetStringValue()] = &logLine{hex.EncodeToString(r.GetTraceId()), r.GetSeverityText(), texts(r.GetAttributes())}
			}
		}
	}
}

func texts(attrs []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attrs {
		all[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return all
}

func newLog(w io.Writer) *slog.Logger {
	return slog.New(telemetry.Handler(slog.NewTextHandler(w, nil), slog.LevelInfo))
}

// All three signals arrive, tell who sends them, and lead from one to the other: the line and the exemplar to the trace.
// The providers are the process's, so this test runs alone.
func TestAllSignalsReachTheCollector(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=api-0")
	c := newCollector(t)
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
	require.Equal(t, id, c.spans["work"])
	for key, want := range map[string]string{
		"service.name": "tradegrid-test", "service.version": "1", "service.instance.id": "here", "service.namespace": "tradegrid", "k8s.pod.name": "api-0",
	} {
		require.Equal(t, want, c.resource[key], key)
	}
	require.NotEmpty(t, c.resource["host.name"])
	require.EqualValues(t, 2, c.metrics["test.calls"].GetSum().GetDataPoints()[0].GetAsInt())
	point := c.metrics["test_took_seconds"].GetHistogram().GetDataPoints()[0]
	require.EqualValues(t, 1, point.GetCount())
	require.Equal(t, id, hex.EncodeToString(point.GetExemplars()[0].GetTraceId()))
	require.Equal(t, id, c.lines["worked"].trace)
	require.Equal(t, "north", c.lines["worked"].attrs["shop"])
	require.NotContains(t, c.lines, "details", "below the level")
	require.Contains(t, stderr.String(), "trace_id="+id+" span_id="+span.SpanContext().SpanID().String())
}

// Only what is asked for goes out.
func TestSignalsCanBeChosen(t *testing.T) { //nolint:paralleltest // the providers are the process's
	c := newCollector(t)
	log := newLog(io.Discard)
	tel, err := telemetry.Start(t.Context(), telemetry.Config{Endpoint: c.URL, Signals: []string{telemetry.SignalTraces}, Sample: 1, Log: log})
	require.NoError(t, err)
	ctx, span := tel.Provider.Tracer("test").Start(t.Context(), "work")
	log.InfoContext(ctx, "worked")
	span.End()
	tel.Stop(t.Context())
	require.Contains(t, c.spans, "work")
	require.Empty(t, c.metrics)
	require.Empty(t, c.lines)
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
