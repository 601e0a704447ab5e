// Package match finds the deliveries of an event: the subscriptions of its company that want it and may see it. The
// router makes them, and the reconciler compares them with what is there.
package match

import (
	"context"
	"fmt"

	"github.com/google/uuid"

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
	Paused       bool // the subscription takes nothing for now
}

// Match adds the deliveries of an event.
func Match(ctx context.Context, modules Modules, e *Event, subs []Subscription, to []Delivery) ([]Delivery, error) {
	asked := false
	for i := range subs {
		sub := &subs[i]
		if !sub.wants(e) {
			continue
		}
		if !asked {
			active, err := modules.Active(ctx, e.Company, e.Type.Module)
			if err != nil {
				return to, fmt.Errorf("is module %s active: %w", e.Type.Module, err)
			}
			if !active {
				return to, nil
			}
			asked = true
		}
		to = append(to, Delivery{Event: e, Subscription: sub.ID, DeliveryID: webhook.DeliveryID(e.ID, sub.ID, 0), Paused: sub.Paused})
	}
	return to, nil
}

// wants reports whether the subscription wants the event and may see it. Whether the module is active is a matter of the
// company and asked once per event.
func (s *Subscription) wants(e *Event) bool {
	return webhook.MatchAny(s.Events, e.Type.Name) &&
		s.Scopes.Allows(e.Type.Scope, false) &&
		(!s.ExcludeOwn || e.actor() != s.CreatedBy.String()) &&
		s.filter.Match(e.doc)
}
