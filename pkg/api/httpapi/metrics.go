package httpapi

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
)

var rateLimited = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_rate_limited_total", Help: "Requests rejected with status 429, by limit.",
}, []string{"reason"})

// Limits that return 429.
const (
	limitFailures = "failures" // calls without a valid token, by address
	limitToken    = "token"
	limitInFlight = "in_flight"
	limitVisits   = "visits" // of pages without a token, by address and by what their link names
)

// Metrics returns the collectors of this package and of its layers, to be registered once per process. All label values are
// initialized: rate() misses the first increment of a counter that did not exist before.
func Metrics() []prometheus.Collector {
	for _, reason := range []string{limitFailures, limitToken, limitInFlight, limitVisits} {
		rateLimited.WithLabelValues(reason)
	}
	return slices.Concat(transport.Metrics(), idempotency.Metrics(), []prometheus.Collector{rateLimited})
}
