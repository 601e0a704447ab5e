package transfers

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on transfers. READ COMMITTED is enough, as for receipts: every row that a change depends on is locked
// by the statement that reads it.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/warehouse/transfers", "listTransfers", "List transfers", s.List,
		httpapi.Doc("Newest first, without their lines; `status=sent` lists those whose goods are on the way."))
	httpapi.Rows(r, "/warehouse/transfers", resource.WithLines(s.cfg.DB, ofLines, s.List, resource.Same))
	httpapi.Create(r, "/warehouse/transfers", "createTransfer", "Create a transfer", s.Create,
		httpapi.Doc("Stores a draft of 1 to 500 lines, which moves no stock. "+
			"Fails with `WAREHOUSE_NOT_FOUND`, `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `PRODUCT_VARIANT_REQUIRED`, `STOCK_ACCOUNTING_DISABLED` or `TRANSFER_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(r, "/warehouse/transfers", "upsertTransfer", "Create or update a transfer by its external id",
		httpapi.Upserts[Input, Input, Transfer]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Creates a draft (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event. "+
			"Fails as creation and update do, for example with `TRANSFER_NOT_DRAFT` or `WAREHOUSE_NOT_FOUND`."))
	httpapi.Get(r, "/warehouse/transfers/{id}", "getTransfer", "Read a transfer", s.Get,
		httpapi.Doc("The transfer with its lines; `receivedQty` of a line is null until the goods arrived. "+
			"Fails with `TRANSFER_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/transfers/{id}", "updateTransfer", "Update a transfer", s.Update,
		httpapi.Doc("Fields that are not sent stay, and `items` replaces all lines; once the transfer is sent, only `note`, `source`, `externalId` and `metadata` can change. "+
			"Fails with `TRANSFER_NOT_FOUND`, `TRANSFER_NOT_DRAFT`, or as the creation does."))
	httpapi.Command(r, "/warehouse/transfers/{id}/send", "sendTransfer", "Send a transfer", s.Send,
		httpapi.Doc("Takes the goods out of the warehouse that sends; they are on the way then, and in no warehouse. "+
			"Fails with `TRANSFER_NOT_FOUND`, `TRANSFER_STATUS_TRANSITION_INVALID`, `STOCK_INSUFFICIENT` or `WAREHOUSE_DELETED`."))
	httpapi.CommandWith(r, "/warehouse/transfers/{id}/receive", "receiveTransfer", "Receive a transfer", s.Receive,
		httpapi.Doc("Puts what arrived into the warehouse that receives: of each line what was sent, unless `items` has another quantity. What is missing stays out of stock. "+
			"Fails with `TRANSFER_NOT_FOUND`, `TRANSFER_LINE_NOT_FOUND`, `TRANSFER_STATUS_TRANSITION_INVALID` or `WAREHOUSE_DELETED`."))
	httpapi.Command(r, "/warehouse/transfers/{id}/cancel", "cancelTransfer", "Cancel a transfer", s.Cancel,
		httpapi.Doc("Ends a draft, or puts what was sent back into its warehouse. "+
			"Fails with `TRANSFER_NOT_FOUND`, `TRANSFER_STATUS_TRANSITION_INVALID` or `WAREHOUSE_DELETED`."))
}
