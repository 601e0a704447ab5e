package suppliers

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Register adds the operations on suppliers.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/warehouse/suppliers", "listSuppliers", "List suppliers", s.List,
		httpapi.Doc("Newest first; `search` looks at name, phone, e-mail and tax number."))
	httpapi.Create(r, "/warehouse/suppliers", "createSupplier", "Create a supplier", s.Create,
		httpapi.Doc("Only the name is required; products name a supplier as `defaultSupplierId`. "+
			"Fails with `SUPPLIER_EXTERNAL_ID_TAKEN` if another supplier of the source has the external id."))
	httpapi.Upsert(r, "/warehouse/suppliers", "upsertSupplier", "Create or update a supplier by its external id",
		httpapi.Upserts[Fields, Fields, Supplier]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the supplier (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event. "+
			"Fails with `VALIDATION_ERROR` if the body names another external id than the path."))
	httpapi.Batch(r, "/warehouse/suppliers/batch", "batchSuppliers", "Create, update and delete up to 1 000 suppliers",
		httpapi.Writes[Fields, Supplier]{Create: s.Create, Update: s.Update, FindExternal: table.FindExternal, Delete: s.remove},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others; the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `SUPPLIER_NOT_FOUND` or `EXTERNAL_ID_NOT_FOUND`."))
	httpapi.Get(r, "/warehouse/suppliers/{id}", "getSupplier", "Read a supplier", table.GetFrom(s.cfg.DB),
		httpapi.Doc("Its contact data; receipts keep the name that it had. "+
			"Fails with `SUPPLIER_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/suppliers/{id}", "updateSupplier", "Update a supplier", s.Update,
		httpapi.Doc("Fields that are not sent stay, and `null` clears one. "+
			"Fails with `SUPPLIER_NOT_FOUND` or `SUPPLIER_EXTERNAL_ID_TAKEN`."))
	httpapi.Delete(r, "/warehouse/suppliers/{id}", "deleteSupplier", "Delete a supplier", s.Delete,
		httpapi.Doc("Products that name the supplier lose it, each with an event of its own; receipts keep its name. "+
			"Fails with `SUPPLIER_NOT_FOUND`."))
}

// remove deletes a supplier in a batch, whose result names it.
func (s *Service) remove(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Supplier, error) {
	return Supplier{Key: record.Key{ID: id}}, s.Delete(ctx, tx, by, id)
}
