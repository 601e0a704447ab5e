// Package telemetry is what all packages use of traces, metrics and logs. Package export sets them up, which only programs need.
package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// untraced is the parent of periodic work. No span has it, so logs do not show its ids.
var untraced = trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})

// Untraced returns a context whose spans are not sampled, for periodic work. It relies on parent-based samplers.
func Untraced(ctx context.Context) context.Context {
	return trace.ContextWithSpanContext(ctx, untraced)
}
