package reconcile

import "github.com/prometheus/client_golang/prometheus"

var (
	reconcilerDifference = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_reconciler_difference", Help: "Deliveries that must exist by the event log and the subscriptions, and do not: 0 unless something was lost. Counted by the owner of the sweeper's lease; 0 in other processes.",
	})
	reconcilerChecked = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_checked_total", Help: "Deliveries that the reconciler has looked for.",
	})
	republished = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_republished_total", Help: "Events published again because Kafka lost them before the routers had processed them.",
	})
	topicLosses = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_topic_losses_total", Help: "Times that the topic of events was found recreated or truncated before the routers had processed it. What it lost is published again.",
	})
)

// Metrics are the collectors of this package.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{reconcilerDifference, reconcilerChecked, republished, topicLosses}
}
