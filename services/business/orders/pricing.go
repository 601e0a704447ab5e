package orders

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// price computes the amounts and the payment status of the order from its lines, discount and payments. Payments above
// the amount payable are 409 ORDER_OVERPAID. See docs/reference/rules.md#discounts.
func (o *Order) price() error {
	totals, err := lineitem.Sum(o.Lines, o.Discounts, o.Taxation)
	if err != nil {
		return err
	}
	if o.Totals, err = lineitem.Settle(o.Lines, totals, 0); err != nil {
		return err
	}
	payable, err := money.Sum(o.Total, o.DeliveryCost)
	if err != nil {
		return err
	}
	if o.PrepaidAmount > payable {
		return o.overpaid(payable)
	}
	if o.PrepaidAmount > 0 {
		o.WasPaid = true
	}
	o.Derive()
	o.PaymentStatus = paymentStatus(o.PrepaidAmount, o.Payable, o.WasPaid)
	return nil
}

func (h *Header) overpaid(payable money.Amount) error {
	return apierr.StateConflict("ORDER_OVERPAID", "payments of %s exceed the %s payable; reduce prepaidAmount first", h.PrepaidAmount, payable).
		With("payable", payable).With("prepaidAmount", h.PrepaidAmount)
}

// checkAfterReturns returns a 409 if a change of an order that has returns changes what they follow from, or raises the payments above what
// they have left payable. Payments that were above it when the goods came back stay until they are refunded.
func (o *Order) checkAfterReturns(before *Order) error {
	switch {
	case !before.hasReturns():
		return nil
	case o.DiscountPercent != before.DiscountPercent || o.FixedDiscount != before.FixedDiscount || o.DeliveryCost != before.DeliveryCost:
		return errReturned
	case o.PrepaidAmount > before.PrepaidAmount && o.PrepaidAmount > o.Payable:
		return o.overpaid(o.Payable)
	}
	return nil
}

// checkLimit returns a 409 if the order and the credit already used exceed the client's credit limit; 0 = no limit. See
// docs/reference/rules.md#credit-limit.
func (h *Header) checkLimit(limit, used money.Amount) error {
	if limit == 0 || used+h.AmountDue <= limit {
		return nil
	}
	return apierr.StateConflict("CREDIT_LIMIT_EXCEEDED", "the order requires %s of a credit limit of %s, of which %s is used; record a payment or raise the limit", h.AmountDue, limit, used).
		With("creditLimit", limit).With("used", used).With("required", h.AmountDue)
}

// dueAfter returns the time some days after now.
func dueAfter(now time.Time, days int32) *jsontype.Time {
	at := jsontype.At(now.AddDate(0, 0, int(days)))
	return &at
}
