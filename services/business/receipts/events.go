package receipts

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created = event.New[Receipt]("warehouse.receipt.created", "A stock receipt was posted.").By(`$receipt`)
	updated = event.WithChanges[Receipt]("warehouse.receipt.updated", "The external id or the metadata of a stock receipt changed; changedFields names what.").By(
		`PATCH /warehouse/receipts/$receipt {"metadata":{"trigger":"$run"}}`,
	)
	cancelled = event.New[Receipt]("warehouse.receipt.cancelled", "A stock receipt was cancelled.").By(`POST /warehouse/receipts/$receipt/cancel`)
)
