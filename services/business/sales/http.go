package sales

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Register adds the operations on sales and shifts.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/sales", "listSales", "List sales and refunds", s.List,
		httpapi.Doc("Newest first, sales and refunds together; a refund has `kind` `refund` and positive amounts, and `include` adds lines and payments."))
	httpapi.Rows(r, "/sales", resource.WithLines(s.cfg.DB, saleLines, s.List, lineRow), lineitem.IncludeCosts)
	httpapi.ChangeTogether(r, "/sales", "createSale", "Create a sale", s.httpCreate, httpapi.Answers(http.StatusCreated),
		httpapi.Doc("Records what was sold and paid in an open shift: amounts are whole minor units, totals are calculated here, stock leaves at once and points are settled. "+
			"Fails with `VALIDATION_ERROR` if the payments do not add up to the total, and with `SHIFT_CLOSED`, `SHIFT_TOTAL_OUT_OF_RANGE`, `CLIENT_ARCHIVED`, `PRODUCT_VARIANT_REQUIRED`, `STOCK_INSUFFICIENT`, `LOYALTY_POINTS_INSUFFICIENT`, `LOYALTY_POINTS_EXCEED_TOTAL` or `CASHIER_INACTIVE`."))
	httpapi.Upsert(r, "/sales", "upsertSale", "Create a sale by its external id, or update what identifies it",
		httpapi.Upserts[Input, ChangeFields, Sale]{Find: table.FindExternal, Together: s.Create, Update: s.Update},
		httpapi.Doc("Creates the sale (201), or changes the external id and metadata of the one that exists (200); its other fields never change, and those in the body are named in `X-Ignored-Fields`. "+
			"Fails as the creation does, for example with `SHIFT_CLOSED` or `STOCK_INSUFFICIENT`, and with `VALIDATION_ERROR` if the body names another external id than the path."))
	httpapi.View(r, "POST /sales/preview", "previewSale", "Preview a sale", s.httpPreview,
		httpapi.Doc("Computes a sale from the body of one, with its lines, discounts, points, payments and change, and stores nothing. "+
			"Fails as the sale would, for example with `VALIDATION_ERROR`, `SHIFT_CLOSED`, `CLIENT_ARCHIVED`, `LOYALTY_POINTS_INSUFFICIENT` or `STOCK_INSUFFICIENT`."))
	httpapi.Sums(r, "/sales/sums", "sumSales", "Add up sales", s.AddUp,
		httpapi.Doc("Counts and adds up all sales that the filters of `listSales` select, in minor units, refunds as negative amounts; parameters of the page and the order change nothing. "+
			"Fails with `VALIDATION_ERROR` for a filter that does not fit, and with `QUERY_TOO_EXPENSIVE` if it takes longer than a second."))
	httpapi.GetWith(r, "/sales/{id}", "getSale", "Read a sale", s.Get,
		httpapi.Doc("The receipt with its lines and payments; `refundStatus`, `refundedTotal` and `refundedQty` tell what was refunded of a sale. "+
			"Fails with `SALE_NOT_FOUND`, and with `AUTH_API_SCOPE_INSUFFICIENT` for `include=costs` without the scope `catalog:read`."))
	httpapi.ChangePrepared(r, "/sales/{id}/mails", "mailSale", "Send the receipt of a sale by e-mail", s.prepareMail, s.mail, httpapi.Discreet,
		httpapi.Answers(http.StatusAccepted), httpapi.Records("/sales"),
		httpapi.Doc("Sends the receipt of the sale or refund as PDF to `email`, or else to the address of its client, in the language of the company. "+
			"Fails with `SALE_NOT_FOUND`, with `VALIDATION_ERROR` if there is no address, and with `MAIL_LIMIT_REACHED` after 500 documents of a company in 24 hours."))
	httpapi.Update(r, "/sales/{id}", "updateSale", "Update what identifies a sale in other systems", s.Update,
		httpapi.Doc("Only `source`, `externalId` and `metadata` can be set, because a sale records what happened; keys of `metadata` that are not sent stay. "+
			"Fails with `SALE_NOT_FOUND`, and with `SALE_EXTERNAL_ID_TAKEN` if another sale has the external id."))
	httpapi.ChangeTogether(r, "/sales/{id}/refund", "refundSale", "Refund a sale", s.httpRefund,
		httpapi.Doc("Makes the receipt of a refund of lines and quantities, or of all that is left without a body, returns the goods to their warehouse and settles points; all refunds together have the amounts of the sale exactly. "+
			"Fails with `SALE_NOT_FOUND`, `SALE_LINE_NOT_FOUND`, `REFUND_QTY_EXCEEDED`, `REFUND_PAYMENT_EXCEEDED`, `SALE_ALREADY_REFUNDED`, `SALE_IS_REFUND`, `CASHIER_INACTIVE`, `SHIFT_NOT_OPEN` if neither the shift of the sale nor one of the token is open, `WAREHOUSE_DELETED` if that warehouse is gone and no `warehouseId` names another one, and `SHIFT_TOTAL_OUT_OF_RANGE`."))
	httpapi.List(r, "/sale-drafts", "listSaleDrafts", "List drafts of sales", s.Drafts,
		httpapi.Doc("Newest first, the sales that were begun and put aside, without those that have expired."))
	httpapi.Create(r, "/sale-drafts", "createSaleDraft", "Create a draft of a sale", s.CreateDraft,
		httpapi.Doc("Keeps a cart for 7 days, so that any till of the company can take it up; nothing is reserved, and what it names is checked when it is sold. "+
			"Fails with `SALE_DRAFT_LIMIT_REACHED` above 200 drafts, `SALE_DRAFTS_TOO_LARGE` above 4 MiB of all, and `VALIDATION_ERROR` if the sale takes more than 64 KiB as JSON."))
	httpapi.Get(r, "/sale-drafts/{id}", "getSaleDraft", "Read a draft of a sale", s.Draft,
		httpapi.Doc("Its lines, discounts and customer as the body of a sale takes them. "+
			"Fails with `SALE_DRAFT_NOT_FOUND`, also once it has expired."))
	httpapi.Delete(r, "/sale-drafts/{id}", "deleteSaleDraft", "Delete a draft of a sale", s.DropDraft,
		httpapi.Doc("Whoever takes a draft up deletes it first: of two tills that do, one gets `SALE_DRAFT_NOT_FOUND`. "+
			"Fails with `SALE_DRAFT_NOT_FOUND`, also once it has expired."))
	httpapi.List(r, "/shifts", "listShifts", "List shifts", s.Shifts,
		httpapi.Doc("Newest first, with the totals of the sales and refunds in each shift, in minor units; `status` selects open or closed ones."))
	httpapi.Create(r, "/shifts/open", "openShift", "Open a shift", s.OpenShift, httpapi.Records("/shifts"),
		httpapi.Doc("A token has one open shift at a time; `branchId` decides from which warehouse its sales take their stock. "+
			"Fails with `SHIFT_ALREADY_OPEN`, whose `meta.shiftId` names the open shift, and with `BRANCH_NOT_FOUND`, `USER_NOT_FOUND` or `CASHIER_INACTIVE`."))
	// A fixed path comes before {id}, which would match it.
	httpapi.Read(r, "/shifts/current", "getCurrentShift", "Read the open shift of the caller", s.CurrentShift,
		httpapi.Doc("Finds the shift that this token has opened and not closed, so that a till can go on after a restart. "+
			"Fails with `SHIFT_NOT_FOUND` if the token has no open shift."))
	httpapi.Get(r, "/shifts/{id}", "getShift", "Read a shift", s.Shift,
		httpapi.Doc("Totals are in minor units; `expectedCash` is the opening cash plus the cash of the sales and `cashIn`, minus the cash of the refunds and `cashOut`. "+
			"Fails with `SHIFT_NOT_FOUND`."))
	httpapi.CommandWith(r, "/shifts/{id}/close", "closeShift", "Close a shift", s.CloseShift,
		httpapi.Doc("Final: only what happened before and is sent later, with its time, enters the shift afterwards; with `closingCash`, the counted cash, `cashDifference` tells what is missing or too much. "+
			"Fails with `SHIFT_NOT_FOUND`, and with `SHIFT_ALREADY_CLOSED` if it was closed before."))
	httpapi.ListIn(r, "/shifts/{id}/cash-movements", "listCashMovements", "List the cash movements of a shift", s.CashMovements,
		httpapi.Doc("Newest first, the cash that was put into the drawer of the shift or taken out of it, other than by sales and refunds. "+
			"Fails with `SHIFT_NOT_FOUND`, and with `VALIDATION_ERROR` for a filter, sort or cursor that does not fit."))
	httpapi.GetIn(r, "/shifts/{id}/cash-movements/{movementId}", "getCashMovement", "Read a cash movement of a shift", s.CashMovement,
		httpapi.Doc("A movement tells its reason, its cashier and the token that made it; it never changes. "+
			"Fails with `SHIFT_NOT_FOUND` or `CASH_MOVEMENT_NOT_FOUND`."))

	// A cash movement depends on nothing but the shift, which it locks.
	locked := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.CreateIn(locked, "/shifts/{id}/cash-movements", "createCashMovement", "Record cash that is put into a shift or taken out", s.MoveCash,
		httpapi.Doc("Changes the `expectedCash` of an open shift by cash that is put into its drawer or taken out, with a reason. "+
			"Fails with `SHIFT_NOT_FOUND`, `SHIFT_CLOSED`, `CASHIER_INACTIVE`, with `CASH_INSUFFICIENT` if more is taken out than the drawer holds, and with `CASH_MOVEMENT_EXTERNAL_ID_TAKEN`."))
}

type createRequest struct {
	httpapi.Call
	Body Input `body:"input"`
}

func (s *Service) httpCreate(ctx context.Context, in *createRequest, store func(*db.Tx, Sale, json.RawMessage) error, opts ...db.Option) error {
	_, err := s.Create(ctx, in.Caller, in.Body, store, opts...)
	return err
}

func (s *Service) httpPreview(ctx context.Context, in *createRequest) (Preview, error) {
	return s.Preview(ctx, in.Caller, in.Body)
}

type refundRequest struct {
	httpapi.ByID
	Body RefundInput `body:"command"`
}

func (s *Service) httpRefund(ctx context.Context, in *refundRequest, store func(*db.Tx, Sale, json.RawMessage) error, opts ...db.Option) error {
	_, err := s.Refund(ctx, in.Caller, in.ID, in.Body, store, opts...)
	return err
}
