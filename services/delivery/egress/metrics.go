package egress

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestDuration lacks the server.address of the conventions, because the number of receivers is unbounded.
var requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "http_client_request_duration_seconds", Help: "Duration of requests to receivers, by status and error: a status of 300 or above, timeout, address_refused, tls, dns, connect, connection_broken, or canceled by this process.",
	Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
}, []string{"http_request_method", "http_response_status_code", "error_type"})

// accepted is the series of nearly all requests.
var accepted = requestDuration.WithLabelValues(http.MethodPost, strconv.Itoa(http.StatusOK), "")

// Metrics returns the collectors of this package, to be registered once per process. Common series start at 0.
func Metrics() []prometheus.Collector {
	for _, kind := range []Kind{Timeout, Refused, TLS, DNS, Connect, Broken} {
		requestDuration.WithLabelValues(http.MethodPost, "", string(kind))
	}
	return []prometheus.Collector{requestDuration}
}

// observe records a request. A response whose body did not arrive counts as an error.
func observe(began time.Time, answer Answer, err error) {
	if err == nil && answer.Status == http.StatusOK {
		accepted.Observe(time.Since(began).Seconds())
		return
	}
	status, kind := "", ""
	var failure *Error
	switch {
	case errors.As(err, &failure):
		kind = string(failure.Kind)
	case errors.Is(err, context.DeadlineExceeded):
		kind = string(Timeout)
	case err != nil:
		kind = "canceled"
	default:
		if status = statusLabel(answer.Status); answer.Status >= http.StatusMultipleChoices || answer.Status < http.StatusOK {
			kind = status
		}
	}
	requestDuration.WithLabelValues(http.MethodPost, status, kind).Observe(time.Since(began).Seconds())
}

// statusLabel groups unregistered status codes, so that receivers cannot create arbitrary series.
func statusLabel(status int) string {
	if http.StatusText(status) != "" {
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status/100) + "xx"
}
