package warehouse

import "github.com/tradegrid/tradegrid/pkg/event"

var (
	movementCreated = event.New[Movement]("stock.movement.created", "A physical quantity was changed; one event per movement.")
	// [Service.SetStock] raises it with what it adds.
	stockAdjusted = event.With[Stock, adjusted]("stock.adjusted", "A quantity was set by hand.", nil)
)
