package deadletter

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/topics"
)

var (
	letters = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_dlq_total", Help: "Dead letters written, by topic and reason.",
	}, []string{"topic", "reason"})
	kept = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_dlq_depth", Help: "Records in a dead letter topic, counted by the owner of the sweeper's lease; 0 in other processes.",
	}, []string{"topic"})
)

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, reason := range []string{Attempts, TTL, Deleted, Decode, Refused} {
		letters.WithLabelValues(topics.DeliveriesDead, reason)
	}
	letters.WithLabelValues(topics.EventsDead, Decode)
	letters.WithLabelValues(topics.EventsDead, Newer)
	ShowDepth(nil)
	return []prometheus.Collector{letters, kept}
}
