package transfers

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created = event.New[Transfer]("warehouse.transfer.created", "A transfer was drafted.").By(`$transfer`)
	updated = event.WithChanges[Transfer]("warehouse.transfer.updated", "A transfer was changed; changedFields names what.").By(
		`PATCH /warehouse/transfers/$transfer {"metadata":{"trigger":"$run"}}`,
	)
	sent     = event.New[Transfer]("warehouse.transfer.sent", "The goods of a transfer left their warehouse.").By(`POST /warehouse/transfers/$transfer/send`)
	received = event.New[Transfer]("warehouse.transfer.received", "The goods of a transfer arrived; receivedQty of its lines says what.").By(
		`POST /warehouse/transfers/$transfer/send`, `POST /warehouse/transfers/$transfer/receive`,
	)
	cancelled = event.New[Transfer]("warehouse.transfer.cancelled", "A transfer was cancelled; what was sent is back.").By(`POST /warehouse/transfers/$transfer/cancel`)
)
