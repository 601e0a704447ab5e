package purchases

import "github.com/tradegrid/tradegrid/pkg/events/event"

const receive = `POST /warehouse/receipts {"warehouseId":"$warehouse","purchaseOrderId":"$purchaseOrder","items":[{"productId":"$product","qty":2}]}`

var (
	created = event.New[Order]("warehouse.purchase_order.created", "A purchase order was drafted.").By(`$purchaseOrder`)
	updated = event.WithChanges[Order]("warehouse.purchase_order.updated", "A purchase order was changed; changedFields names what.").By(
		`PATCH /warehouse/purchase-orders/$purchaseOrder {"metadata":{"trigger":"$run"}}`,
	)
	sent     = event.New[Order]("warehouse.purchase_order.sent", "A purchase order was sent to its supplier.").By(`POST /warehouse/purchase-orders/$purchaseOrder/send`)
	received = event.New[Order]("warehouse.purchase_order.received", "A receipt of goods for a purchase order was posted or cancelled; status and receivedQty say what is there.").By(
		`POST /warehouse/purchase-orders/$purchaseOrder/send`, receive,
	)
	closed = event.New[Order]("warehouse.purchase_order.closed", "A purchase order was closed; its rest is no longer expected.").By(
		`POST /warehouse/purchase-orders/$purchaseOrder/send`, receive, `POST /warehouse/purchase-orders/$purchaseOrder/close`,
	)
	cancelled = event.New[Order]("warehouse.purchase_order.cancelled", "A purchase order was cancelled.").By(`POST /warehouse/purchase-orders/$purchaseOrder/cancel`)
)
