package purchases

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on purchase orders. READ COMMITTED is enough, as for receipts: every row that a change depends on is locked
// by the statement that reads it.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/warehouse/purchase-orders", "listPurchaseOrders", "List purchase orders", s.List,
		httpapi.Doc("Newest first, without their lines; `status=sent,partly_received` lists those for which goods are expected."))
	httpapi.Rows(r, "/warehouse/purchase-orders", resource.WithLines(s.cfg.DB, ofLines, s.List, resource.Same))
	httpapi.Create(r, "/warehouse/purchase-orders", "createPurchaseOrder", "Create a purchase order", s.Create,
		httpapi.Doc("Stores a draft of 1 to 500 lines; `unitCost`, in minor units, defaults to the cost of the product. "+
			"Fails with `SUPPLIER_NOT_FOUND`, `WAREHOUSE_NOT_FOUND`, `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `PRODUCT_VARIANT_REQUIRED` or `PURCHASE_ORDER_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(r, "/warehouse/purchase-orders", "upsertPurchaseOrder", "Create or update a purchase order by its external id",
		httpapi.Upserts[Input, Input, Order]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates a draft (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event. "+
			"Fails as creation and update do, for example with `PURCHASE_ORDER_NOT_DRAFT` or `SUPPLIER_NOT_FOUND`."))
	httpapi.Change(r, "/warehouse/purchase-orders/reorder", "reorderGoods", "Create purchase orders for goods below their reorder points", s.httpReorder,
		httpapi.Doc("Drafts one order per default supplier for up to 500 goods of a warehouse of which no more is available and expected than their reorder point; quantities make up twice the reorder point, so a repeat orders nothing again. "+
			"Fails with `WAREHOUSE_NOT_FOUND`."))
	httpapi.Get(r, "/warehouse/purchase-orders/{id}", "getPurchaseOrder", "Read a purchase order", s.Get,
		httpapi.Doc("The order with its lines; `receivedQty` is what posted receipts brought that name the order. "+
			"Fails with `PURCHASE_ORDER_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/purchase-orders/{id}", "updatePurchaseOrder", "Update a purchase order", s.Update,
		httpapi.Doc("Fields that are not sent stay, and `items` replaces all lines; once the order is sent, only `expectedAt`, `note`, `source`, `externalId` and `metadata` can change. "+
			"Fails with `PURCHASE_ORDER_NOT_FOUND`, `PURCHASE_ORDER_NOT_DRAFT`, or as the creation does."))
	httpapi.Command(r, "/warehouse/purchase-orders/{id}/send", "sendPurchaseOrder", "Send a purchase order", s.Send,
		httpapi.Doc("Marks the order as sent: receipts can name it as `purchaseOrderId` from now on. No mail is sent. "+
			"Fails with `PURCHASE_ORDER_NOT_FOUND` or `PURCHASE_ORDER_STATUS_TRANSITION_INVALID`."))
	httpapi.Command(r, "/warehouse/purchase-orders/{id}/close", "closePurchaseOrder", "Close a purchase order", s.Close,
		httpapi.Doc("Ends an order of which a part arrived and the rest will not. "+
			"Fails with `PURCHASE_ORDER_NOT_FOUND` or `PURCHASE_ORDER_STATUS_TRANSITION_INVALID`."))
	httpapi.Command(r, "/warehouse/purchase-orders/{id}/cancel", "cancelPurchaseOrder", "Cancel a purchase order", s.Cancel,
		httpapi.Doc("Ends an order for which nothing arrived. "+
			"Fails with `PURCHASE_ORDER_NOT_FOUND` or `PURCHASE_ORDER_STATUS_TRANSITION_INVALID`."))
}
