package dispatch

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/topics"
)

var (
	dlqTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_dlq_total", Help: "Dead letters written, by topic and reason.",
	}, []string{"topic", "reason"})
	dlqDepth = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_dlq_depth", Help: "Records that a dead letter topic keeps, as the owner of the sweeper's lease counts them; 0 in other processes.",
	}, []string{"topic"})
	duplicatesDropped = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_duplicates_dropped_total", Help: "Repeats that were recognised and dropped, by hop (router, sender).",
	}, []string{"hop"})
	routedEvents = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_router_events_total", Help: "Events routed, by result (matched, unmatched, dead).",
	}, []string{"result"})
	routedDeliveries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_router_deliveries_total", Help: "Deliveries made by the router, by result (sent, parked, repeated).",
	}, []string{"result"})
	routerRetries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_router_retries_total", Help: "Steps of the router that failed and were tried again, by step.",
	}, []string{"step"})
	delayDepth = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_delay_depth", Help: "Records of a delay line that this process holds until they are due; those behind are consumer lag.",
	}, []string{"line"})
	delayLate = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tradegrid_delay_late_seconds", Help: "How long after its due time a record left its delay line.",
		Buckets: []float64{.005, .01, .05, .1, .5, 1, 5, 30, 120, 600, 3600},
	}, []string{"line"})
	sweeperReinjected = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_reinjected_total", Help: "Open deliveries that the sweeper put in again, by cause (parked, overdue).",
	}, []string{"cause"})
	sweeperReleased = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_released_total", Help: "Attempts that were taken from workers that died.",
	})
	sweeperExpired = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_expired_total", Help: "Deliveries that the sweeper closed, because their time to live or their attempts were used up.",
	})
	sweeperSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_sweeper_pass_seconds", Help: "Time of one pass over the open deliveries.", Buckets: prometheus.ExponentialBuckets(.01, 4, 8),
	})
	oldestUndelivered = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_delivery_oldest_undelivered_seconds", Help: "Age of the oldest open delivery at the last pass of the sweeper, by tier (healthy, blocked) of its receiver.",
	}, []string{"tier"})
	reconcilerDifference = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tradegrid_reconciler_difference", Help: "Deliveries that should be there by the event log and the subscriptions, and are neither done nor open nor failed: 0 unless something was lost. Counted by the owner of the sweeper's lease; 0 in other processes.",
	})
	reconcilerChecked = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_reconciler_checked_total", Help: "Deliveries that the reconciler has looked for.",
	})
	subscriptionsDisabled = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_subscriptions_disabled_total", Help: "Subscriptions that were disabled because their receiver failed for days.",
	})
)

// Metrics are the collectors of this package, to be registered once per process. They show all that can be counted
// from the start: rates do not see the first increment of a counter that was not there before.
func Metrics() []prometheus.Collector {
	show()
	return slices.Concat(senderMetrics(), []prometheus.Collector{
		dlqTotal, dlqDepth, duplicatesDropped, routedEvents, routedDeliveries, routerRetries, delayDepth, delayLate,
		sweeperReinjected, sweeperReleased, sweeperExpired, sweeperSeconds, oldestUndelivered, reconcilerDifference, reconcilerChecked, subscriptionsDisabled,
	})
}

// show makes all known labels be there.
func show() {
	for _, reason := range []string{DeadAttempts, DeadTTL, DeadDeleted, DeadDecode, DeadRefused} {
		dlqTotal.WithLabelValues(topics.DeliveriesDead, reason)
	}
	dlqTotal.WithLabelValues(topics.EventsDead, DeadDecode)
	for vec, values := range map[*prometheus.CounterVec][]string{
		duplicatesDropped: {"router", "sender"},
		routedEvents:      {"matched", "unmatched", "dead"},
		routedDeliveries:  {"sent", "parked", "repeated"},
		routerRetries:     {"match", "insert", "produce", "dead letter"},
		sweeperReinjected: {"parked", "overdue"},
	} {
		for _, v := range values {
			vec.WithLabelValues(v)
		}
	}
	for _, line := range topics.Lines() {
		delayDepth.WithLabelValues(line.Topic)
		delayLate.WithLabelValues(line.Topic)
	}
	showDead(nil)
	for _, tier := range []string{tierHealthy, tierBlocked} {
		oldestUndelivered.WithLabelValues(tier)
	}
	showSender()
}
