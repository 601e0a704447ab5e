package sales

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// part is a quantity of a line of a sale that is to be refunded.
type part struct {
	line *Line
	qty  money.Qty
}

// parts returns what a refund of the items consists of; without items, all that is left. An unknown line is 404
// SALE_LINE_NOT_FOUND.
func (s *Sale) parts(items []RefundItem) ([]part, error) {
	byID := make(map[uuid.UUID]*Line, len(s.Lines))
	var rest []part
	for i := range s.Lines {
		l := &s.Lines[i]
		byID[l.ID] = l
		if left := l.Qty - l.RefundedQty; left > 0 {
			rest = append(rest, part{l, left})
		}
	}
	if len(items) == 0 {
		return rest, nil
	}
	parts := make([]part, len(items))
	for i, item := range items {
		l, ok := byID[item.LineID]
		if !ok {
			return nil, errLine(i, item.LineID)
		}
		parts[i] = part{l, item.Qty}
	}
	// As on the receipt of the sale.
	slices.SortFunc(parts, func(a, b part) int { return int(a.line.SortOrder - b.line.SortOrder) })
	return parts, nil
}

// leftOf is what is left of a line, in the meta of REFUND_QTY_EXCEEDED.
type leftOf struct {
	LineID   uuid.UUID `json:"saleLineId"`
	Name     string    `json:"name"`
	Qty      money.Qty `json:"qty"`
	Refunded money.Qty `json:"refundedQty"`
	Left     money.Qty `json:"left"`
}

// checkParts returns a 409 if the document is a refund, was refunded in full, or has less left than is to be refunded.
func (s *Sale) checkParts(parts []part) error {
	switch {
	case s.Kind == kindRefund:
		return apierr.StateConflict("SALE_IS_REFUND", "receipt %d is a refund, which cannot be refunded; sell the items again", s.Number)
	case s.RefundedBySaleID != nil:
		return apierr.StateConflict("SALE_ALREADY_REFUNDED", "the sale was refunded before; see meta.refundSaleId").With("refundSaleId", *s.RefundedBySaleID)
	}
	var short []leftOf
	for _, p := range parts {
		if left := p.line.Qty - p.line.RefundedQty; p.qty > left {
			short = append(short, leftOf{p.line.ID, p.line.Name, p.line.Qty, p.line.RefundedQty, left})
		}
	}
	if short != nil {
		return apierr.StateConflict("REFUND_QTY_EXCEEDED", "items: less is left of the lines in meta.lines than is to be refunded; refund at most left").With("lines", short)
	}
	return nil
}

// refund returns the receipt that reverses parts of the sale, without its payments, and adds the parts to what was refunded of
// the sale. Whatever was refunded so far is a rounded share of the amounts of the sale, so a refund has the difference between
// the shares after it and before it: all refunds together have the amounts of the sale exactly.
func (s *Sale) refund(parts []part, meta record.Meta) Sale {
	v := *s
	v.ID, v.Meta, v.Number, v.Kind = record.NewID(), meta, 0, kindRefund
	v.RefundOfSaleID, v.ReceivedAmount, v.ChangeAmount = &s.ID, nil, nil
	v.LastRefundID, v.PartlyRefunded, v.RefundedTotal = nil, false, 0
	before := s.refunded()
	v.Lines = make([]Line, len(parts))
	for i, p := range parts {
		v.Lines[i] = p.line.take(p.qty)
		v.Lines[i].SortOrder = int32(i)
	}
	if !v.takesStock() {
		v.WarehouseID = nil
	}
	after := s.refunded()
	v.Subtotal, v.DiscountAmount, v.Total = after.subtotal-before.subtotal, after.discount-before.discount, after.total-before.total
	v.Totals = lineitem.WithTaxes(v.Totals, v.Lines)
	v.RedeemedPoints, v.EarnedPoints = after.redeemed-before.redeemed, after.earned-before.earned
	s.RefundedTotal = after.total
	s.PartlyRefunded = slices.ContainsFunc(s.Lines, func(l Line) bool { return l.RefundedQty < l.Qty })
	return v
}

// refundedAmounts are the shares of a sale's amounts that were refunded.
type refundedAmounts struct {
	subtotal, discount, total money.Amount
	redeemed, earned          int64
}

