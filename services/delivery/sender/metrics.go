package sender

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sony/gobreaker/v2"

	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/topics"
)

var (
	deliveryTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_delivery_total", Help: "Attempts made, by result (success, retry, failed) and number of the attempt.",
	}, []string{"result", "attempt"})
	deliveryLatency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tradegrid_delivery_latency_seconds", Help: "Commit of the change to the receiver's 2xx, by attempt (first, later) and tier (healthy: neither postponed nor with an open circuit breaker since the commit; blocked).",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 120, 600, 3600, 21600, 86400},
	}, []string{"attempt", "tier"})
	firstAttempt = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_delivery_first_attempt_seconds", Help: "Commit of the change to the start of the first attempt, for healthy receivers.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 120, 600},
	})
	deliveryInflight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_delivery_inflight", Help: "Requests to receivers in flight.",
	})
	postponedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_lane_parked", Help: "Deliveries postponed or held without an attempt, by reason: " + postponedReasons() + postponedNewer + " (a later release wrote the record).",
	}, []string{"reason"})
	breakerState = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_breaker_state", Help: "Receivers known to this process, by state of their circuit breaker.",
	}, []string{"state"})
	breakerTransitions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_breaker_transitions_total", Help: "State changes of circuit breakers, by the new state.",
	}, []string{"to"})
	resultsBuffered = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_delivery_results_buffered", Help: "Results that are not written to the database yet.",
	})
)

// postponedNewer is the reason for records of a later release.
const postponedNewer = "newer"

// postpones reports whether deliveries are postponed or held without an attempt.
func (r *causeRow) postpones() bool {
	return r.outcome == postpone || r.outcome == holdInDatabase || r.outcome == holdLast
}

// postponedReasons names them for operators.
func postponedReasons() (text string) {
	for _, row := range causes {
		if row.postpones() {
			text += row.name + " (" + row.meaning + "), "
		}
	}
	return text
}

// Metrics are the collectors of this package, with all known labels: rates do not see the first increment of a counter
// that was not there before.
func Metrics() []prometheus.Collector {
	for attempt := range topics.DelayTiers() { // there may be more, which the delay topics were not declared for
		for _, result := range []string{"success", "retry", "failed"} {
			deliveryTotal.WithLabelValues(result, strconv.Itoa(attempt+1))
		}
	}
	for _, attempt := range []string{"first", "later"} {
		deliveryLatency.WithLabelValues(attempt, store.TierHealthy)
		deliveryLatency.WithLabelValues(attempt, store.TierBlocked)
	}
	for _, row := range causes {
		if row.postpones() {
			postponedTotal.WithLabelValues(row.name)
		}
	}
	postponedTotal.WithLabelValues(postponedNewer)
	for _, state := range []gobreaker.State{gobreaker.StateClosed, gobreaker.StateHalfOpen, gobreaker.StateOpen} {
		breakerState.WithLabelValues(state.String())
		breakerTransitions.WithLabelValues(state.String())
	}
	return []prometheus.Collector{
		deliveryTotal, deliveryLatency, firstAttempt, deliveryInflight, postponedTotal, breakerState, breakerTransitions, resultsBuffered,
	}
}
