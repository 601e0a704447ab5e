package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// Untraced returns a context whose spans are not sampled, for periodic work. It relies on parent-based samplers.
func Untraced(ctx context.Context) context.Context {
	var id trace.TraceID
	var span trace.SpanID
	id[0], span[0] = 1, 1
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span}))
}
