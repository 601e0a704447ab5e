package orders

import "github.com/tradegrid/tradegrid/pkg/event"

// Names of the events of this domain.
const (
	eventCreated       = "order.created"
	eventUpdated       = "order.updated"
	eventStatusChanged = "order.status_changed"
	eventCancelled     = "order.cancelled"
)

// changed is what the event of an update adds to the order.
type changed struct {
	ChangedFields []string `json:"changedFields"`
}

// moved is what the events of a move add to the order.
type moved struct {
	PreviousStatus string `json:"previousStatus"`
}

type orderUpdated struct {
	Order
	changed
}

type orderMoved struct {
	Order
	moved
}

// Events are the events that this domain raises (specification, section 6).
func Events() []event.Type {
	return []event.Type{
		event.Of[Order](eventCreated, component, scope, "An order was created."),
		event.Of[orderUpdated](eventUpdated, component, scope, "An order was changed; changedFields names what."),
		event.Of[orderMoved](eventStatusChanged, component, scope, "An order moved to another status."),
		event.Of[orderMoved](eventCancelled, component, scope, "An order was cancelled; order.status_changed comes as well."),
	}
}
