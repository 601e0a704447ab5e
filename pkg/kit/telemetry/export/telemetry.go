// Package export sets up traces, metrics and logs of a process, and serves /livez, /readyz and /metrics.
package export

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Config configures telemetry and its export.
type Config struct {
	Service  string        // such as tradegrid-api
	Instance string        // name of this process, unique among all processes
	Release  string        // release of the program
	Endpoint string        // OTLP over HTTP, such as http://collector:4318; empty = no export, spans go to the debug log
	Signals  []string      // signals to export; empty = all
	Interval time.Duration // export interval of metrics; default 30 s
	Sample   float64       // share of traces started in this process to sample, 0 to 1
	KeepSlow time.Duration // also keep traces that take this long, have errors or belong to late attempts; 0 = keep only the sampled share
	Metrics  []prometheus.Collector
	Log      *slog.Logger
}

// Telemetry holds the providers, metrics and readiness checks of a process.
type Telemetry struct {
	Provider *sdktrace.TracerProvider
	Registry *prometheus.Registry

	instruments *prometheus.Registry // metrics of OpenTelemetry instruments
	sample      *shareSampler
	mu          sync.Mutex // of checks and notes
	checks      map[string]Check
	notes       map[string]func() []string
	stopping    atomic.Bool
	stops       []stop
	log         *slog.Logger
}

// stop flushes and stops one signal.
type stop struct {
	what string
	run  func(context.Context) error
}

// Check returns why the process is not ready; nil means ready.
type Check func(ctx context.Context) error

// Start sets up traces, metrics and logs and installs them as the defaults of the process.
func Start(ctx context.Context, cfg Config) (*Telemetry, error) {
	if cfg.Endpoint != "" {
		if err := CheckEndpoint(cfg.Endpoint); err != nil {
			return nil, err
		}
	}
	if cfg.Interval <= 0 {
		cfg.Interval = 30 * time.Second
	}
	t := &Telemetry{
		sample: newShareSampler(cfg.Sample), Registry: prometheus.NewRegistry(), instruments: prometheus.NewRegistry(),
		checks: map[string]Check{}, notes: map[string]func() []string{}, log: cfg.Log,
	}
	from, err := describe(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(logErrors(cfg.Log))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	for _, start := range []func(context.Context, Config, *resource.Resource) error{t.startTraces, t.startMetrics, t.startLogs} {
		if err := start(ctx, cfg, from); err != nil {
			t.Stop(ctx)
			return nil, err
		}
	}
	all := append(slices.Clone(cfg.Metrics), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range all {
		if err := t.Register(c); err != nil {
			t.Stop(ctx)
			return nil, err
		}
	}
	return t, nil
}

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	for _, signal := range []string{SignalTraces, SignalMetrics, SignalLogs} {
		lost.WithLabelValues(signal)
	}
	for _, reason := range []string{"error", "slow", "attempt"} {
		keptTraces.WithLabelValues(reason)
	}
	for _, reason := range []string{"waiting", "size"} {
		droppedSpans.WithLabelValues(reason)
	}
	return []prometheus.Collector{lost, keptTraces, droppedSpans}
}

// Register registers a collector after [Start].
func (t *Telemetry) Register(c prometheus.Collector) error {
	if err := t.Registry.Register(c); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}

func (t *Telemetry) onStop(what string, run func(context.Context) error) {
	t.stops = append(t.stops, stop{what, run})
}

// Stop flushes and stops all signals.
func (t *Telemetry) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	for _, s := range t.stops {
		if err := s.run(ctx); err != nil {
			t.log.WarnContext(ctx, "flushing telemetry failed", "signal", s.what, "error", err)
		}
	}
}

// Ready adds a readiness check to /readyz, or replaces the one with this name.
func (t *Telemetry) Ready(name string, check Check) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checks[name] = check
}

// ReadyOf adds a check of one of several roles of the process to /readyz, which names the role. An empty role is [Telemetry.Ready].
// /readyz?role= leaves out the checks of other roles than the one asked for.
func (t *Telemetry) ReadyOf(role, name string, check Check) {
	if role != "" {
		name = role + "/" + name
	}
	t.Ready(name, check)
}

// Note adds notes to /readyz that do not affect readiness. The function returns the current notes, none if empty.
func (t *Telemetry) Note(name string, note func() []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes[name] = note
}

