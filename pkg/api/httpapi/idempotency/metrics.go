package idempotency

import "github.com/prometheus/client_golang/prometheus"

var requests = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_idempotency_total", Help: "Requests with an idempotency key, by outcome.",
}, []string{"result"})

// Outcomes of requests with a key.
const (
	claimed        = "claimed"
	reused         = "reused"
	inFlight       = "in_flight"
	replayed       = "replayed"
	refusedByQuota = "quota"
)

// Metrics returns the collectors of this package, to be registered once per process. All label values are initialized:
// rate() misses the first increment of a counter that did not exist before.
func Metrics() []prometheus.Collector {
	for _, result := range []string{claimed, reused, inFlight, replayed, refusedByQuota} {
		requests.WithLabelValues(result)
	}
	return []prometheus.Collector{requests}
}
