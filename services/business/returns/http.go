package returns

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on returns to suppliers. READ COMMITTED is enough, as for receipts: every row that a change depends on is locked
// by the statement that reads it.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/warehouse/supplier-returns", "listSupplierReturns", "List returns to suppliers", s.List,
		httpapi.Doc("Newest first, cancelled ones included, without their lines; costs are whole minor units."))
	httpapi.Rows(r, "/warehouse/supplier-returns", resource.WithLines(s.cfg.DB, ofLines, s.List, resource.Same))
	httpapi.Create(r, "/warehouse/supplier-returns", "createSupplierReturn", "Create a return to a supplier", s.Create,
		httpapi.Doc("Takes the goods off stock at once; `unitCost`, in minor units, defaults to the cost of the product. "+
			"Fails with `WAREHOUSE_NOT_FOUND`, `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `PRODUCT_VARIANT_REQUIRED`, `STOCK_ACCOUNTING_DISABLED`, `STOCK_INSUFFICIENT` or `SUPPLIER_RETURN_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(r, "/warehouse/supplier-returns", "upsertSupplierReturn", "Create a return to a supplier by its external id, or update what identifies it",
		httpapi.Upserts[Input, ChangeFields, Return]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the return (201), or changes the external id and metadata of the one that exists (200); its other fields never change, and those in the body are named in `X-Ignored-Fields`. "+
			"Fails as the creation does, for example with `PRODUCT_NOT_FOUND` or `STOCK_INSUFFICIENT`."))
	httpapi.Get(r, "/warehouse/supplier-returns/{id}", "getSupplierReturn", "Read a return to a supplier", s.Get,
		httpapi.Doc("The return with its lines; names are those at the time of the return. "+
			"Fails with `SUPPLIER_RETURN_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/supplier-returns/{id}", "updateSupplierReturn", "Update what identifies a return to a supplier in other systems", s.Update,
		httpapi.Doc("Only `source`, `externalId` and `metadata` can be set, because a return to a supplier records what happened; keys of `metadata` that are not sent stay. "+
			"Fails with `SUPPLIER_RETURN_NOT_FOUND` or `SUPPLIER_RETURN_EXTERNAL_ID_TAKEN`."))
	httpapi.Command(r, "/warehouse/supplier-returns/{id}/cancel", "cancelSupplierReturn", "Cancel a return to a supplier", s.Cancel,
		httpapi.Doc("Puts the goods of all lines back on stock. "+
			"Fails with `SUPPLIER_RETURN_NOT_FOUND`, `SUPPLIER_RETURN_STATUS_TRANSITION_INVALID` or `WAREHOUSE_DELETED`."))
}
