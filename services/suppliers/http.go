package suppliers

import "github.com/tradegrid/tradegrid/pkg/httpapi"

// Register adds the operations on suppliers.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/warehouse/suppliers", "listSuppliers", "List suppliers", s.List)
	httpapi.Create(r, "/warehouse/suppliers", "createSupplier", "Create a supplier", s.Create)
	httpapi.Upsert(r, "/warehouse/suppliers", "upsertSupplier", "Create or update a supplier by its external id",
		httpapi.Upserts[Fields, Fields, Supplier]{Find: table.FindExternal, Create: s.Create, Update: s.Update})
	httpapi.Get(r, "/warehouse/suppliers/{id}", "getSupplier", "Read a supplier", s.Get)
	httpapi.Update(r, "/warehouse/suppliers/{id}", "updateSupplier", "Update a supplier", s.Update)
	httpapi.Delete(r, "/warehouse/suppliers/{id}", "deleteSupplier", "Delete a supplier", s.Delete)
}
