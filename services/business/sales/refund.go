package sales

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// RefundInput is the body of a refund.
type RefundInput struct {
	Items     []RefundItem   `json:"items" minItems:"1" maxItems:"500" doc:"what is refunded; without it, all that is left of the sale"`
	Payments  []PaymentInput `json:"payments" maxItems:"50" doc:"how the money goes back; without it, in proportion to what is left of the payments of the sale"`
	Reason    *string        `json:"reason" maxLength:"500"`
	CashierID *uuid.UUID     `json:"cashierId" format:"uuid" doc:"active user who refunded; default: the user of the token"`
	SoldAt    *jsontype.Time `json:"soldAt" doc:"when it happened, if that is told later, also in a shift that was closed since; default: now"`
	Warehouse *uuid.UUID     `json:"warehouseId" format:"uuid" doc:"where the goods go; default: the warehouse that they came from"`
	record.External
}

// RefundItem is a quantity of a line of the sale.
type RefundItem struct {
	LineID uuid.UUID `json:"saleLineId" required:"true" format:"uuid"`
	Qty    money.Qty `json:"qty" required:"true" exclusiveMinimum:"0" maximum:"1000000"`
}

// check checks the rules of a body that depend on no record, and reports all faults at once.
func (in *RefundInput) check() error {
	var faults apierr.Fields
	seen := make(map[uuid.UUID]bool, len(in.Items))
	for i, item := range in.Items {
		if seen[item.LineID] {
			faults.Add(lineitem.At(i, "saleLineId"), apierr.Conflict, "is a duplicate; name a line once, with the whole quantity")
		}
		seen[item.LineID] = true
	}
	for i, p := range in.Payments {
		p.check(i, &faults)
	}
	return faults.Err()
}

// errRefunded fails a transaction whose sale was refunded since it was read.
var errRefunded = errors.New("the sale was refunded")

// maxDrafts bounds how often a refund begins again because its shift was closed, or another process refunded the sale.
const maxDrafts = 10

// Refund refunds a sale, or a part of it, and returns the receipt of the refund. It goes to the shift of the sale if that is open,
// else to the open shift of the caller's token. See docs/reference/rules.md#refunds.
//
// Errors: 404 SALE_NOT_FOUND, SALE_LINE_NOT_FOUND, USER_NOT_FOUND, WAREHOUSE_NOT_FOUND; 412; 409 SALE_IS_REFUND, SALE_ALREADY_REFUNDED,
// REFUND_QTY_EXCEEDED, REFUND_PAYMENT_EXCEEDED, SHIFT_NOT_OPEN, CASHIER_INACTIVE, WAREHOUSE_DELETED.
func (s *Service) Refund(ctx context.Context, by access.Caller, id uuid.UUID, in RefundInput, storeAnswer StoreAnswer, opts ...db.Option) (Sale, error) {
	if err := in.check(); err != nil {
		return Sale{}, err
	}
	// Refunds of one sale depend on each other: of two that share a transaction, one would fail.
	unlock, err := s.cfg.DB.LockInProcess(ctx, "refund", by.Company, id)
	if err != nil {
		return Sale{}, err
	}
	defer unlock()
	at, err := trade.Happened(by, "soldAt", in.SoldAt, s.cfg.DB.Now())
	if err != nil {
		return Sale{}, err
	}
	for range maxDrafts {
		var v, sold Sale
		if v, sold, err = s.draftRefund(ctx, by, id, in, at); err != nil {
			return Sale{}, err
		}
		v, err = s.store(ctx, by, v, &sold, at, refunded, storeAnswer, opts)
		if !errors.Is(err, errClosed) && !errors.Is(err, errRefunded) {
			return v, err
		}
		// The next draft finds another shift, or what stands against the refund now.
	}
	if errors.Is(err, errRefunded) {
		return Sale{}, apierr.Unavailable(apierr.Serialization, 1, "other requests kept refunding the sale; retry")
	}
	return Sale{}, errNotOpen
}

// draftRefund returns the refund of a sale without its number, and the sale with what it adds to the sale.
func (s *Service) draftRefund(ctx context.Context, by access.Caller, id uuid.UUID, in RefundInput, at *jsontype.Time) (v, sold Sale, err error) {
	if sold, err = table.Get(ctx, s.cfg.DB, by.Company, id); err != nil {
		return v, sold, err
	}
	parts, err := sold.parts(in.Items)
	if err != nil {
		return v, sold, err
	}
	if err := by.Expect(sold.Version); err != nil {
		return v, sold, err
	}
	v = Sale{Header: Header{Key: record.Key{CompanyID: by.Company}, Fields: Fields{External: in.External}}}
	plan.Normalise(&v)
	if err := table.NotTaken(nil, &v)(ctx, s.cfg.DB); err != nil {
		return v, sold, err
	}
	if err := sold.checkParts(parts); err != nil {
		return v, sold, err
	}
	if at != nil && at.Std().Before(sold.SoldAt.Std()) {
		return v, sold, apierr.InvalidField("soldAt", apierr.Min, "must not be before %s, the time of the sale", sold.SoldAt)
	}
	var who cashier
	var shift uuid.UUID
	var late bool
	reads := append(s.readCashier(by, in.CashierID, &who), func(ctx context.Context, q db.Querier) (err error) {
		shift, late, err = selectRefundShift(ctx, q, by, sold.ShiftID, at)
		return err
	})
	if in.Warehouse != nil {
		reads = append(reads, func(ctx context.Context, q db.Querier) error {
			_, ok, err := s.cfg.Stock.FindWarehouse(ctx, q, by.Company, in.Warehouse)
			return reference.Missing(err, ok, "WAREHOUSE", "warehouseId", *in.Warehouse)
		})
	}
	if err := batchloader.Load(ctx, s.cfg.DB, reads...); err != nil {
		return v, sold, err
	}
	v = sold.refund(parts, record.New(s.cfg.DB.Now()))
	v.ShiftID, v.Late, v.CashierID, v.CashierName, v.CreatedByID = shift, late, who.id, who.name(), by.Actor
	v.Reason, v.External = in.Reason, in.External
	if v.WarehouseID != nil && in.Warehouse != nil {
		v.WarehouseID = in.Warehouse
	}
	plan.Normalise(&v)
	return v, sold, v.payBack(&sold, in.Payments)
}

