package suppliers

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// Register adds the operations on suppliers.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/warehouse/suppliers", "listSuppliers", "List suppliers", s.List)
	httpapi.Create(r, "/warehouse/suppliers", "createSupplier", "Create a supplier", s.Create)
	httpapi.Upsert(r, "/warehouse/suppliers", "upsertSupplier", "Create or update a supplier by its external id",
		httpapi.Upserts[Fields, Fields, Supplier]{Find: table.FindExternal, Create: s.Create, Update: s.Update})
	httpapi.Batch(r, "/warehouse/suppliers/batch", "batchSuppliers", "Create, update and delete up to 200 suppliers",
		httpapi.Writes[Fields, Supplier]{Create: s.Create, Update: s.Update, FindExternal: table.FindExternal, Delete: s.remove})
	httpapi.Get(r, "/warehouse/suppliers/{id}", "getSupplier", "Read a supplier", s.Get)
	httpapi.Update(r, "/warehouse/suppliers/{id}", "updateSupplier", "Update a supplier", s.Update)
	httpapi.Delete(r, "/warehouse/suppliers/{id}", "deleteSupplier", "Delete a supplier", s.Delete)
}

// remove deletes a supplier in a batch, whose result names it.
func (s *Service) remove(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Supplier, error) {
	return Supplier{Key: record.Key{ID: id}}, s.Delete(ctx, tx, by, id)
}
