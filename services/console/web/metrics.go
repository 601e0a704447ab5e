package web

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var pageDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "tradegrid_console_page_duration_seconds", Help: "Duration of requests for pages of the console in seconds, by route and status.",
	Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
}, []string{"route", "status"})

var openStreams = prometheus.NewGauge(prometheus.GaugeOpts{
	Name: "tradegrid_console_streams", Help: "Pages of the console that are open and hear of changes by a stream.",
})

// Metrics are the collectors of the console.
func Metrics() []prometheus.Collector { return []prometheus.Collector{pageDuration, openStreams} }

// observe measures a page by its route, never by its address, which holds ids.
func observe(p Page, answer Answer, began time.Time) {
	pageDuration.WithLabelValues(p.pattern(), strconv.Itoa(answer.status)).Observe(time.Since(began).Seconds())
}
