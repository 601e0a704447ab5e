package httpapi

import "github.com/prometheus/client_golang/prometheus"

var (
	requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "http_server_request_duration_seconds", Help: "Duration of requests to the API.",
		Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
	}, []string{"http_request_method", "http_route", "http_response_status_code"})
	idempotency = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_idempotency_total", Help: "Requests with an idempotency key, by what became of the key.",
	}, []string{"result"})
	rateLimited = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_rate_limited_total", Help: "Requests answered 429, by the limit that refused them.",
	}, []string{"reason"})
)

// Metrics are the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{requestDuration, idempotency, rateLimited}
}
