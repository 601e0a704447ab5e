package warehouse

import "github.com/prometheus/client_golang/prometheus"

var (
	differences = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_stock_differences", Help: "Quantities of stock that are not the sum of their movements or reserves, as the last nightly check found them: 0 unless something is wrong. Counted by the owner of bucket 0; 0 in other processes.",
	})
	checked = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_stock_checked_companies_total", Help: "Companies whose stock the nightly check has compared.",
	})
)

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector { return []prometheus.Collector{differences, checked} }
