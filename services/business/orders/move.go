package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Move changes the status of an order; see docs/reference/states.md#order-status. Leaving new checks the client's credit
// limit. Completing the order removes the items from stock. Completing and cancelling release reserved quantities.
func (s *Service) Move(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, next string, in MoveInput) (Order, error) {
	if in.Reason != nil && next != statusCancelled {
		return Order{}, apierr.InvalidField("reason", apierr.Conflict, "is kept only of a cancellation; omit it")
	}
	events := []event.Event[Order]{statusChanged}
	if next == statusCancelled {
		events = append(events, cancelled)
	}
	return table.Change(ctx, tx, by, id, func(before Order, o *Order) error {
		if err := before.checkTransition(next); err != nil {
			return err
		}
		if before.Status == statusNew && next != statusCancelled {
			if err := s.checkCredit(ctx, tx, o); err != nil {
				return err
			}
		}
		if next != statusCancelled {
			if err := s.reserveLate(ctx, tx, by, o); err != nil {
				return err
			}
		}
		if err := s.transition(ctx, tx, by, o, next); err != nil {
			return err
		}
		o.CancelReason = in.Reason
		o.reserve()
		plan.Normalise(o)
		return nil
	}, events...)
}

// MoveInput is the body of a move to another status.
type MoveInput struct {
	Reason *string `json:"reason" maxLength:"1000" doc:"why the order is cancelled; of a cancellation only"`
}

// SchemaName implements [jsontype.Named].
func (MoveInput) SchemaName() string { return "OrderMove" }

// reserveLate assigns the default warehouse to an order that was stored while its company had none, and reserves its items.
func (s *Service) reserveLate(ctx context.Context, tx *db.Tx, by access.Caller, o *Order) error {
	if !o.needsWarehouse() {
		return nil
	}
	if err := s.assignWarehouse(ctx, tx, o); err != nil {
		return err
	}
	o.reserve()
	s.cfg.Stock.Reserve(tx, by, o.reserved(1))
	return nil
}

// checkCredit checks that the client's debt, open orders and this order stay within the credit limit; see
// docs/reference/rules.md#credit-limit. The lock on the client prevents concurrent orders from using the same credit.
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

// transition applies the new status and its effects.
func (s *Service) transition(ctx context.Context, tx *db.Tx, by access.Caller, o *Order, next string) error {
	o.Status = next
	now := jsontype.At(tx.Now())
	switch next {
	case statusCompleted:
		o.CompletedAt = &now
		s.enter(tx, o, trade.LedgerEntry{Kind: trade.LedgerOrder, At: now, Charged: o.Payable})
		doc := trade.StockDocument{Movement: trade.MovementCompletion, Type: trade.DocumentOrder, ID: o.ID, Number: o.Number}
		return s.cfg.Stock.Move(ctx, tx, by, doc, o.leaving())
	case statusCancelled:
		o.CancelledAt = &now
		s.cfg.Stock.Reserve(tx, by, o.reserved(-1))
	}
	return nil
}
