package receipts

import (
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// Register adds the operations on receipts. READ COMMITTED is enough: every row that a change depends on is locked by the
// statement that reads it, and receipts of goods in demand wait for each other where SERIALIZABLE would abort them.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/warehouse/receipts", "listReceipts", "List stock receipts", s.List)
	httpapi.Create(r, "/warehouse/receipts", "createReceipt", "Create a stock receipt", s.Create)
	httpapi.Upsert(r, "/warehouse/receipts", "upsertReceipt", "Create a stock receipt by its external id, or update what identifies it",
		httpapi.Upserts[Input, ChangeFields, Receipt]{Find: table.FindExternal, Create: s.Create, Update: s.Update})
	httpapi.Get(r, "/warehouse/receipts/{id}", "getReceipt", "Read a stock receipt", s.Get)
	httpapi.Update(r, "/warehouse/receipts/{id}", "updateReceipt", "Update what identifies a stock receipt in other systems", s.Update)
	httpapi.Command(r, "/warehouse/receipts/{id}/cancel", "cancelReceipt", "Cancel a stock receipt", s.Cancel)
}
