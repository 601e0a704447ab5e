package reconcile

import "github.com/prometheus/client_golang/prometheus"

var (
	reconcilerDifference = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_reconciler_difference", Help: "Deliveries that must exist by the event log and the subscriptions, and do not: 0 unless something was lost. Counted by the owner of the sweeper's lease; 0 in other processes.",
	})
	reconcilerChecked = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_checked_total", Help: "Deliveries that the reconciler has looked for.",
	})
)

// Metrics are the collectors of this package.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{reconcilerDifference, reconcilerChecked}
}