const (
	sqlSelectRefundShift = `SELECT id, false FROM shifts WHERE company_id = $1 AND (id = $2 OR opened_by_id = $3) AND status = 'open' ORDER BY id = $2 DESC LIMIT 1`

	// A shift that went on until then was changed since, which an index knows.
	sqlSelectRefundShiftAt = `SELECT id, status = 'closed' FROM shifts WHERE company_id = $1 AND (id = $2 OR opened_by_id = $3) AND opened_at <= $4 AND
(status = 'open' OR closed_at >= $4 AND updated_at >= $4) ORDER BY id = $2 DESC, opened_at DESC LIMIT 1`
)

// selectRefundShift returns the shift of the sale if it is open, else the open shift of the caller's token; for a refund of a past time, which
// of them was open then, and whether it was closed since.
func selectRefundShift(ctx context.Context, q db.Querier, by access.Caller, ofSale uuid.UUID, at *jsontype.Time) (shift uuid.UUID, late bool, err error) {
	sql, args := sqlSelectRefundShift, []any{by.Company, ofSale, by.Actor}
	if at != nil {
		sql, args = sqlSelectRefundShiftAt, append(args, at.Std())
	}
	err = q.QueryRow(ctx, sql, args...).Scan(&shift, &late)
	if db.IsNoRows(err) {
		return shift, false, errNotOpen
	}
	if err != nil {
		return shift, false, fmt.Errorf("select shift of refund: %w", err)
	}
	return shift, late, nil
}

var errNotOpen = apierr.StateConflict("SHIFT_NOT_OPEN", "the shift of the sale is closed, and this token has no open shift; open one")

// A refund is computed from the sale as it was read, which no other refund may have changed since.
var (
	sqlMarkRefunded = sales.Update(`SET refunded_by_sale_id = $3, partly_refunded = $4, refunded_total = $5,
version = version + 1, ev_pos = GREATEST(ev_pos + 1, $6), updated_at = $7
WHERE company_id = $1 AND id = $2 AND refunded_by_sale_id IS NOT DISTINCT FROM $8::UUID`)

	sqlMarkLines = saleLinesTable.Update(`SET refunded_qty = u.qty FROM unnest($3::UUID[], $4::DECIMAL[]) AS u(id, qty)
WHERE sale_lines.company_id = $1 AND sale_lines.sale_id = $2 AND sale_lines.id = u.id`)

	sqlMarkPayments = salePaymentsTable.Update(`SET refunded_amount = u.amount FROM unnest($3::UUID[], $4::BIGINT[]) AS u(id, amount)
WHERE sale_payments.company_id = $1 AND sale_payments.sale_id = $2 AND sale_payments.id = u.id`)
)

// markRefunded queues what a refund adds to its sale, whose LastRefundID is the refund before it. If the sale was refunded since it was
// read, the transaction fails with errRefunded.
func markRefunded(tx *db.Tx, v, sold *Sale) {
	tx.Queue(sqlMarkRefunded, v.CompanyID, sold.ID, v.ID, sold.PartlyRefunded, sold.RefundedTotal, v.EvPos, v.UpdatedAt, sold.LastRefundID).
		Expect(1, errRefunded)
	if sold.LastRefundID == nil && !sold.PartlyRefunded {
		return // all at once, which the sale itself tells
	}
	lines, qty := make([]uuid.UUID, len(sold.Lines)), make([]money.Qty, len(sold.Lines))
	for i := range sold.Lines {
		lines[i], qty[i] = sold.Lines[i].ID, sold.Lines[i].RefundedQty
	}
	tx.Queue(sqlMarkLines, v.CompanyID, sold.ID, lines, qty).Expect(int64(len(lines)), errRefunded)
	if len(sold.Payments) == 0 {
		return
	}
	payments, amounts := make([]uuid.UUID, len(sold.Payments)), make([]money.Amount, len(sold.Payments))
	for i, p := range sold.Payments {
		payments[i], amounts[i] = p.ID, p.Refunded
	}
	tx.Queue(sqlMarkPayments, v.CompanyID, sold.ID, payments, amounts).Expect(int64(len(payments)), errRefunded)
}

// errLine is the 404 of a line that the sale does not have.
func errLine(i int, id uuid.UUID) error {
	return apierr.New(http.StatusNotFound, "SALE_LINE_NOT_FOUND", lineitem.At(i, "saleLineId")+": the sale has no such line; read its lines").
		With("field", lineitem.At(i, "saleLineId")).With("id", id)
}
