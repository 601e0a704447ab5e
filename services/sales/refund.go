package sales

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// errRefunded fails a transaction whose sale was refunded since it was read.
var errRefunded = errors.New("the sale was refunded")

// maxDrafts bounds how often a refund looks for an open shift again because the one that it found was closed.
const maxDrafts = 10

// Refund refunds a whole sale, once, and returns the receipt of the refund. It goes to the shift of the sale if that is open,
// else to the open shift of the caller's token. See docs/reference/rules.md#refunds.
//
// Errors: 404, 412, 409 SALE_IS_REFUND, SALE_ALREADY_REFUNDED, SHIFT_NOT_OPEN.
func (s *Service) Refund(ctx context.Context, by access.Caller, id uuid.UUID, storeAnswer StoreAnswer, opts ...db.Option) (Sale, error) {
	for range maxDrafts {
		v, err := s.draftRefund(ctx, by, id)
		if err != nil {
			return Sale{}, err
		}
		v, err = s.store(ctx, by, v, refunded, storeAnswer, opts)
		if !errors.Is(err, errClosed) && !errors.Is(err, errRefunded) {
			return v, err
		}
		// The next draft finds another shift, or what stands against the refund now.
	}
	return Sale{}, errNotOpen
}

// draftRefund returns the refund of a sale without its number.
func (s *Service) draftRefund(ctx context.Context, by access.Caller, id uuid.UUID) (Sale, error) {
	sold, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return Sale{}, err
	}
	if err := by.Expect(sold.Version); err != nil {
		return Sale{}, err
	}
	switch {
	case sold.Kind == kindRefund:
		return Sale{}, apierr.StateConflict("SALE_IS_REFUND", "receipt %d is a refund, which cannot be refunded; sell the items again", sold.Number)
	case sold.RefundedBySaleID != nil:
		return Sale{}, apierr.StateConflict("SALE_ALREADY_REFUNDED", "the sale was refunded before; see meta.refundSaleId").With("refundSaleId", *sold.RefundedBySaleID)
	}
	shift, err := selectRefundShift(ctx, s.cfg.DB, by, sold.ShiftID)
	if err != nil {
		return Sale{}, err
	}
	return sold.refund(by, shift, record.New(s.cfg.DB.Now())), nil
}

// refund returns the receipt that reverses the sale: it copies all amounts, so that nothing is rounded again.
func (s *Sale) refund(by access.Caller, shift uuid.UUID, meta record.Meta) Sale {
	v := *s
	v.ID, v.Meta, v.Number = record.NewID(), meta, 0
	v.Kind, v.ShiftID, v.CashierID, v.RefundOfSaleID = kindRefund, shift, by.Actor, &s.ID
	v.ReceivedAmount, v.ChangeAmount, v.External = nil, nil, record.External{}
	v.Lines, v.Payments = slices.Clone(s.Lines), slices.Clone(s.Payments)
	for i := range v.Lines {
		v.Lines[i].ID = record.NewID()
	}
	for i := range v.Payments {
		v.Payments[i].ID, v.Payments[i].CreatedAt = record.NewID(), meta.CreatedAt
	}
	return v
}

const sqlSelectRefundShift = `SELECT id FROM shifts WHERE company_id = $1 AND (id = $2 OR opened_by_id = $3) AND status = 'open' ORDER BY id = $2 DESC LIMIT 1`

// selectRefundShift returns the shift of the sale if it is open, else the open shift of the caller's token.
func selectRefundShift(ctx context.Context, q db.Querier, by access.Caller, ofSale uuid.UUID) (shift uuid.UUID, err error) {
	err = q.QueryRow(ctx, sqlSelectRefundShift, by.Company, ofSale, by.Actor).Scan(&shift)
	if db.IsNoRows(err) {
		return shift, errNotOpen
	}
	if err != nil {
		return shift, fmt.Errorf("select shift of refund: %w", err)
	}
	return shift, nil
}

var errNotOpen = apierr.StateConflict("SHIFT_NOT_OPEN", "the shift of the sale is closed, and this token has no open shift; open one")

const sqlMarkRefunded = `UPDATE sales SET refunded_by_sale_id = $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND id = $2 AND refunded_by_sale_id IS NULL`

// markRefunded queues that the sale was refunded. If it was refunded before, the transaction fails with errRefunded.
func markRefunded(tx *db.Tx, v *Sale) {
	tx.Queue(sqlMarkRefunded, v.CompanyID, *v.RefundOfSaleID, v.ID, v.EvPos, v.UpdatedAt).Expect(1, errRefunded)
}
