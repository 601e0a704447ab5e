package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Charge returns what an order charges, and locks the order until the transaction ends.
//
// Errors: 404, 412.
func (s *Service) Charge(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (document.Charge, error) {
	o, err := table.Lock(ctx, tx, by, id)
	if err != nil {
		return document.Charge{}, err
	}
	return o.charge(), nil
}

func (o *Order) charge() document.Charge {
	c := document.Charge{
		OrderID: o.ID, Number: o.Number, Cancelled: o.Status == statusCancelled, ClientID: o.CustomerID, CustomerName: o.CustomerName, CustomerEmail: o.CustomerEmail,
		PayDueAt: o.PayDueAt, Taxation: o.Taxation, DeliveryCost: o.DeliveryCost - o.ReturnedDelivery, ReturnFees: o.ReturnedDelivery - o.ReturnedAmount,
		Payable: o.Payable,
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		c.ReturnFees += l.ReturnedAmount
		if left, some := l.left(); some {
			c.Lines = append(c.Lines, left)
		}
	}
	return c
}

// left is what returns have left of the line. Where one has credited less than its share, the rest stays in the amount; some is false
// if nothing is left.
func (l *Line) left() (left lineitem.Line, some bool) {
	left = l.Line
	if l.ReturnedQty == 0 {
		return left, true
	}
	left.Qty, left.Total, left.TaxAmount = l.Qty-l.ReturnedQty, l.Total-l.ReturnedAmount, l.TaxAmount-l.ReturnedTax
	left.DiscountPercent, left.FixedDiscount = 0, 0 // the share of them is in discountAmount
	part, net := l.Part(l.ReturnedQty, left.Qty), left.Total
	if l.Total > l.Amount-l.DiscountAmount { // the tax was added
		net -= left.TaxAmount
	}
	left.Amount = max(part.Amount, net)
	left.DiscountAmount = left.Amount - net
	return left, left.Qty > 0 || left.Total != money.Amount(0)
}
