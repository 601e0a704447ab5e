package transport

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "http_server_request_duration_seconds", Help: "Duration of API requests in seconds.",
		Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
	}, []string{"http_request_method", "http_route", "http_response_status_code"})
	connectionsRefused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_connections_refused_total", Help: "Connections refused because too many were open, by limit.",
	}, []string{"limit"})
)

// Limits of open connections.
const (
	limitTotal   = "total"
	limitAddress = "address"
)

// Metrics returns the collectors of this package, to be registered once per process. All label values are initialized:
// rate() misses the first increment of a counter that did not exist before.
func Metrics() []prometheus.Collector {
	for _, limit := range []string{limitTotal, limitAddress} {
		connectionsRefused.WithLabelValues(limit)
	}
	return []prometheus.Collector{requestDuration, connectionsRefused}
}

// ShowRoute initializes the metrics of a route for success and for the statuses that count against availability.
func (s *Server) ShowRoute(method, path string, success int) {
	for _, status := range []int{success, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		requestDuration.WithLabelValues(method, fiberPath(s.cfg.Base+path), strconv.Itoa(status))
	}
}
