package returns

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created = event.New[Return]("warehouse.supplier_return.created", "Goods went back to their supplier.").By(`$supplierReturn`)
	updated = event.WithChanges[Return]("warehouse.supplier_return.updated", "The external id or the metadata of a return to a supplier changed; changedFields names what.").By(
		`PATCH /warehouse/supplier-returns/$supplierReturn {"metadata":{"trigger":"$run"}}`,
	)
	cancelled = event.New[Return]("warehouse.supplier_return.cancelled", "A return to a supplier was cancelled; its goods are back on stock.").By(`POST /warehouse/supplier-returns/$supplierReturn/cancel`)
)
