package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/httpapi/idempotency"
)

var (
	requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "http_server_request_duration_seconds", Help: "Duration of API requests in seconds.",
		Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
	}, []string{"http_request_method", "http_route", "http_response_status_code"})
	rateLimited = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_rate_limited_total", Help: "Requests rejected with status 429, by limit.",
	}, []string{"reason"})
	connectionsRefused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_connections_refused_total", Help: "Connections refused because too many were open, by limit.",
	}, []string{"limit"})
)

// Metrics returns the collectors of this package and its layers, to be registered once per process. All label values are initialized:
// rate() misses the first increment of a counter that did not exist before.
func Metrics() []prometheus.Collector {
	for _, reason := range []string{limitFailures, limitToken, limitInFlight} {
		rateLimited.WithLabelValues(reason)
	}
	for _, limit := range []string{limitTotal, limitAddress} {
		connectionsRefused.WithLabelValues(limit)
	}
	return append(idempotency.Metrics(), requestDuration, rateLimited, connectionsRefused)
}

// Limits that return 429.
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

// showOp initializes the metrics of an operation for success and for the statuses that count against availability.
func showOp(op Op) {
	route := op.base + strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	for _, status := range []int{op.Status, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		requestDuration.WithLabelValues(op.Method, route, strconv.Itoa(status))
	}
}
