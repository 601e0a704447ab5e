package quota

import "github.com/prometheus/client_golang/prometheus"

var (
	companiesAbove = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_storage_quota_companies", Help: "Companies at or above their storage quota, among those that this process stored bytes for lately, by kind.",
	}, []string{"kind"})
	countedBytes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_storage_bytes_total", Help: "Bytes stored that count towards a quota, by kind.",
	}, []string{"kind"})
)

// Metrics returns the collectors of this package, to be registered once per process. The series of the kinds start at 0.
func Metrics(kinds ...string) []prometheus.Collector {
	for _, kind := range kinds {
		companiesAbove.WithLabelValues(kind)
		countedBytes.WithLabelValues(kind)
	}
	return []prometheus.Collector{companiesAbove, countedBytes}
}