// refunded returns the shares that belong to the refunded quantities of the lines.
func (s *Sale) refunded() (r refundedAmounts) {
	var shares money.Amount // of the discount and the points
	for i := range s.Lines {
		p := s.Lines[i].Part(0, s.Lines[i].RefundedQty)
		r.subtotal, shares, r.total = r.subtotal+p.Amount, shares+p.DiscountAmount, r.total+p.Total
	}
	r.redeemed = int64(money.Share(money.Amount(s.RedeemedPoints), int64(shares), int64(s.DiscountAmount)+s.RedeemedPoints))
	r.discount = shares - money.Amount(r.redeemed)
	r.earned = int64(money.Share(money.Amount(s.EarnedPoints), int64(r.total), int64(s.Total)))
	return r
}

// take returns the line of a refund of a quantity of this line, and adds the quantity to what was refunded of it.
func (l *Line) take(qty money.Qty) Line {
	v, before, after := *l, l.RefundedQty, l.RefundedQty+qty
	l.RefundedQty = after
	v.ID, v.RefundOfLineID, v.Qty, v.RefundedQty = record.NewID(), &l.ID, qty, 0
	p := l.Part(before, qty)
	v.Amount, v.DiscountAmount, v.TaxAmount, v.Total = p.Amount, p.DiscountAmount, p.TaxAmount, p.Total
	v.Cost = l.costBetween(before, after)
	v.Stock = nil
	for _, item := range l.Stock {
		all := money.Amount(item.Qty)
		item.Qty = money.Qty(money.Share(all, int64(after), int64(l.Qty)) - money.Share(all, int64(before), int64(l.Qty)))
		if item.Qty > 0 {
			v.Stock = append(v.Stock, item)
		}
	}
	return v
}

// payBack sets the payments of a refund, and adds them to what was paid back of the sale's.
func (s *Sale) payBack(sold *Sale, in []PaymentInput) error {
	whole := sold.LastRefundID == nil && !sold.PartlyRefunded
	if len(in) == 0 {
		s.payInProportion(sold)
	} else if err := s.payAs(sold, in); err != nil {
		return err
	}
	if s.PaymentMethod == methodMixed && len(s.Payments) == 1 && !whole {
		s.PaymentMethod, s.PaymentMethodExt = s.Payments[0].Method, s.Payments[0].MethodExt
	}
	return nil
}

// payInProportion pays a refund back in proportion to what is left of the payments of the sale.
func (s *Sale) payInProportion(sold *Sale) {
	left := make([]money.Amount, len(sold.Payments))
	for i := range sold.Payments {
		left[i] = sold.Payments[i].left()
	}
	s.Payments = []Payment{}
	for i, amount := range money.Spread(s.Total, left) {
		if p := &sold.Payments[i]; amount > 0 {
			p.Refunded += amount
			s.Payments = append(s.Payments, payment(p.Method, p.MethodExt, amount, s.CreatedAt))
		}
	}
}

// left is what was not paid back.
func (p *Payment) left() money.Amount { return p.Amount - p.Refunded }

// payAs pays a refund back as the request says, by each method at most what is left of the sale's payments by it.
func (s *Sale) payAs(sold *Sale, in []PaymentInput) error {
	sum, by := money.Amount(0), map[string]money.Amount{}
	for _, p := range in {
		sum, by[p.method()] = sum+p.Amount, by[p.method()]+p.Amount // at most 50 times 2^53, which does not overflow
	}
	if sum != s.Total {
		return apierr.InvalidField("payments", apierr.Conflict, "must add up to %s, the total of the refund", s.Total)
	}
	left := map[string]money.Amount{methodCash: 0, methodCard: 0, methodSBP: 0}
	for i := range sold.Payments {
		left[sold.Payments[i].Method] += sold.Payments[i].left()
	}
	for _, method := range [...]string{methodCash, methodCard, methodSBP} {
		if by[method] > left[method] {
			return apierr.StateConflict("REFUND_PAYMENT_EXCEEDED", "payments: %s by %s is more than is left of what was paid by it; meta.left has what is left of each method",
				by[method], method).With("left", left)
		}
	}
	s.Payments = make([]Payment, len(in))
	for i, p := range in {
		s.Payments[i] = payment(p.method(), sold.payFrom(p), p.Amount, s.CreatedAt)
	}
	return nil
}

// payFrom adds a payment of a refund to what was paid back of the sale's payments by its method, in their order. It returns the
// client's name of the method: the one that was sent, or else that of the first of them.
func (s *Sale) payFrom(in PaymentInput) *string {
	amount, ext := in.Amount, in.PaymentMethodExt
	for i := range s.Payments {
		p := &s.Payments[i]
		n := min(amount, p.left())
		if p.Method != in.method() || n == 0 {
			continue
		}
		if amount == in.Amount && ext == nil {
			ext = p.MethodExt
		}
		p.Refunded, amount = p.Refunded+n, amount-n
	}
	return ext
}
