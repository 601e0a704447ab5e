package shed

import "github.com/prometheus/client_golang/prometheus"

var (
	shedActive = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_shed_active", Help: "1 while changes are refused because of the limit.",
	}, []string{"limit"})
	shedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_shed_total", Help: "Requests answered 503 because of the limit.",
	}, []string{"limit"})
	limitUsage = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_limit_usage_ratio", Help: "Use of the limit: at 1 changes are refused; 0 also when it is off or not measured.",
	}, []string{"limit"})
	probeFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_limit_probe_failures_total", Help: "Measurements that failed; their limits refuse nothing meanwhile.",
	}, []string{"probe"})
)

// Metrics are the collectors of this package, to be registered once per process. They show all limits from the start:
// rates do not see the first increment of a counter that was not there before.
func Metrics() []prometheus.Collector {
	for _, name := range Names() {
		shedActive.WithLabelValues(name)
		shedTotal.WithLabelValues(name)
		limitUsage.WithLabelValues(name)
	}
	for _, probe := range []string{probeShared, probeOutbox, probeDatabase, probeKafka} {
		probeFailures.WithLabelValues(probe)
	}
	return []prometheus.Collector{shedActive, shedTotal, limitUsage, probeFailures}
}
