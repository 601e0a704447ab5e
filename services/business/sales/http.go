package sales

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Register adds the operations on sales and shifts.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.List(r, "/sales", "listSales", "List sales and refunds", s.List,
		httpapi.Doc("Newest first, sales and refunds together; a refund has `kind` `refund` and positive amounts, and `include` adds lines and payments."))
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
	httpapi.Get(r, "/sales/{id}", "getSale", "Read a sale", s.Get,
		httpapi.Doc("The receipt with its lines and payments; `refundStatus`, `refundedTotal` and `refundedQty` tell what was refunded of a sale. "+
			"Fails with `SALE_NOT_FOUND`."))
	httpapi.Update(r, "/sales/{id}", "updateSale", "Update what identifies a sale in other systems", s.Update,
		httpapi.Doc("Only `source`, `externalId` and `metadata` can be set, because a sale records what happened; keys of `metadata` that are not sent stay. "+
			"Fails with `SALE_NOT_FOUND`, and with `SALE_EXTERNAL_ID_TAKEN` if another sale has the external id."))
	httpapi.ChangeTogether(r, "/sales/{id}/refund", "refundSale", "Refund a sale", s.httpRefund,
		httpapi.Doc("Makes the receipt of a refund of lines and quantities, or of all that is left without a body, returns the goods to their warehouse and settles points; all refunds together have the amounts of the sale exactly. "+
			"Fails with `SALE_NOT_FOUND`, `SALE_LINE_NOT_FOUND`, `REFUND_QTY_EXCEEDED`, `REFUND_PAYMENT_EXCEEDED`, `SALE_ALREADY_REFUNDED`, `SALE_IS_REFUND`, `CASHIER_INACTIVE`, `SHIFT_NOT_OPEN` if neither the shift of the sale nor one of the token is open, and `SHIFT_TOTAL_OUT_OF_RANGE`."))
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
		httpapi.Doc("Final: no sale or cash movement enters the shift afterwards; with `closingCash`, the counted cash, `cashDifference` tells what is missing or too much. "+
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
