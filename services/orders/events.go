package orders

import "github.com/tradegrid/tradegrid/pkg/event"

var (
	created       = event.New[Order]("order.created", "An order was created.")
	updated       = event.WithChanges[Order]("order.updated", "An order was changed; changedFields names what.")
	statusChanged = event.With("order.status_changed", "An order moved to another status.", previousStatus)
	cancelled     = event.With("order.cancelled", "An order was cancelled; order.status_changed comes as well.", previousStatus)
)

// moved is what the events of a move add to the order.
type moved struct {
	PreviousStatus string `json:"previousStatus"`
}

func previousStatus(before, _ *Order) moved { return moved{before.Status} }
