package ratelimit

import "github.com/prometheus/client_golang/prometheus"

var exchanges = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_rate_lease_exchanges_total", Help: "Exchanges of rate leases between the nodes, by result: ok, error.",
}, []string{"result"})

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	for _, result := range []string{"ok", "error"} {
		exchanges.WithLabelValues(result)
	}
	return []prometheus.Collector{exchanges}
}
