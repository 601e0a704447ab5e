package receipts

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on receipts. READ COMMITTED is enough: every row that a change depends on is locked by the
// statement that reads it, and receipts of goods in demand wait for each other where SERIALIZABLE would abort them.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/warehouse/receipts", "listReceipts", "List stock receipts", s.List,
		httpapi.Doc("Newest first, cancelled ones included; costs are whole minor units."))
	httpapi.Rows(r, "/warehouse/receipts", resource.WithLines(s.cfg.DB, ofLines, s.List, resource.Same))
	httpapi.Create(r, "/warehouse/receipts", "createReceipt", "Create a stock receipt", s.Create,
		httpapi.Doc("Puts the goods on stock at once; `unitCost`, in minor units, defaults to the cost of the product, which the receipt does not change. "+
			"Fails with `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `PRODUCT_VARIANT_REQUIRED`, `WAREHOUSE_NOT_FOUND`, `SUPPLIER_NOT_FOUND`, `PURCHASE_ORDER_NOT_SENT` or `RECEIPT_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(r, "/warehouse/receipts", "upsertReceipt", "Create a stock receipt by its external id, or update what identifies it",
		httpapi.Upserts[Input, ChangeFields, Receipt]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the receipt (201), or changes the external id and metadata of the one that exists (200); its other fields never change, and those in the body are named in `X-Ignored-Fields`. "+
			"Fails as the creation does, for example with `PRODUCT_NOT_FOUND` or `WAREHOUSE_NOT_FOUND`."))
	httpapi.Get(r, "/warehouse/receipts/{id}", "getReceipt", "Read a stock receipt", s.Get,
		httpapi.Doc("The receipt with its lines; names are those at the time of the receipt. "+
			"Fails with `RECEIPT_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/receipts/{id}", "updateReceipt", "Update what identifies a stock receipt in other systems", s.Update,
		httpapi.Doc("Only `source`, `externalId` and `metadata` can be set, because a receipt records what happened; keys of `metadata` that are not sent stay. "+
			"Fails with `RECEIPT_NOT_FOUND` or `RECEIPT_EXTERNAL_ID_TAKEN`."))
	httpapi.Command(r, "/warehouse/receipts/{id}/cancel", "cancelReceipt", "Cancel a stock receipt", s.Cancel,
		httpapi.Doc("Takes the goods off stock again, all lines or none; reserves and the stock policy do not matter. "+
			"Fails with `RECEIPT_NOT_FOUND`, `RECEIPT_ALREADY_CANCELLED`, `RECEIPT_STOCK_CONSUMED` if part of the goods is gone, or `WAREHOUSE_DELETED`."))
}
