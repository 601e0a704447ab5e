// Package telemetry is what all packages use of traces, metrics and logs. Package export sets them up, which only programs need.
package telemetry

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/trace"
)

// Handler adds the ids of trace and span to records logged within a span. After export.Start, it also exports records of at
// least the given level if logs are sent to a collector.
func Handler(to slog.Handler, level slog.Leveler) slog.Handler {
	return slog.NewMultiHandler(traced{to}, leveled{otelslog.NewHandler("tradegrid"), level})
}

// traced adds the ids of trace and span.
type traced struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() && sc.TraceID() != untraced.TraceID() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }

// leveled drops records below a level.
type leveled struct {
	slog.Handler
	level slog.Leveler
}

// Enabled implements [slog.Handler].
func (h leveled) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level.Level() && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attrs), h.level}
}

// WithGroup implements [slog.Handler].
func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.level}
}

// Observe records a value, with the current trace as its exemplar if that trace is sampled.
func Observe(ctx context.Context, to prometheus.Observer, value float64) {
	sc := trace.SpanContextFromContext(ctx)
	if with, ok := to.(prometheus.ExemplarObserver); ok && sc.IsSampled() {
		with.ObserveWithExemplar(value, prometheus.Labels{"trace_id": sc.TraceID().String(), "span_id": sc.SpanID().String()})
		return
	}
	to.Observe(value)
}

type requestKey struct{}

// WithRequest returns a context that carries the id of the API request, for [RequestOf].
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestOf is the id of the API request that ctx belongs to; "" outside requests.
func RequestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// untraced is the parent of periodic work. No span has it, so logs do not show its ids.
var untraced = trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})

// Untraced returns a context whose spans are not sampled, for periodic work. It relies on parent-based samplers.
func Untraced(ctx context.Context) context.Context {
	return trace.ContextWithSpanContext(ctx, untraced)
}
