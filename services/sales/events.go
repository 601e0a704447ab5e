package sales

import "github.com/tradegrid/tradegrid/pkg/event"

var (
	completed = event.New[Sale]("sale.completed", "A sale was completed.")
	updated   = event.WithChanges[Sale]("sale.updated", "The external id or the metadata of a sale changed; changedFields names what.")
	refunded  = event.New[Sale]("sale.refunded", "A sale was refunded; data is the receipt of the refund.")
	opened    = event.New[Shift]("shift.opened", "A shift was opened.")
	shut      = event.New[Shift]("shift.closed", "A shift was closed.")
)
