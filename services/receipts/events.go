package receipts

import "github.com/tradegrid/tradegrid/pkg/event"

var (
	created   = event.New[Receipt]("warehouse.receipt.created", "A stock receipt was posted.")
	cancelled = event.New[Receipt]("warehouse.receipt.cancelled", "A stock receipt was cancelled.")
)
