package orders

import "github.com/tradegrid/tradegrid/pkg/event"

// Names of the events of this domain.
const (
	eventCreated       = "order.created"
	eventUpdated       = "order.updated"
	eventStatusChanged = "order.status_changed"
	eventCancelled     = "order.cancelled"
)

// moved is what the events of a move add to the order.
type moved struct {
	PreviousStatus string `json:"previousStatus"`
}

// Events are the events that this domain raises (specification, section 6).
func Events() []event.Type {
	return []event.Type{
		event.Of[Order](eventCreated, component, scope, "An order was created."),
		event.Extended[Order, event.Changed](eventUpdated, component, scope, "An order was changed; changedFields names what."),
		event.Extended[Order, moved](eventStatusChanged, component, scope, "An order moved to another status."),
		event.Extended[Order, moved](eventCancelled, component, scope, "An order was cancelled; order.status_changed comes as well."),
	}
}
