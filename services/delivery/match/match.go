// Package match matches events with subscriptions. The router makes deliveries of the matches, and the reconciler checks
// that the deliveries exist.
package match

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Subscription is a subscription with the terms that decide which events it gets.
type Subscription struct {
	webhook.Terms
	ID      uuid.UUID
	Paused  bool
	Ordered bool
}

// Delivery is one event for one subscription.
type Delivery struct {
	*Event
	Subscription uuid.UUID
	DeliveryID   uuid.UUID
	Paused       bool // the delivery is held until the subscription is resumed
	Ordered      bool // it waits for earlier deliveries of its record
}

// Match appends the deliveries of an event to the list. The components are those of the company, see [Components].
func Match(e *Event, subs []Subscription, components access.Components, to []Delivery) []Delivery {
	for i := range subs {
		if sub := &subs[i]; sub.Decide(&e.candidate, components) == webhook.Wanted {
			to = append(to, Delivery{Event: e, Subscription: sub.ID, DeliveryID: webhook.DeliveryID(e.ID, sub.ID, 0), Paused: sub.Paused, Ordered: sub.Ordered})
		}
	}
	return to
}
