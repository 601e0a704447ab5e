package telemetry

import (
	"context"
	"encoding/hex"

	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
)

// Observe records a value together with the trace that it comes from, if that trace is kept: so a latency leads to an
// example of it.
func Observe(ctx context.Context, to prometheus.Observer, value float64) {
	sc := trace.SpanContextFromContext(ctx)
	if with, ok := to.(prometheus.ExemplarObserver); ok && sc.IsSampled() {
		with.ObserveWithExemplar(value, prometheus.Labels{"trace_id": sc.TraceID().String(), "span_id": sc.SpanID().String()})
		return
	}
	to.Observe(value)
}

// binaryIDs mends exemplars on their way to the collector: the bridge hands on the text of their ids as if it were the ids.
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
					e.TraceID, e.SpanID = unhex(e.TraceID, 16), unhex(e.SpanID, 8)
				}
			}
		}
	}
	return all, err
}

// unhex reads an id of n bytes that may stand there as text.
func unhex(id []byte, n int) []byte {
	raw := make([]byte, n)
	if len(id) != 2*n {
		return id
	}
	if _, err := hex.Decode(raw, id); err != nil {
		return id
	}
	return raw
}
