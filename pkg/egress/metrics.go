package egress

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestDuration has no server.address, which the conventions ask for: nobody bounds the number of receivers.
var requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "http_client_request_duration_seconds", Help: "Duration of requests to receivers, by status, and by what went wrong: a status from 300 on, timeout, address_refused, tls, dns, connect, connection_broken, or canceled by this process.",
	Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
}, []string{"http_request_method", "http_response_status_code", "error_type"})

// Metrics are the collectors of this package, to be registered once per process. They show what is usual from the start.
func Metrics() []prometheus.Collector {
	requestDuration.WithLabelValues(http.MethodPost, strconv.Itoa(http.StatusOK), "")
	for _, kind := range []Kind{Timeout, Refused, TLS, DNS, Connect, Broken} {
		requestDuration.WithLabelValues(http.MethodPost, "", string(kind))
	}
	return []prometheus.Collector{requestDuration}
}

// observe measures a request. An answer whose body did not come is the failure that it was.
func observe(began time.Time, answer Answer, err error) {
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

// statusLabel keeps what receivers may make up from making a series each.
func statusLabel(status int) string {
	if http.StatusText(status) != "" {
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status/100) + "xx"
}
