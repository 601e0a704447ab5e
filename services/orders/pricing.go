package orders

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// price computes the amounts of the order and the payment status from its lines, discount and payments. Payments beyond
// what is payable are 409 ORDER_OVERPAID. See docs/reference/rules.md#discounts.
func (o *Order) price() error {
	amounts := make([]money.Amount, len(o.Lines))
	for i, l := range o.Lines {
		amounts[i] = l.Amount
	}
	var err error
	if o.Subtotal, err = money.Sum(amounts...); err != nil {
		return err
	}
	o.DiscountAmount = money.Discount(o.Subtotal, o.DiscountPercent)
	o.Total = o.Subtotal - o.DiscountAmount
	for i, share := range money.Spread(o.DiscountAmount, amounts) {
		o.Lines[i].DiscountAmount, o.Lines[i].Total = share, amounts[i]-share
	}
	payable, err := money.Sum(o.Total, o.DeliveryCost)
	if err != nil {
		return err
	}
	if o.PrepaidAmount > payable {
		return fault.StateConflict("ORDER_OVERPAID", "the payments of %s exceed the %s to pay; lower prepaidAmount first", o.PrepaidAmount, payable).
			With("payable", payable).With("prepaidAmount", o.PrepaidAmount)
	}
	if o.PrepaidAmount > 0 {
		o.WasPaid = true
	}
	o.PaymentStatus = paymentStatus(o.PrepaidAmount, payable, o.WasPaid)
	return nil
}

// checkLimit is the 409 of an order that with what its client uses already exceeds the client's credit limit; a limit of
// 0 is none. See docs/reference/rules.md#credit-limit.
func (h *Header) checkLimit(limit, used money.Amount) error {
	if limit == 0 || used+h.AmountDue <= limit {
		return nil
	}
	return fault.StateConflict("CREDIT_LIMIT_EXCEEDED", "the order needs %s of a credit limit of %s, of which %s is used; take a payment or raise the limit", h.AmountDue, limit, used).
		With("creditLimit", limit).With("used", used).With("required", h.AmountDue)
}

// dueAfter is the moment some days after now.
func dueAfter(now time.Time, days int32) *wire.Time {
	at := wire.At(now.AddDate(0, 0, int(days)))
	return &at
}
