package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

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
	connectionsRefused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_connections_refused_total", Help: "Connections closed because too many are open, in total or from one address.",
	}, []string{"limit"})
)

// Metrics are the collectors of this package, to be registered once per process. They show all that can be counted
// from the start: rates do not see the first increment of a counter that was not there before.
func Metrics() []prometheus.Collector {
	for _, result := range []string{keyClaimed, keyReused, keyInFlight, keyReplayed} {
		idempotency.WithLabelValues(result)
	}
	for _, reason := range []string{limitFailures, limitToken, limitInFlight} {
		rateLimited.WithLabelValues(reason)
	}
	for _, limit := range []string{limitTotal, limitAddress} {
		connectionsRefused.WithLabelValues(limit)
	}
	return []prometheus.Collector{requestDuration, idempotency, rateLimited, connectionsRefused}
}

// What becomes of an idempotency key.
const (
	keyClaimed  = "claimed"
	keyReused   = "reused"
	keyInFlight = "in_flight"
	keyReplayed = "replayed"
)

// Limits that answer 429.
const (
	limitFailures = "failures" // calls without a valid token, by address
	limitToken    = "token"
	limitInFlight = "in_flight"
)

// Limits of open connections.
const (
	limitTotal   = "total"
	limitAddress = "address"
)

// showOp shows an operation before its first request: its success, and what counts against the availability.
func showOp(op Op) {
	route := BasePath + strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	for _, status := range []int{op.Status, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		requestDuration.WithLabelValues(op.Method, route, strconv.Itoa(status))
	}
}
