package dbtest

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// Series returns the sum over all series of a metric with the labels, given as pairs of name and value: the values of
// counters and gauges, or the number of observations of histograms.
func Series(t testing.TB, collectors []prometheus.Collector, name string, labels ...string) (sum float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors...)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && labelled(m, labels) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

func labelled(m *dto.Metric, labels []string) bool {
	has := map[string]string{}
	for _, l := range m.GetLabel() {
		has[l.GetName()] = l.GetValue()
	}
	for i := 0; i+1 < len(labels); i += 2 {
		if v, ok := has[labels[i]]; !ok || v != labels[i+1] {
			return false
		}
	}
	return true
}
