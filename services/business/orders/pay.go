package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Pay records a payment of an order, in any status of it. Payments above what is payable are 409 ORDER_OVERPAID. See
// docs/reference/rules.md#order-payments.
func (s *Service) Pay(ctx context.Context, tx *db.Tx, by access.Caller, order uuid.UUID, in PaymentInput) (Payment, error) {
	o, err := table.Lock(ctx, tx, by, order)
	if err != nil {
		return Payment{}, err
	}
	p := newPayment(&o, by, in.Amount, jsontype.At(tx.Now()))
	p.Method, p.PaymentDetails = in.Method, in.PaymentDetails
	if err := p.happened(tx, in.PaidAt); err != nil {
		return Payment{}, err
	}
	if err := o.checkDue(in.Amount); err != nil {
		return Payment{}, err
	}
	return s.enter(ctx, tx, by, &o, p)
}

// Refund records that money of a payment went back, up to what is left of it, in any status of the order. See
// docs/reference/rules.md#order-payments.
func (s *Service) Refund(ctx context.Context, tx *db.Tx, by access.Caller, order, id uuid.UUID, in RefundInput) (Payment, error) {
	o, err := table.Lock(ctx, tx, by.Unconditional(), order)
	if err != nil {
		return Payment{}, err
	}
	paid, err := payments.Lock(ctx, tx, by, id)
	if err == nil && paid.OrderID != order {
		err = apierr.NotFound("PAYMENT", id.String())
	}
	if err != nil {
		return Payment{}, err
	}
	amount, err := paid.refundable(&o, in.Amount)
	if err != nil {
		return Payment{}, err
	}
	r := newPayment(&o, by, -amount, jsontype.At(tx.Now()))
	r.RefundOfID, r.Reason, r.PaymentDetails, r.Method = &paid.ID, in.Reason, in.PaymentDetails, paid.Method
	switch {
	case in.Method != nil:
		r.Method = *in.Method
	case r.MethodExt == nil:
		r.MethodExt = paid.MethodExt
	}
	if err := r.happened(tx, in.PaidAt); err != nil {
		return Payment{}, err
	}
	before := payments.Snapshot(paid)
	paid.RefundedAmount += amount
	if err := payments.Store(ctx, tx, by, before, &paid); err != nil {
		return Payment{}, err
	}
	return s.enter(ctx, tx, by, &o, r)
}

// newPayment returns an entry of the ledger of an order that is not stored: a payment, or a refund if delta is negative. Its
// method is not specified.
func newPayment(o *Order, by access.Caller, delta money.Amount, at jsontype.Time) Payment {
	p := Payment{OrderID: o.ID, Method: methodUnspecified, PaidAt: at, CreatedByID: actor(by), Delta: delta}
	p.CompanyID = o.CompanyID
	return p
}

// latestPayment is how far ahead of the platform the clock of a client may be, with a day for time zones.
const latestPayment = 24 * time.Hour

// happened sets the time of the payment, if it is given.
func (p *Payment) happened(tx *db.Tx, at *jsontype.Time) error {
	if at == nil {
		return nil
	}
	if at.Std().After(tx.Now().Add(latestPayment)) {
		return apierr.InvalidField("paidAt", apierr.Max, "must not be more than 24 hours from now; record a payment when it has been made")
	}
	p.PaidAt = *at
	return nil
}

// checkDue returns a 409 if the amount exceeds what is due.
func (o *Order) checkDue(amount money.Amount) error {
	if amount <= o.AmountDue {
		return nil
	}
	return apierr.StateConflict("ORDER_OVERPAID", "a payment of %s exceeds the %s due; pay at most meta.amountDue", amount, o.AmountDue).
		With("payable", o.Total+o.DeliveryCost).With("prepaidAmount", o.PrepaidAmount).With("amountDue", o.AmountDue)
}

// refundable returns the amount of a refund of the payment; nil means all that is left. At most the whole prepaidAmount of the
// order is left, because a change of prepaidAmount may have returned it already.
func (p *Payment) refundable(o *Order, amount *money.Amount) (money.Amount, error) {
	if p.Kind == kindRefund {
		return 0, apierr.StateConflict("PAYMENT_IS_REFUND", "a refund cannot be refunded; record a payment of the order instead")
	}
	left := min(p.Amount-p.RefundedAmount, o.PrepaidAmount)
	switch {
	case left == 0:
		return 0, apierr.StateConflict("PAYMENT_ALREADY_REFUNDED", "nothing is left to refund: refunds of the payment, or of the order, have returned it").
			With("refundedAmount", p.RefundedAmount).With("prepaidAmount", o.PrepaidAmount)
	case amount == nil:
		return left, nil
	case *amount > left:
		return 0, apierr.StateConflict("PAYMENT_REFUND_EXCEEDED", "a refund of %s exceeds the %s that is left of the payment; refund at most meta.left", *amount, left).
			With("left", left).With("refundedAmount", p.RefundedAmount).With("prepaidAmount", o.PrepaidAmount)
	}
	return *amount, nil
}

// enter stores a new entry in the ledger of a locked order, and what follows from it.
func (s *Service) enter(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, p Payment) (Payment, error) {
	paymentPlan.Normalise(&p)
	if err := checkPaymentID(ctx, tx, &p); err != nil {
		return Payment{}, err
	}
	before := table.Snapshot(*o)
	o.PrepaidAmount += p.Delta
	if err := o.price(); err != nil {
		return Payment{}, err
	}
	s.addBalance(tx, o, p.Delta)
	if err := table.Store(ctx, tx, by, before, o, updated); err != nil {
		return Payment{}, err
	}
	return insertPayment(ctx, tx, by, o, p)
}

// checkPaymentID returns a 409 if another payment has the external id.
func checkPaymentID(ctx context.Context, q db.Querier, p *Payment) error {
	if p.ExternalID == nil {
		return nil
	}
	other, err := payments.FindExternal(ctx, q, p.CompanyID, record.OrZero(p.Source), *p.ExternalID)
	if err != nil || other == nil {
		return err
	}
	return errPaymentTaken.With("paymentId", *other)
}

var errPaymentTaken = apierr.StateConflict("PAYMENT_EXTERNAL_ID_TAKEN", "externalId: another payment from this source has this externalId; see meta.paymentId")

// insertPayment stores an entry of the ledger of an order, which is as it is after it, and raises its event.
func insertPayment(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, p Payment) (Payment, error) {
	e := paymentCreated
	if p.Delta < 0 {
		e = paymentRefunded
	}
	return payments.Create(ctx, tx, by, p, e.Carrying(withOrder{summaryOf(o)}))
}

// insertPrepaid stores the payment, or refund, by which a request has set prepaidAmount of an order.
func insertPrepaid(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, delta money.Amount, at jsontype.Time) error {
	if delta == 0 {
		return nil
	}
	_, err := insertPayment(ctx, tx, by, o, newPayment(o, by, delta, at))
	return err
}
