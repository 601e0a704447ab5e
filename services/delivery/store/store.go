// Package store holds what the dispatcher writes to and reads from the database. It owns the tables deliveries and
// delivery_attempts. Of webhook_subscriptions it writes only what it learns of the receivers: the times of the last
// success and failure, and the circuit breaker; the rest of that table belongs to package webhooks.
//
// A delivery that is not over waits in one of two places:
//
//   - In Kafka: pending, and next_attempt_at is the moment when its record is due. The sweeper injects it again when that
//     moment is long past and the record does not wait unread.
//   - In the database ("held"): pending, and next_attempt_at is NULL. Kafka has no record of it; the sweeper injects it
//     as soon as its receiver takes deliveries again.
package store

import (
	"cmp"
	"slices"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// DeliveryKey is the primary key of a delivery.
type DeliveryKey struct {
	Subscription webhook.SubscriptionKey
	ID           uuid.UUID
}

// Compare orders deliveries as all writers lock them.
func (k DeliveryKey) Compare(other DeliveryKey) int {
	return cmp.Or(k.Subscription.Compare(other.Subscription), slices.Compare(k.ID[:], other.ID[:]))
}

// Tiers of receivers, as label of metrics.
const (
	TierHealthy = "healthy" // takes what is sent to it
	TierBlocked = "blocked" // its circuit breaker is open, or was lately
)

// Hops that recognise repeats, as label of the metric.
const (
	HopRouter = "router"
	HopSender = "sender"
)

var duplicatesDropped = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_duplicates_dropped_total", Help: "Repeats that were recognised and dropped, by hop (router, sender).",
}, []string{"hop"})

// CountDuplicate counts a repeat that was recognised by its row and dropped.
func CountDuplicate(hop string) { duplicatesDropped.WithLabelValues(hop).Inc() }

// Metrics are the collectors of this package.
func Metrics() []prometheus.Collector {
	for _, hop := range []string{HopRouter, HopSender} {
		duplicatesDropped.WithLabelValues(hop)
	}
	return []prometheus.Collector{duplicatesDropped}
}

// columns splits keys for unnest.
func columns(keys []DeliveryKey) (companies, subscriptions, ids []uuid.UUID) {
	for _, k := range keys {
		companies = append(companies, uuid.UUID(k.Subscription.Company))
		subscriptions, ids = append(subscriptions, k.Subscription.ID), append(ids, k.ID)
	}
	return companies, subscriptions, ids
}

// subscriptionColumns is columns for subscriptions.
func subscriptionColumns(keys []webhook.SubscriptionKey) (companies, ids []uuid.UUID) {
	for _, k := range keys {
		companies, ids = append(companies, uuid.UUID(k.Company)), append(ids, k.ID)
	}
	return companies, ids
}
