package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Move gives an order another status (specification, section 3). Leaving new checks the credit of the client;
// completion takes the goods out of the warehouse; both ends release what was reserved.
func (s *Service) Move(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, next string) (Order, error) {
	before, err := selectOrder(ctx, tx, by.Company, id, true)
	if err != nil {
		return Order{}, err
	}
	if err := by.Expect(before.Version); err != nil {
		return Order{}, err
	}
	if err := s.checkNext(ctx, tx, by.Company, &before, next); err != nil {
		return Order{}, err
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
	o.Touch(s.now())
	if err := s.follow(ctx, tx, by, &held, &o); err != nil {
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

// checkNext are the 409s of a move.
func (s *Service) checkNext(ctx context.Context, tx *db.Tx, company tenant.ID, o *Order, next string) error {
	if err := checkMove(o.Status, next); err != nil {
		return err
	}
	if next == statusCancelled {
		if slices.ContainsFunc(o.Lines, func(l Line) bool { return l.ShippedQty > 0 }) {
			return fault.StateConflict("ORDER_HAS_SHIPMENTS", "goods of the order were shipped; cancel the shipments first")
		}
		return nil
	}
	if o.Status == statusNew && o.CustomerID != nil {
		return s.checkCredit(ctx, tx, company, o)
	}
	return nil
}

// checkCredit holds the client's debt, the orders in work and this one against the credit limit.
// The lock on the client keeps two orders from using the same rest of it.
func (s *Service) checkCredit(ctx context.Context, tx *db.Tx, company tenant.ID, o *Order) error {
	c, found, err := s.cfg.Clients.OrderClient(ctx, tx, company, *o.CustomerID, true)
	if err != nil || !found || c.CreditLimit == 0 {
		return err
	}
	open, err := selectOpenDue(ctx, tx, company, *o.CustomerID)
	if err != nil {
		return err
	}
	used := open + max(0, -c.Balance)
	if used+o.AmountDue <= c.CreditLimit {
		return nil
	}
	return fault.StateConflict("CREDIT_LIMIT_EXCEEDED", "the order needs %s of a credit limit of %s, of which %s is used; take a payment or raise the limit", o.AmountDue, c.CreditLimit, used).
		With("creditLimit", c.CreditLimit).With("used", used).With("required", o.AmountDue)
}

// follow does what the new status brings with it.
func (s *Service) follow(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order) error {
	switch o.Status {
	case statusCompleted:
		o.CompletedAt = &o.UpdatedAt
		if err := s.addBalance(ctx, tx, o, -(o.Total + o.DeliveryCost)); err != nil {
			return err
		}
		return s.cfg.Stock.Complete(ctx, tx, by, o.ID, o.Number, before.leaving())
	case statusCancelled:
		o.CancelledAt = &o.UpdatedAt
		s.cfg.Stock.Reserve(tx, by, before.reserved(money.Qty(-1)))
	}
	return nil
}

func (s *Service) storeMove(ctx context.Context, tx *db.Tx, by access.Caller, before, o *Order) error {
	raw, err := marshal(o)
	if err != nil {
		return err
	}
	extra := moved{PreviousStatus: before.Status}
	if err := s.raise(ctx, tx, by, eventStatusChanged, 0, o, raw, extra); err != nil {
		return err
	}
	if o.Status == statusCancelled {
		if err := s.raise(ctx, tx, by, eventCancelled, 1, o, raw, extra); err != nil {
			return err
		}
		o.EvPos++ // the position of the last event belongs to the record
	}
	updateOrder(tx, o)
	if !slices.EqualFunc(before.Lines, o.Lines, sameLine) {
		replaceLines(tx, o)
	}
	insertHistory(tx, o, by, []change{{"status", `"` + before.Status + `"`, `"` + o.Status + `"`}})
	return nil
}
