package warehouse

import (
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// RegisterAdmin adds the operations on warehouses, and the choice of the default one.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerWarehouses(r)
	httpapi.Command(r, "/warehouse/warehouses/{id}/default", "makeWarehouseDefault", "Set the default warehouse of a company", s.MakeDefault)
}

func (s *Service) registerWarehouses(r *httpapi.Routes) {
	httpapi.List(r, "/warehouse/warehouses", "listWarehouses", "List warehouses", s.List)
	httpapi.Create(r, "/warehouse/warehouses", "createWarehouse", "Create a warehouse", s.Create)
	httpapi.Get(r, "/warehouse/warehouses/{id}", "getWarehouse", "Read a warehouse", s.Get)
	httpapi.Update(r, "/warehouse/warehouses/{id}", "updateWarehouse", "Update a warehouse", s.Update)
	httpapi.Delete(r, "/warehouse/warehouses/{id}", "deleteWarehouse", "Delete a warehouse", s.Delete)
}

// Register adds the operations on warehouses, stock and movements.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerWarehouses(r)
	httpapi.List(r, "/warehouse/stocks", "listStocks", "List stock", s.Stocks)
	// An adjustment depends on the one row that it locks. At SERIALIZABLE, documents that move the same row would abort it.
	adjust := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.Create(adjust, "/warehouse/stocks/adjust", "adjustStock", "Set the quantity of a product in a warehouse", s.SetStock, httpapi.NoURL)
	httpapi.Batch(adjust, "/warehouse/stocks/adjust/batch", "batchStockAdjustments", "Set the quantities of up to 200 products", httpapi.Writes[Adjustment, Stock]{Create: s.SetStock})
	httpapi.List(r, "/warehouse/movements", "listStockMovements", "List stock movements", s.Movements)
}
