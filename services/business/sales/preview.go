package sales

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Preview holds what a sale would be that is not stored.
type Preview struct {
	lineitem.Totals
	DiscountPercent money.Percent `json:"discountPercent"`
	RedeemedPoints  int64         `json:"redeemedPoints" doc:"loyalty points used as a discount, after discountAmount"`
	EarnedPoints    int64         `json:"earnedPoints" doc:"loyalty points that the customer would earn"`
	ReceivedAmount  *money.Amount `json:"receivedAmount"`
	ChangeAmount    *money.Amount `json:"changeAmount" doc:"receivedAmount minus what is paid in cash"`
	CustomerName    *string       `json:"customerName"`
	CustomerPhone   *string       `json:"customerPhone"`
	CashierID       uuid.UUID     `json:"cashierId" format:"uuid"`
	CashierName     *string       `json:"cashierName"`
	WarehouseID     *uuid.UUID    `json:"warehouseId" format:"uuid" doc:"where the stock would be taken from; null if none is"`
	Lines           []Line        `json:"lines" doc:"with ids that no sale will have"`
	Payments        []Payment     `json:"payments" doc:"with ids that no sale will have"`
}

// Preview computes a sale without storing it, with the checks of a sale. Only the sale itself finds out that its external id is
// taken or that the totals of the shift would become too large.
func (s *Service) Preview(ctx context.Context, by access.Caller, in Input) (Preview, error) {
	v, err := s.draft(ctx, by, in)
	if err != nil {
		return Preview{}, err
	}
	if err := s.cfg.Stock.CheckMove(ctx, s.cfg.DB, by, v.stock()); err != nil {
		return Preview{}, err
	}
	return Preview{
		Totals: v.Totals, DiscountPercent: v.DiscountPercent, RedeemedPoints: v.RedeemedPoints, EarnedPoints: v.EarnedPoints,
		ReceivedAmount: v.ReceivedAmount, ChangeAmount: v.ChangeAmount, CustomerName: v.CustomerName, CustomerPhone: v.CustomerPhone,
		CashierID: v.CashierID, CashierName: v.CashierName, WarehouseID: v.WarehouseID, Lines: v.Lines, Payments: v.Payments,
	}, nil
}
