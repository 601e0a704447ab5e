package writeoffs

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on write-offs. READ COMMITTED is enough, as for receipts: every row that a change depends on is locked
// by the statement that reads it.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/warehouse/write-offs", "listWriteOffs", "List write-offs", s.List,
		httpapi.Doc("Newest first, cancelled ones included, without their lines; costs are whole minor units."))
	httpapi.Rows(r, "/warehouse/write-offs", resource.WithLines(s.cfg.DB, ofLines, s.List, resource.Same))
	httpapi.Create(r, "/warehouse/write-offs", "createWriteOff", "Create a write-off", s.Create,
		httpapi.Doc("Takes the goods off stock at once; `unitCost`, in minor units, defaults to the cost of the product. "+
			"Fails with `WAREHOUSE_NOT_FOUND`, `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `PRODUCT_VARIANT_REQUIRED`, `STOCK_ACCOUNTING_DISABLED`, `STOCK_INSUFFICIENT` or `WRITE_OFF_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(r, "/warehouse/write-offs", "upsertWriteOff", "Create a write-off by its external id, or update what identifies it",
		httpapi.Upserts[Input, ChangeFields, Writeoff]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates the write-off (201), or changes the external id and metadata of the one that exists (200); its other fields never change, and those in the body are named in `X-Ignored-Fields`. "+
			"Fails as the creation does, for example with `PRODUCT_NOT_FOUND` or `STOCK_INSUFFICIENT`."))
	httpapi.Get(r, "/warehouse/write-offs/{id}", "getWriteOff", "Read a write-off", s.Get,
		httpapi.Doc("The write-off with its lines; names are those at the time of the write-off. "+
			"Fails with `WRITE_OFF_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/write-offs/{id}", "updateWriteOff", "Update what identifies a write-off in other systems", s.Update,
		httpapi.Doc("Only `source`, `externalId` and `metadata` can be set, because a write-off records what happened; keys of `metadata` that are not sent stay. "+
			"Fails with `WRITE_OFF_NOT_FOUND` or `WRITE_OFF_EXTERNAL_ID_TAKEN`."))
	httpapi.Command(r, "/warehouse/write-offs/{id}/cancel", "cancelWriteOff", "Cancel a write-off", s.Cancel,
		httpapi.Doc("Puts the goods of all lines back on stock. "+
			"Fails with `WRITE_OFF_NOT_FOUND`, `WRITE_OFF_STATUS_TRANSITION_INVALID` or `WAREHOUSE_DELETED`."))
}
