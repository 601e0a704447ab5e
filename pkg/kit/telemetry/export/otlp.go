package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The signals that can be exported.
const (
	SignalTraces  = "traces"
	SignalMetrics = "metrics"
	SignalLogs    = "logs"
)

// sendTimeout limits one request to the collector. Requests are not retried, because newer data would be lost while waiting.
const sendTimeout = 5 * time.Second

// CheckEndpoint validates an endpoint. The exporters would only log an invalid one and send to a default address.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return fmt.Errorf("--otlp-endpoint: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("--otlp-endpoint: %q must be a URL such as http://collector:4318", endpoint)
	}
	return nil
}

// sends reports whether a signal is exported.
func (c Config) sends(signal string) bool {
	return c.Endpoint != "" && (len(c.Signals) == 0 || slices.Contains(c.Signals, signal))
}

// to returns the URL of a signal below the endpoint.
func (c Config) to(signal string) string {
	return strings.TrimSuffix(c.Endpoint, "/") + "/v1/" + signal
}

// describe returns the resource attributes of this process, including those of OTEL_RESOURCE_ATTRIBUTES, such as the pod name.
func describe(ctx context.Context, cfg Config) (*resource.Resource, error) {
	return resource.New(ctx, resource.WithHost(), resource.WithFromEnv(), resource.WithAttributes(
		attribute.String("service.name", cfg.Service), attribute.String("service.namespace", "tradegrid"),
		attribute.String("service.version", cfg.Release), attribute.String("service.instance.id", cfg.Instance),
	))
}

// startTraces sets up the tracer provider.
func (t *Telemetry) startTraces(ctx context.Context, cfg Config, from *resource.Resource) error {
	opts := []sdktrace.TracerProviderOption{sdktrace.WithResource(from)}
	var to sdktrace.SpanExporter
	queue := &queueLimit{signal: SignalTraces}
	switch {
	case cfg.sends(SignalTraces):
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.to(SignalTraces)), otlptracehttp.WithTimeout(sendTimeout),
			otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
		if err != nil {
			return fmt.Errorf("--otlp-endpoint %s: %w", cfg.Endpoint, err)
		}
		to = countedSpans{exporter, queue}
	case cfg.Log.Enabled(ctx, slog.LevelDebug):
		to = countedSpans{logExporter{cfg.Log}, queue}
	}
	sampler := sdktrace.ParentBased(t.sample)
	if to != nil {
		batch := limitedSpans{sdktrace.NewBatchSpanProcessor(to, sdktrace.WithMaxQueueSize(maxQueued)), queue}
		if cfg.KeepSlow > 0 {
			sampler = recorded{sampler}
			opts = append(opts, sdktrace.WithSpanProcessor(newKeeper(batch, cfg.KeepSlow)))
		} else {
			opts = append(opts, sdktrace.WithSpanProcessor(batch))
		}
	}
	t.Provider = sdktrace.NewTracerProvider(append(opts, sdktrace.WithSampler(sampler))...)
	t.onStop("spans", t.Provider.Shutdown)
	otel.SetTracerProvider(t.Provider)
	return nil
}

// startMetrics sets up the meter provider. /metrics and the OTLP exporter include both its instruments and the collectors
// of the registry.
func (t *Telemetry) startMetrics(ctx context.Context, cfg Config, from *resource.Resource) error {
	page, err := promexporter.New(promexporter.WithRegisterer(t.instruments), promexporter.WithoutScopeInfo(), promexporter.WithoutTargetInfo())
	if err != nil {
		return fmt.Errorf("export instruments as Prometheus metrics: %w", err)
	}
	opts := []sdkmetric.Option{sdkmetric.WithResource(from), sdkmetric.WithReader(page)}
	if cfg.sends(SignalMetrics) {
		exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(cfg.to(SignalMetrics)), otlpmetrichttp.WithTimeout(sendTimeout),
			otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}), otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
		if err != nil {
			return fmt.Errorf("--otlp-endpoint %s: %w", cfg.Endpoint, err)
		}
		opts = append(opts, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(countedMetrics{exporter}, sdkmetric.WithInterval(cfg.Interval),
			sdkmetric.WithTimeout(sendTimeout), sdkmetric.WithProducer(binaryIDs{bridge.NewMetricProducer(bridge.WithGatherer(t.Registry))}))))
	}
	provider := sdkmetric.NewMeterProvider(opts...)
	t.onStop("metrics", provider.Shutdown)
	otel.SetMeterProvider(provider)
	return nil
}

// startLogs exports the records of [Handler].
func (t *Telemetry) startLogs(ctx context.Context, cfg Config, from *resource.Resource) error {
	if !cfg.sends(SignalLogs) {
		return nil
	}
	exporter, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(cfg.to(SignalLogs)), otlploghttp.WithTimeout(sendTimeout),
		otlploghttp.WithRetry(otlploghttp.RetryConfig{}), otlploghttp.WithCompression(otlploghttp.GzipCompression))
	if err != nil {
		return fmt.Errorf("--otlp-endpoint %s: %w", cfg.Endpoint, err)
	}
	queue := &queueLimit{signal: SignalLogs}
	batch := sdklog.NewBatchProcessor(countedLogs{exporter, queue}, sdklog.WithMaxQueueSize(maxQueued))
	provider := sdklog.NewLoggerProvider(sdklog.WithResource(from), sdklog.WithProcessor(limitedLogs{batch, queue}))
	t.onStop("log lines", provider.Shutdown)
	otel.SetLoggerProvider(provider)
	return nil
}

var lost = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_telemetry_lost_total", Help: "Spans, log records and metric exports lost because the collector did not accept them or the queue was full, by signal.",
}, []string{"signal"})

// The exporters count losses, so that an unreachable collector shows in the metrics on /metrics.
type (
	countedSpans struct {
		sdktrace.SpanExporter
		queue *queueLimit
	}
	countedMetrics struct{ sdkmetric.Exporter }
	countedLogs    struct {
		sdklog.Exporter
		queue *queueLimit
	}
)

func (e countedSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return e.queue.left(e.SpanExporter.ExportSpans(ctx, spans), len(spans))
}

func (e countedMetrics) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	return count(e.Exporter.Export(ctx, rm), SignalMetrics, 1)
}

func (e countedLogs) Export(ctx context.Context, records []sdklog.Record) error {
	return e.queue.left(e.Exporter.Export(ctx, records), len(records))
}

func count(err error, signal string, n int) error {
	if err != nil {
		lost.WithLabelValues(signal).Add(float64(n))
		return fmt.Errorf("send %s: %w", signal, err)
	}
	return nil
}

// logErrors logs export errors, at most one per minute: an unreachable collector must not flood the log, whose
// records would fail to be exported too.
func logErrors(log *slog.Logger) otel.ErrorHandler {
	var last atomic.Int64
	return otel.ErrorHandlerFunc(func(err error) {
		now, before := time.Now().Unix(), last.Load()
		if errors.Is(err, context.Canceled) || now-before < 60 || !last.CompareAndSwap(before, now) {
			return
		}
		log.Warn("telemetry export failed; requests and deliveries are not affected", "error", err)
	})
}
