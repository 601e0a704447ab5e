package export

import (
	"context"
	"encoding/hex"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

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