// Handler serves /livez, /readyz and /metrics.
func (t *Telemetry) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { reply(w, health{OK: true}) })
	mux.HandleFunc("GET /readyz", t.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(prometheus.Gatherers{t.Registry, t.instruments}, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	return mux
}

func (t *Telemetry) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	asked := r.URL.Query().Get("role")
	t.mu.Lock()
	checks, allNotes := maps.Clone(t.checks), maps.Clone(t.notes)
	t.mu.Unlock()
	reasons := map[string]string{}
	if t.stopping.Load() {
		reasons["process"] = "is stopping"
	}
	for name, check := range checks {
		if of, _, several := strings.Cut(name, "/"); several && asked != "" && of != asked {
			continue
		}
		if err := check(ctx); err != nil {
			reasons[name] = err.Error()
		}
	}
	notes := map[string][]string{}
	for name, note := range allNotes {
		if texts := note(); len(texts) > 0 {
			notes[name] = texts
		}
	}
	reply(w, health{OK: len(reasons) == 0, Reasons: reasons, Notes: notes})
}

// health is the response of /livez and /readyz.
type health struct {
	OK      bool                `json:"ok"`
	Reasons map[string]string   `json:"reasons,omitempty"` // why the process is not ready
	Notes   map[string][]string `json:"notes,omitempty"`   // notes that do not affect readiness
}

func reply(w http.ResponseWriter, h health) {
	w.Header().Set("Content-Type", "application/json")
	if !h.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(h) // the client may have disconnected
}

// ServeWhile serves the listener while run is running. Once ctx is done, the process is not ready, but is still served
// until run returns. If serving fails, the context of run is cancelled.
func (t *Telemetry) ServeWhile(ctx context.Context, ln net.Listener, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	srv := &http.Server{Handler: t.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			cancel(fmt.Errorf("serve metrics on %s: %w", ln.Addr(), err))
		}
	}()
	context.AfterFunc(ctx, func() { t.stopping.Store(true) })
	err := run(ctx)
	failed := context.Cause(ctx)
	if errors.Is(failed, context.Canceled) {
		failed = nil // stopped on purpose
	}
	return errors.Join(err, failed, srv.Close())
}

// logExporter writes finished spans to the debug log, for a machine without a trace backend.
type logExporter struct{ log *slog.Logger }

func (e logExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		e.log.DebugContext(ctx, "span", "name", s.Name(), "kind", strings.ToLower(s.SpanKind().String()),
			"trace_id", s.SpanContext().TraceID().String(), "span_id", s.SpanContext().SpanID().String(),
			"parent_id", s.Parent().SpanID().String(), "duration_ms", float64(s.EndTime().Sub(s.StartTime()).Microseconds())/1000)
	}
	return nil
}

func (logExporter) Shutdown(context.Context) error { return nil }

// binaryIDs decodes the ids of exemplars sent to the collector, because the Prometheus bridge passes on hexadecimal text
// instead of binary ids.
type binaryIDs struct{ sdkmetric.Producer }

// Produce implements [sdkmetric.Producer].
func (p binaryIDs) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	all, err := p.Producer.Produce(ctx)
	for _, scope := range all {
		for _, m := range scope.Metrics {
			data, ok := m.Data.(metricdata.Histogram[float64])
			if !ok {
				continue
			}
			for _, point := range data.DataPoints {
				for i := range point.Exemplars {
					e := &point.Exemplars[i]
					e.TraceID, e.SpanID = decodeID(e.TraceID, 16), decodeID(e.SpanID, 8)
				}
			}
		}
	}
	return all, err
}

// decodeID decodes an id of n bytes if it is hexadecimal text, and returns other ids unchanged.
func decodeID(id []byte, n int) []byte {
	raw := make([]byte, n)
	if len(id) != 2*n {
		return id
	}
	if _, err := hex.Decode(raw, id); err != nil {
		return id
	}
	return raw
}

// shareSampler samples a share of traces that can be changed at run time.
type shareSampler struct {
	now atomic.Pointer[sdktrace.Sampler]
}

func newShareSampler(share float64) *shareSampler {
	s := &shareSampler{}
	s.set(share)
	return s
}

func (s *shareSampler) set(share float64) {
	next := sdktrace.TraceIDRatioBased(share)
	s.now.Store(&next)
}

// ShouldSample implements sdktrace.Sampler.
func (s *shareSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return (*s.now.Load()).ShouldSample(p)
}

// Description implements sdktrace.Sampler.
func (s *shareSampler) Description() string { return (*s.now.Load()).Description() }

// SetSample changes the share of traces started in this process to sample, 0 to 1. It may be called at any time.
func (t *Telemetry) SetSample(share float64) { t.sample.set(share) }
