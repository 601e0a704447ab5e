package sweeper

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/services/delivery/store"
)

var (
	sweeperReinjected = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_reinjected_total", Help: "Open deliveries that the sweeper injected again, by cause (parked, overdue).",
	}, []string{"cause"})
	sweeperIneffective = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_ineffective_total", Help: "Deliveries that the sweeper injected again because nothing became of an injection before.",
	})
	sweeperReleased = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_released_total", Help: "Attempts that were released because their sender died.",
	})
	sweeperExpired = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_expired_total", Help: "Deliveries that the sweeper failed because their lifetime or their attempts were used up.",
	})
	sweeperRecovered = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tradegrid_sweeper_recovered_total", Help: "Deliveries sent because their receiver was back from an outage: kept (their last attempt), failed (redelivered automatically).",
	}, []string{"cause"})
	sweeperSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tradegrid_sweeper_pass_seconds", Help: "Duration of one pass over the open deliveries.", Buckets: prometheus.ExponentialBuckets(.01, 4, 8),
	})
	oldestUndelivered = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tradegrid_delivery_oldest_undelivered_seconds", Help: "Age of the oldest open delivery at the last pass of the sweeper, by tier (healthy, blocked) of its receiver.",
	}, []string{"tier"})
	subscriptionsDisabled = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tradegrid_subscriptions_disabled_total", Help: "Subscriptions that were disabled because their receiver failed for days or is gone.",
	})
)

// Metrics are the collectors of this package, with all known labels.
func Metrics() []prometheus.Collector {
	for _, cause := range []string{"parked", "overdue"} {
		sweeperReinjected.WithLabelValues(cause)
	}
	for _, cause := range []string{"kept", "failed"} {
		sweeperRecovered.WithLabelValues(cause)
	}
	for _, tier := range []string{store.TierHealthy, store.TierBlocked} {
		oldestUndelivered.WithLabelValues(tier)
	}
	return []prometheus.Collector{sweeperReinjected, sweeperIneffective, sweeperReleased, sweeperExpired, sweeperRecovered, sweeperSeconds, oldestUndelivered, subscriptionsDisabled}
}
