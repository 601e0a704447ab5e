// Package match matches events with subscriptions. The router makes deliveries of the matches, and the reconciler checks
// that the deliveries exist.
package match

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
)

// Subscription is a subscription with its filter compiled.
type Subscription struct {
	store.Subscription
	filter *webhook.Filter
}

// Delivery is one event for one subscription.
type Delivery struct {
	*Event
	Subscription uuid.UUID
	DeliveryID   uuid.UUID
	Paused       bool // the delivery is parked until the subscription is resumed
}

// Match appends the deliveries of an event to the list. The components are those of the company, see [Modules].
func Match(e *Event, subs []Subscription, components access.Components, to []Delivery) []Delivery {
	if !components.Has(e.Type.Module) {
		return to
	}
	for i := range subs {
		if sub := &subs[i]; sub.wants(e) {
			to = append(to, Delivery{Event: e, Subscription: sub.ID, DeliveryID: webhook.DeliveryID(e.ID, sub.ID, 0), Paused: sub.Paused})
		}
	}
	return to
}

// wants reports whether the subscription matches the event and its scopes allow to read it.
func (s *Subscription) wants(e *Event) bool {
	return webhook.MatchAny(s.Events, e.Type.Name) &&
		s.Scopes.Allows(e.Type.Scope, false) &&
		(!s.ExcludeOwn || e.actor() != s.CreatedBy.String()) &&
		s.filter.Match(e.doc)
}
