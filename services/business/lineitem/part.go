package lineitem

import "github.com/tradegrid/tradegrid/pkg/kit/money"

// Part is what belongs to some pieces of a line.
type Part struct {
	Amount, DiscountAmount, TaxAmount, Total money.Amount
}

// Part returns what belongs to a quantity of the line after another quantity was taken of it before, such as by refunds or returns. A
// quantity has a rounded share of the line, and a part is the difference between the shares after and before it: whatever a line is
// divided into, its parts have the amounts of the line exactly, and none is negative. Both quantities together are at most Qty.
func (l *Line) Part(taken, qty money.Qty) Part {
	before, after := l.share(taken), l.share(taken+qty)
	return Part{
		Amount: after.Amount - before.Amount, DiscountAmount: after.DiscountAmount - before.DiscountAmount, TaxAmount: after.TaxAmount - before.TaxAmount,
		Total: after.Total - before.Total,
	}
}

// share is what belongs to the first pieces of the line. The discount is a share of the amount rather than of the quantity, and the tax
// one of what is left, so that neither grows by more than that does.
func (l *Line) share(qty money.Qty) (p Part) {
	p.Amount = money.Share(l.Amount, int64(qty), int64(l.Qty))
	p.DiscountAmount = money.Share(l.DiscountAmount, int64(p.Amount), int64(l.Amount))
	p.Total = p.Amount - p.DiscountAmount
	left := l.Amount - l.DiscountAmount
	p.TaxAmount = money.Share(l.TaxAmount, int64(p.Total), int64(left))
	if l.Total > left { // the tax was added
		p.Total += p.TaxAmount
	}
	return p
}
