package warehouse

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// RegisterAdmin adds the operations on warehouses, and the choice of the default one.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerWarehouses(r)
	httpapi.Command(r, "/warehouse/warehouses/{id}/default", "makeWarehouseDefault", "Set the default warehouse of a company", s.MakeDefault,
		httpapi.Doc("Orders and sales that name no warehouse, and whose branch has none, take their stock here from now on; a repeat changes nothing. "+
			"Fails with `WAREHOUSE_NOT_FOUND`."))
}

func (s *Service) registerWarehouses(r *httpapi.Routes) {
	httpapi.List(r, "/warehouse/warehouses", "listWarehouses", "List warehouses", s.List,
		httpapi.Doc("Newest first; the one with `isDefault` serves orders and sales that name no warehouse."))
	httpapi.Create(r, "/warehouse/warehouses", "createWarehouse", "Create a warehouse", s.Create,
		httpapi.Doc("A branch has at most one warehouse; without `branchId`, the first open branch that has none gets it. "+
			"Fails with `BRANCH_WAREHOUSE_EXISTS`, `BRANCH_NOT_AVAILABLE` if no open branch is without one, or `BRANCH_NOT_FOUND`."))
	httpapi.Get(r, "/warehouse/warehouses/{id}", "getWarehouse", "Read a warehouse", table.GetFrom(s.cfg.DB),
		httpapi.Doc("Its name, address and branch; quantities are in the list of stock. "+
			"Fails with `WAREHOUSE_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/warehouses/{id}", "updateWarehouse", "Update a warehouse", s.Update,
		httpapi.Doc("Fields that are not sent stay; the default warehouse is chosen by operators only. "+
			"Fails with `WAREHOUSE_NOT_FOUND`, `BRANCH_WAREHOUSE_EXISTS`, `BRANCH_NOT_AVAILABLE` or `BRANCH_NOT_FOUND`."))
	httpapi.Delete(r, "/warehouse/warehouses/{id}", "deleteWarehouse", "Delete a warehouse", s.Delete,
		httpapi.Doc("Movements and receipts keep its name; documents that still name it cannot move stock there any more. "+
			"Fails with `WAREHOUSE_NOT_FOUND`, `WAREHOUSE_IS_DEFAULT`, or `WAREHOUSE_NOT_EMPTY` while a quantity or reserve is not 0."))
}

// Register adds the operations on warehouses, stock and movements.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerWarehouses(r)
	httpapi.List(r, "/warehouse/stocks", "listStocks", "List stock", s.Stocks,
		httpapi.Doc("One record per warehouse and product or variant that has ever moved; with `groupBy=product`, sums over all warehouses, to which `level` and `sort` then apply."))
	// An adjustment depends on the one row that it locks. At SERIALIZABLE, documents that move the same row would abort it.
	adjust := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.Create(adjust, "/warehouse/stocks/adjust", "adjustStock", "Set or change the quantity of a product in a warehouse", s.SetStock, httpapi.NoURL,
		httpapi.Doc("Sets the physical quantity to `targetQty`, or changes it by `delta` with at most 3 decimals, and records the difference as a movement; if nothing differs, there is no movement. `expectedQty` protects against a stock that has changed since it was read. "+
			"Fails with `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `WAREHOUSE_NOT_FOUND`, `PRODUCT_VARIANT_REQUIRED`, `STOCK_ACCOUNTING_DISABLED`, `STOCK_CHANGED`, or `STOCK_INSUFFICIENT` for a `delta` below 0."))
	httpapi.Batch(adjust, "/warehouse/stocks/adjust/batch", "batchStockAdjustments", "Set or change the quantities of up to 1 000 products", httpapi.Writes[Adjustment, Stock]{Create: s.SetStock, Resource: "stocks"},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others; `sku` or `barcode` names a product or variant in place of `productId`, and the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `STOCK_CHANGED` or `PRODUCT_NOT_FOUND`."))
	httpapi.List(r, "/warehouse/movements", "listStockMovements", "List stock movements", s.Movements,
		httpapi.Doc("Newest first; a movement never changes, and the `qtyAfter` of one is the `qtyBefore` of the next of the same stock."))
}
