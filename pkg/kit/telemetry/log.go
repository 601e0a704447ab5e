package telemetry

import (
	"context"
	"log/slog"

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
