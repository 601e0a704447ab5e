package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Observe records a value, with the current trace as its exemplar if that trace is sampled.
func Observe(ctx context.Context, to prometheus.Observer, value float64) {
	sc := trace.SpanContextFromContext(ctx)
	if with, ok := to.(prometheus.ExemplarObserver); ok && sc.IsSampled() {
		with.ObserveWithExemplar(value, prometheus.Labels{"trace_id": sc.TraceID().String(), "span_id": sc.SpanID().String()})
		return
	}
	to.Observe(value)
}
