package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const returnCounter = "order_return"

// Return posts a return of goods of an order: the order costs less, goods go back on stock, and payments are refunded if the request says
// so. See docs/reference/rules.md#order-returns.
func (s *Service) Return(ctx context.Context, tx *db.Tx, by access.Caller, order uuid.UUID, in ReturnInput) (Return, error) {
	o, err := table.Lock(ctx, tx, by, order)
	if err != nil {
		return Return{}, err
	}
	r := newReturn(tx, by, &o, &in)
	if r.ReturnedAt, err = happened(tx, by, "returnedAt", in.ReturnedAt); err != nil {
		return Return{}, err
	}
	if err := returns.NotTaken(nil, &r)(ctx, tx); err != nil {
		return Return{}, err
	}
	snapshot := table.Snapshot(o)
	if err := o.accept(&r, &in); err != nil {
		return Return{}, err
	}
	s.enterReturn(tx, &o, &r)
	if err := s.putReturned(ctx, tx, by, &r, in.WarehouseID, o.WarehouseID); err != nil {
		return Return{}, err
	}
	if err := table.Store(ctx, tx, by, snapshot, &o, updated); err != nil {
		return Return{}, err
	}
	if r.Refunded, err = s.refundAll(ctx, tx, by, &o, &r, in.Refunds); err != nil {
		return Return{}, err
	}
	return returns.Create(ctx, tx, by, r, returnCreated.Carrying(withOrder{summaryOf(&o)}))
}

func newReturn(tx *db.Tx, by access.Caller, o *Order, in *ReturnInput) Return {
	r := Return{ReturnHeader: ReturnHeader{
		Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, OrderID: o.ID, Status: returnPosted, Reason: in.Reason, Note: in.Note,
		DeliveryAmt: in.DeliveryAmt, Fee: in.Fee, External: in.External, CreatedByID: actor(by),
	}, Taken: []taken{}}
	returnPlan.Normalise(&r)
	return r
}

// accept applies the return to the order.
func (o *Order) accept(r *Return, in *ReturnInput) error {
	items, at, err := o.returning(in.Items)
	if err != nil {
		return err
	}
	return o.takeBack(r, items, at, in.Restock == nil || *in.Restock)
}

// putReturned numbers the return and puts what it restocks on stock: in the given warehouse, or else that of the order.
func (s *Service) putReturned(ctx context.Context, tx *db.Tx, by access.Caller, r *Return, given, ofOrder *uuid.UUID) (err error) {
	if r.restocks() || given != nil {
		found, err := s.shipsFrom(ctx, tx, by.Company, ofOrder, given)
		if err != nil {
			return err
		}
		if r.restocks() {
			r.WarehouseID = &found
		}
	}
	if r.Number, err = numbering.Take(ctx, tx, by.Company, returnCounter, 1); err != nil {
		return err
	}
	return s.cfg.Stock.Move(ctx, tx, by, r.document(), r.deltas(r.Taken, 1))
}

func (r *Return) document() trade.StockDocument {
	d := trade.StockDocument{Movement: trade.MovementReturn, Type: trade.DocumentReturn, ID: r.ID, Number: r.Number}
	if r.Status == returnCancelled {
		d.Movement = trade.MovementReturnCancel
	}
	return d
}

// refundAll records the refunds of a return, and returns their sum.
func (s *Service) refundAll(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, r *Return, all []ReturnRefund) (sum money.Amount, err error) {
	for _, in := range all {
		p, err := s.refund(ctx, tx, by.Unconditional(), o, in.PaymentID, &r.ID, RefundInput{
			Amount: in.Amount, Method: in.Method, Reason: r.Reason, PaymentDetails: PaymentDetails{Reference: in.Reference},
		})
		if err != nil {
			return 0, err
		}
		sum += p.Amount
	}
	return sum, nil
}

// CancelReturn cancels a posted return: the order costs what it did, and what the return has put on stock leaves it again. Refunds stay.
func (s *Service) CancelReturn(ctx context.Context, tx *db.Tx, by access.Caller, order, id uuid.UUID) (Return, error) {
	o, err := table.Lock(ctx, tx, by.Unconditional(), order)
	if err != nil {
		return Return{}, err
	}
	r, err := returns.Lock(ctx, tx, by, id)
	switch {
	case err != nil:
		return Return{}, err
	case r.OrderID != order:
		return Return{}, apierr.NotFound("RETURN", id.String())
	case r.Status == returnCancelled:
		return Return{}, errReturnUndone
	case o.Status == statusCancelled:
		return Return{}, errOrderCancelled
	}
	snapshot, before := table.Snapshot(o), returns.Snapshot(r)
	gone := o.takeAway(&r)
	if err := o.price(); err != nil {
		return Return{}, err
	}
	r.Status, r.CancelledAt = returnCancelled, new(jsontype.At(tx.Now()))
	s.enterReturn(tx, &o, &r)
	if err := s.cfg.Stock.Move(ctx, tx, by, r.document(), gone); err != nil {
		return Return{}, err
	}
	if err := table.Store(ctx, tx, by, snapshot, &o, updated); err != nil {
		return Return{}, err
	}
	return r, returns.Store(ctx, tx, by, before, &r, returnUndone.Carrying(withOrder{summaryOf(&o)}))
}
