package ownermail

import "github.com/prometheus/client_golang/prometheus"

var (
	ended = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_notices_total", Help: "Notices to owners that are over, by outcome: sent, failed, suppressed (the company got too many), unaddressed (it has no owner with an address).",
	}, []string{"outcome"})
	retries = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_notice_retries_total", Help: "Tries to send a notice that failed and are repeated.",
	})
	oldest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_notices_oldest_pending_seconds", Help: "Age of the oldest notice that is not sent yet, as the process in charge sees it.",
	})
)

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	for _, outcome := range []string{sent, failed, suppressed, unaddressed} {
		ended.WithLabelValues(outcome)
	}
	return []prometheus.Collector{ended, retries, oldest}
}
