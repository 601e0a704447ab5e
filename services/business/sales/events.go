package sales

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	completed = event.New[Sale]("sale.completed", "A sale was completed.").By(`$sale`)
	updated   = event.WithChanges[Sale]("sale.updated", "The external id or the metadata of a sale changed; changedFields names what.").By(`PATCH /sales/$sale {"metadata":{"trigger":"$run"}}`)
	refunded  = event.New[Sale]("sale.refunded", "A sale was refunded, or a part of it; data is the receipt of the refund.").By(`POST /sales/$sale/refund`)
	opened    = event.New[Shift]("shift.opened", "A shift was opened.").By(`POST /shifts/$shift/close {"closingCash":0}`, `POST /shifts/open {"openingCash":0}`)
	cashMoved = event.With[Shift, withMovement]("shift.cash_moved", "Cash was put into the drawer of a shift, or taken out; cashMovement says why.", nil).By(
		`POST /shifts/$shift/cash-movements {"type":"in","amount":500,"reason":"Trigger $run"}`,
	)
	shut = event.New[Shift]("shift.closed", "A shift was closed.").By(`POST /shifts/$shift/close {"closingCash":0}`)
)

// withMovement holds the field that a cash movement adds to the shift; [Service.MoveCash] sets it.
type withMovement struct {
	CashMovement CashMovement `json:"cashMovement"`
}
