package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Pay records a payment of an order, in any status of it. Payments above what is payable are 409 ORDER_OVERPAID. See
// docs/reference/rules.md#order-payments.
func (s *Service) Pay(ctx context.Context, tx *db.Tx, by access.Caller, order uuid.UUID, in PaymentInput) (Payment, error) {
	o, err := table.Lock(ctx, tx, by, order)
	if err != nil {
		return Payment{}, err
	}
	p := newPayment(tx, &o, by, in.Amount)
	p.Method, p.PaymentDetails = in.Method, in.PaymentDetails
	if err := p.check(ctx, tx, by, in.PaidAt); err != nil {
		return Payment{}, err
	}
	if err := o.checkDue(in.Amount); err != nil {
		return Payment{}, err
	}
	return s.record(ctx, tx, by, &o, p)
}

// findPayment finds a payment of an order by its external id. One of another order is 409.
func findPayment(ctx context.Context, q db.Querier, company tenant.ID, order uuid.UUID, source, externalID string) (*uuid.UUID, error) {
	id, err := payments.FindExternal(ctx, q, company, source, externalID)
	if err != nil || id == nil {
		return nil, err
	}
	p, err := payments.Get(ctx, q, company, *id)
	if err == nil && p.OrderID != order {
		err = payments.Taken(p.ID)
	}
	return id, err
}

// PaymentChange are the fields of a payment that a second report of it changes: none.
type PaymentChange struct{}

// told returns a payment that is reported again.
func (s *Service) told(ctx context.Context, tx *db.Tx, by access.Caller, _, id uuid.UUID, _ record.Patch[PaymentChange]) (Payment, error) {
	return payments.Lock(ctx, tx, by, id)
}

// Refund records that money of a payment went back, up to what is left of it, in any status of the order. See
// docs/reference/rules.md#order-payments.
func (s *Service) Refund(ctx context.Context, tx *db.Tx, by access.Caller, order, id uuid.UUID, in RefundInput) (Payment, error) {
	o, err := table.Lock(ctx, tx, by.Unconditional(), order)
	if err != nil {
		return Payment{}, err
	}
	return s.refund(ctx, tx, by, &o, id, nil, in)
}

// refund is Refund for an order that is locked. As a part of a return, it is by default what was overpaid after it, which may be nothing.
func (s *Service) refund(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, id uuid.UUID, ofReturn *uuid.UUID, in RefundInput) (Payment, error) {
	paid, err := payments.Lock(ctx, tx, by, id)
	if err == nil && paid.OrderID != o.ID {
		err = apierr.NotFound("PAYMENT", id.String())
	}
	if err != nil {
		return Payment{}, err
	}
	r := newPayment(tx, o, by, 0)
	r.ReturnID = ofReturn
	r.RefundOfID, r.Reason, r.PaymentDetails, r.Method = &paid.ID, in.Reason, in.PaymentDetails, paid.Method
	switch {
	case in.Method != nil:
		r.Method = *in.Method
	case r.MethodExt == nil:
		r.MethodExt = paid.MethodExt
	}
	if err := r.check(ctx, tx, by, in.PaidAt); err != nil {
		return Payment{}, err
	}
	amount, err := paid.refundable(o, in.Amount)
	if err != nil {
		return Payment{}, err
	}
	if ofReturn != nil && in.Amount == nil {
		if amount = min(amount, -o.AmountDue); amount <= 0 {
			return Payment{}, nil // what was paid is still due
		}
	}
	r.Delta = -amount
	before := payments.Snapshot(paid)
	paid.RefundedAmount += amount
	if err := payments.Store(ctx, tx, by, before, &paid); err != nil {
		return Payment{}, err
	}
	return s.record(ctx, tx, by, o, r)
}

// newPayment returns an entry of the ledger of an order that is not stored: a payment, or a refund if delta is negative. Its
// method is not specified.
func newPayment(tx *db.Tx, o *Order, by access.Caller, delta money.Amount) Payment {
	return Payment{
		Key: record.Key{ID: tx.NewID(), CompanyID: o.CompanyID}, OrderID: o.ID, Method: methodUnspecified, PaidAt: jsontype.At(tx.Now()), CreatedByID: actor(by), Delta: delta,
	}
}

// check completes an entry that a request tells, and checks what does not depend on amounts: its time, and that it was not told before.
func (p *Payment) check(ctx context.Context, tx *db.Tx, by access.Caller, at *jsontype.Time) error {
	paymentPlan.Normalise(p)
	var err error
	if p.PaidAt, err = happened(tx, by, "paidAt", at); err != nil {
		return err
	}
	return payments.NotTaken(nil, p)(ctx, tx)
}

// happened is when something happened that a request tells, perhaps later.
func happened(tx *db.Tx, by access.Caller, field string, at *jsontype.Time) (jsontype.Time, error) {
	at, err := trade.Happened(by, field, at, tx.Now())
	if at == nil {
		return jsontype.At(tx.Now()), err
	}
	return *at, err
}

// checkDue returns a 409 if the amount exceeds what is due.
func (o *Order) checkDue(amount money.Amount) error {
	if amount <= o.AmountDue {
		return nil
	}
	return apierr.StateConflict("ORDER_OVERPAID", "a payment of %s exceeds the %s due; pay at most meta.amountDue", amount, o.AmountDue).
		With("payable", o.Payable).With("prepaidAmount", o.PrepaidAmount).With("amountDue", o.AmountDue)
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

// record stores a new entry in the ledger of a locked order, and what follows from it.
func (s *Service) record(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, p Payment) (Payment, error) {
	before := table.Snapshot(*o)
	o.PrepaidAmount += p.Delta
	if err := o.price(); err != nil {
		return Payment{}, err
	}
	s.enterPayment(tx, o, p)
	if err := table.Store(ctx, tx, by, before, o, updated); err != nil {
		return Payment{}, err
	}
	return insertPayment(ctx, tx, by, o, p)
}

// insertPayment stores an entry of the ledger of an order, which is as it is after it, and raises its event.
func insertPayment(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, p Payment) (Payment, error) {
	e := paymentCreated
	if p.Delta < 0 {
		e = paymentRefunded
	}
	return payments.Create(ctx, tx, by, p, e.Carrying(withOrder{summaryOf(o)}))
}

// insertPrepaid stores the payment, or refund, by which a request has set prepaidAmount of an order; one of nothing is none.
func insertPrepaid(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, p Payment) error {
	if p.Delta == 0 {
		return nil
	}
	_, err := insertPayment(ctx, tx, by, o, p)
	return err
}
