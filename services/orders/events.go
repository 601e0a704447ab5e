package orders

import "github.com/tradegrid/tradegrid/pkg/event"

var (
	created       = event.New[Order]("order.created", "An order was created.")
	updated       = event.WithChanges[Order]("order.updated", "An order was changed; changedFields lists the changed fields.")
	statusChanged = event.With("order.status_changed", "The status of an order changed.", previousStatus)
	shipped       = event.With[Order, withShipment]("order.shipped", "A shipment of an order was posted; shipment holds it.", nil)
	cancelled     = event.With("order.cancelled", "An order was cancelled; order.status_changed is sent as well.", previousStatus)
)

// moved holds the fields that status events add to the order.
type moved struct {
	PreviousStatus string `json:"previousStatus"`
}

func previousStatus(before, _ *Order) moved { return moved{before.Status} }

// withShipment holds the field that a shipment adds to the order; [Service.Ship] sets it.
type withShipment struct {
	Shipment Shipment `json:"shipment"`
}
