// Package telemetry starts traces and metrics of a process, and serves what an operator's tools ask for:
// /livez, /readyz with the reason, and /metrics.
package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Config says what is measured and where it goes.
type Config struct {
	Service  string  // such as tradegrid-api
	Release  string  // version of the program
	Endpoint string  // OTLP over HTTP, such as http://collector:4318; empty = spans only in debug logs
	Sample   float64 // share of traces that start here and are kept, 0…1
	Metrics  []prometheus.Collector
	Log      *slog.Logger
}

// Telemetry is what a process measures of itself.
type Telemetry struct {
	Provider *sdktrace.TracerProvider
	Registry *prometheus.Registry

	sample   *shareSampler
	checks   map[string]Check
	notes    map[string]func() []string
	stopping atomic.Bool
	log      *slog.Logger
}

// Check tells why the process is not ready; nil means that it is.
type Check func(ctx context.Context) error

// Start sets up traces and metrics and makes them the default of the process.
func Start(ctx context.Context, cfg Config) (*Telemetry, error) {
	sample := newShareSampler(cfg.Sample)
	opts := []sdktrace.TracerProviderOption{
		sdktrace.WithSampler(sdktrace.ParentBased(sample)),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", cfg.Service), attribute.String("service.version", cfg.Release))),
	}
	switch {
	case cfg.Endpoint != "":
		if err := CheckEndpoint(cfg.Endpoint); err != nil {
			return nil, err
		}
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.Endpoint))
		if err != nil {
			return nil, fmt.Errorf("--otlp-endpoint %s: %w", cfg.Endpoint, err)
		}
		opts = append(opts, sdktrace.WithBatcher(exporter))
	case cfg.Log.Enabled(ctx, slog.LevelDebug):
		opts = append(opts, sdktrace.WithBatcher(logExporter{cfg.Log}))
	}
	t := &Telemetry{sample: sample, Provider: sdktrace.NewTracerProvider(opts...), Registry: prometheus.NewRegistry(), checks: map[string]Check{}, notes: map[string]func() []string{}, log: cfg.Log}
	otel.SetTracerProvider(t.Provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	all := append(slices.Clone(cfg.Metrics), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range all {
		if err := t.Register(c); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// CheckEndpoint refuses what the exporter would only log, to send the spans to a default address.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return fmt.Errorf("--otlp-endpoint: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("--otlp-endpoint: %q is not an address: use one such as http://collector:4318", endpoint)
	}
	return nil
}

// Register adds a collector that came to be after the start.
func (t *Telemetry) Register(c prometheus.Collector) error {
	if err := t.Registry.Register(c); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}

// Stop sends the last spans.
func (t *Telemetry) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if err := t.Provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "last spans not sent", "error", err)
	}
}

// Ready adds a condition for /readyz. To be called before [Telemetry.ServeWhile].
func (t *Telemetry) Ready(name string, check Check) { t.checks[name] = check }

// Note adds to /readyz what an operator should know of a process that is ready all the same; nothing = no note.
// To be called before [Telemetry.ServeWhile].
func (t *Telemetry) Note(name string, note func() []string) { t.notes[name] = note }

// Handler answers /livez, /readyz and /metrics.
func (t *Telemetry) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { reply(w, health{OK: true}) })
	mux.HandleFunc("GET /readyz", t.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(t.Registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	return mux
}

func (t *Telemetry) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	reasons := map[string]string{}
	if t.stopping.Load() {
		reasons["process"] = "is stopping"
	}
	for name, check := range t.checks {
		if err := check(ctx); err != nil {
			reasons[name] = err.Error()
		}
	}
	notes := map[string][]string{}
	for name, note := range t.notes {
		if texts := note(); len(texts) > 0 {
			notes[name] = texts
		}
	}
	reply(w, health{OK: len(reasons) == 0, Reasons: reasons, Notes: notes})
}

// health is the answer of /livez and /readyz.
type health struct {
	OK      bool                `json:"ok"`
	Reasons map[string]string   `json:"reasons,omitempty"` // why the process is not ready
	Notes   map[string][]string `json:"notes,omitempty"`   // what is worth knowing all the same
}

func reply(w http.ResponseWriter, h health) {
	w.Header().Set("Content-Type", "application/json")
	if !h.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(h) // a client that went away needs no answer
}

// ServeWhile answers on the listener as long as run works. From the end of ctx on the process counts as not ready,
// and still answers while run finishes what is under way. A listener that fails ends the context of run.
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
		failed = nil // told to stop
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
