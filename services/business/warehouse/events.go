package warehouse

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	movementCreated = event.New[Movement]("stock.movement.created", "A physical quantity changed; one event per movement.")
	// [Service.SetStock] sets the additional fields.
	stockAdjusted = event.With[Stock, adjusted]("stock.adjusted", "A quantity was adjusted manually.", nil)
	stockLow      = event.New[Stock]("stock.low", "A quantity fell to its reorder point or below it.")
)

// Types of the records that events are about.
const (
	aggregateMovement = "stock_movement"
	aggregateStock    = "stock"
)
