package loadshed

import "github.com/prometheus/client_golang/prometheus"

var (
	shedActive = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_shed_active", Help: "1 while writes are rejected because of the limit.",
	}, []string{"limit"})
	shedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_shed_total", Help: "Requests rejected with 503 because of the limit.",
	}, []string{"limit"})
	limitUsage = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_limit_usage_ratio", Help: "Used share of the limit: at 1 writes are rejected; 0 also if the limit is off or not measured.",
	}, []string{"limit"})
	responseBytes = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_response_bytes", Help: "Bytes of the large responses that the process builds and sends.",
	})
	requestBytes = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_request_bytes", Help: "Bytes that the large requests take that the process decodes.",
	})
	probeFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_limit_probe_failures_total", Help: "Failed measurements; their limits reject nothing until they succeed.",
	}, []string{"probe"})
)

// Metrics are the collectors of this package, to be registered once per process. All series exist from the start:
// rate() misses the first increment of a series that did not exist before.
func Metrics() []prometheus.Collector {
	for _, name := range Names() {
		shedActive.WithLabelValues(name)
		shedTotal.WithLabelValues(name)
		limitUsage.WithLabelValues(name)
	}
	for _, probe := range []string{probeShared, probeOutbox, probeDatabase, probeKafka} {
		probeFailures.WithLabelValues(probe)
	}
	return []prometheus.Collector{shedActive, shedTotal, limitUsage, responseBytes, requestBytes, probeFailures}
}
