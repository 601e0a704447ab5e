package counts

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on counts. READ COMMITTED is enough: every row that a change depends on is locked by the statement that
// reads it, or by the index of the goods in open counts.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/warehouse/counts", "listCounts", "List counts of stock", s.List,
		httpapi.Doc("Newest first, without their lines; `status=counting` lists those that are open."))
	httpapi.Rows(r, "/warehouse/counts", resource.WithLines(s.cfg.DB, lines, s.List, resource.Same))
	httpapi.Create(r, "/warehouse/counts", "createCount", "Create a count of stock", s.Create,
		httpapi.Doc("Begins a count of the goods in `items`, or of all that have a stock record in the warehouse; goods can be in one open count of a warehouse only. "+
			"Fails with `WAREHOUSE_NOT_FOUND`, `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_NOT_FOUND`, `PRODUCT_VARIANT_REQUIRED`, `STOCK_ACCOUNTING_DISABLED`, `STOCK_COUNT_OVERLAPS` or `STOCK_COUNT_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(r, "/warehouse/counts", "upsertCount", "Create a count of stock by its external id, or update what identifies it",
		httpapi.Upserts[Input, ChangeFields, Count]{Find: table.FindExternal, Create: s.Create, Update: s.Update},
		httpapi.Doc("Begins the count (201), or changes the note, external id and metadata of the one that exists (200); other fields in the body are named in `X-Ignored-Fields` then. "+
			"Fails as the creation does, for example with `STOCK_COUNT_OVERLAPS`."))
	httpapi.Get(r, "/warehouse/counts/{id}", "getCount", "Read a count of stock", s.Get,
		httpapi.Doc("The count with its lines: what is expected, what was counted, and the difference. "+
			"Fails with `STOCK_COUNT_NOT_FOUND`."))
	httpapi.Update(r, "/warehouse/counts/{id}", "updateCount", "Update a count of stock", s.Update,
		httpapi.Doc("Only `note`, `source`, `externalId` and `metadata` can be set; lines have operations of their own. "+
			"Fails with `STOCK_COUNT_NOT_FOUND` or `STOCK_COUNT_EXTERNAL_ID_TAKEN`."))
	httpapi.CommandWith(r, "/warehouse/counts/{id}/lines", "addCountLines", "Add goods to a count of stock", s.AddLines,
		httpapi.Doc("Puts goods on the list that somebody found; a count has at most 500 lines. "+
			"Fails with `STOCK_COUNT_NOT_FOUND`, `STOCK_COUNT_NOT_OPEN`, or as the creation does."))
	httpapi.CommandWith(r, "/warehouse/counts/{id}/record", "recordCount", "Record counted quantities", s.Record,
		httpapi.Doc("Sets what was counted of lines, and what is expected of them: what is on stock at this moment, so that sales before and after do not matter. A line can be counted again. "+
			"Fails with `STOCK_COUNT_NOT_FOUND`, `STOCK_COUNT_LINE_NOT_FOUND` or `STOCK_COUNT_NOT_OPEN`."))
	httpapi.Command(r, "/warehouse/counts/{id}/post", "postCount", "Post a count of stock", s.Post,
		httpapi.Doc("Moves the difference of each line that was counted; lines that were not stay as they are. "+
			"Fails with `STOCK_COUNT_NOT_FOUND`, `STOCK_COUNT_STATUS_TRANSITION_INVALID` or `WAREHOUSE_DELETED`."))
	httpapi.Command(r, "/warehouse/counts/{id}/cancel", "cancelCount", "Cancel a count of stock", s.Cancel,
		httpapi.Doc("Ends the count without moving anything. "+
			"Fails with `STOCK_COUNT_NOT_FOUND` or `STOCK_COUNT_STATUS_TRANSITION_INVALID`."))
}
