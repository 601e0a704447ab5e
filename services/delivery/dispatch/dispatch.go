// Package dispatch brings events to the receivers of webhooks; see docs/architecture.md#dispatcher. Each part is a package:
//
//   - router turns events into deliveries, with match
//   - sender makes the attempts
//   - delay holds what is to be attempted later
//   - sweeper injects again what nothing in Kafka moves any more
//   - reconcile compares the event log with the deliveries
//
// They share the tables in store and the dead letters in deadletter, and do not know each other. What a company does with
// its subscriptions is in package webhooks.
package dispatch

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/services/delivery/deadletter"
	"github.com/tradegrid/tradegrid/services/delivery/delay"
	"github.com/tradegrid/tradegrid/services/delivery/reconcile"
	"github.com/tradegrid/tradegrid/services/delivery/router"
	"github.com/tradegrid/tradegrid/services/delivery/sender"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/sweeper"
)

// Metrics are the collectors of all parts, to be registered once per process. They have all known labels from the start:
// rates do not see the first increment of a counter that was not there before.
func Metrics() []prometheus.Collector {
	return slices.Concat(store.Metrics(), deadletter.Metrics(), router.Metrics(), sender.Metrics(), delay.Metrics(), sweeper.Metrics(), reconcile.Metrics())
}
