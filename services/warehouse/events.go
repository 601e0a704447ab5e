package warehouse

import "github.com/tradegrid/tradegrid/pkg/event"

// Names of the events of this domain.
const (
	eventMovementCreated = "stock.movement.created"
	eventStockAdjusted   = "stock.adjusted"
)

// Events are the events that this domain raises (specification, section 6).
func Events() []event.Type {
	return []event.Type{
		event.Of[Movement](eventMovementCreated, component, scope, "A physical quantity was changed; one event per movement."),
		event.Extended[Stock, adjusted](eventStockAdjusted, component, scope, "A quantity was set by hand."),
	}
}
