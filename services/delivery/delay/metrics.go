package delay

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/topics"
)

var (
	delayDepth = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_delay_depth", Help: "Records of a delay topic that this process holds until they are due; the others are consumer lag.",
	}, []string{"line"})
	delayLate = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tradegrid_delay_late_seconds", Help: "How long after its due time a record was forwarded from its delay topic.",
		Buckets: []float64{.005, .01, .05, .1, .5, 1, 5, 30, 120, 600, 3600},
	}, []string{"line"})
)

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, tier := range topics.DelayTiers() {
		delayDepth.WithLabelValues(tier.Topic)
		delayLate.WithLabelValues(tier.Topic)
	}
	return []prometheus.Collector{delayDepth, delayLate}
}
