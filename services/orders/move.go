package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// Move gives an order another status (docs/reference/states.md#order-status). Leaving new checks the credit of the client;
// completion takes the items out of the warehouse; both ends release what was reserved.
func (s *Service) Move(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, next string) (Order, error) {
	before, err := s.lock(ctx, tx, by, id)
	if err != nil {
		return Order{}, err
	}
	if err := before.checkTransition(next); err != nil {
		return Order{}, err
	}
	if before.Status == statusNew && next != statusCancelled {
		if err := s.checkCredit(ctx, tx, &before); err != nil {
			return Order{}, err
		}
	}
	held := before
	if next != statusCancelled && before.needsWarehouse() {
		if held, err = s.reserveLate(ctx, tx, by, before); err != nil {
			return Order{}, err
		}
	}
	o := held
	o.Lines = slices.Clone(held.Lines)
	o.Status = next
	o.Touch(tx.Now())
	if err := s.applyTransition(ctx, tx, by, &held, &o); err != nil {
		return Order{}, err
	}
	o.reserve()
	o.derive()
	return o, s.storeMove(ctx, tx, by, &before, &o)
}

// reserveLate reserves for an order that was stored while its company had no warehouse, and gives it the default one.
func (s *Service) reserveLate(ctx context.Context, tx *db.Tx, by access.Caller, o Order) (Order, error) {
	if err := s.assignWarehouse(ctx, tx, &o); err != nil {
		return Order{}, err
	}
	o.Lines = slices.Clone(o.Lines)
	o.reserve()
	s.cfg.Stock.Reserve(tx, by, o.reserved(1))
	return o, nil
}

// checkCredit holds the client's debt, the client's open orders and this one against the credit limit.
// The lock on the client keeps two orders from using the same rest of it.
func (s *Service) checkCredit(ctx context.Context, tx *db.Tx, o *Order) error {
	if o.CustomerID == nil {
		return nil
	}
	c, found, err := s.cfg.Clients.DocumentClient(ctx, tx, o.CompanyID, *o.CustomerID, true)
	if err != nil || !found || c.CreditLimit == 0 {
		return err
	}
	open, err := selectOpenDue(ctx, tx, o.CompanyID, *o.CustomerID)
	if err != nil {
		return err
	}
	return o.checkLimit(c.CreditLimit, open+max(0, -c.Balance))
}

// applyTransition does what the new status brings with it.
func (s *Service) applyTransition(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order) error {
	now := o.UpdatedAt
	switch o.Status {
	case statusCompleted:
		o.CompletedAt = &now
		s.addBalance(tx, o, -(o.Total + o.DeliveryCost))
		doc := trade.StockDocument{Movement: "order_completion", Type: "order", ID: o.ID, Number: o.Number}
		return s.cfg.Stock.Move(ctx, tx, by, doc, before.leaving())
	case statusCancelled:
		o.CancelledAt = &now
		s.cfg.Stock.Reserve(tx, by, before.reserved(money.Qty(-1)))
	}
	return nil
}

func (s *Service) storeMove(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order) error {
	raw, err := marshal(o)
	if err != nil {
		return err
	}
	a := announcement{before: before, order: o, raw: raw}
	if err := s.raise(ctx, tx, by, statusChanged, a); err != nil {
		return err
	}
	if o.Status == statusCancelled {
		a.offset = 1
		if err := s.raise(ctx, tx, by, cancelled, a); err != nil {
			return err
		}
		o.EvPos++ // the position of the last event belongs to the record
	}
	updateOrder(tx, before, o)
	insertHistory(tx, o, by, []change{{"status", `"` + before.Status + `"`, `"` + o.Status + `"`}})
	return nil
}
