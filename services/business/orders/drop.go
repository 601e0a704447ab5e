package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// DropInput is the body of a command that cancels what is not shipped of an order.
type DropInput struct {
	Items []ShipmentItem `json:"items" minItems:"1" maxItems:"500" doc:"default: everything that is not shipped, except services"`
}

// SchemaName implements [jsontype.Named].
func (DropInput) SchemaName() string { return "OrderDropInput" }

// Drop takes quantities that are not shipped out of an unfinished order, and with them lines of which nothing is left. See
// docs/reference/rules.md#order-lines.
func (s *Service) Drop(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in DropInput) (Order, error) {
	return table.Change(ctx, tx, by, id, func(before Order, o *Order) error {
		parts, err := before.dropping(in.Items)
		if err != nil {
			return err
		}
		if err := o.drop(parts); err != nil {
			return err
		}
		if len(o.Lines) == 0 {
			return errEmpty
		}
		if err := o.settle(); err != nil {
			return err
		}
		s.cfg.Stock.Reserve(tx, by, append(before.reserved(-1), o.reserved(1)...))
		return nil
	}, updated)
}

var errEmpty = apierr.StateConflict("ORDER_WOULD_BE_EMPTY", "nothing of the order would be left; cancel it instead")

// dropping returns what is to be dropped of the order.
func (o *Order) dropping(items []ShipmentItem) ([]part, error) {
	at, err := o.linesOf(len(items), func(i int) uuid.UUID { return items[i].OrderLineID })
	switch {
	case err != nil:
		return nil, err
	case o.Status == statusCancelled:
		return nil, errOrderCancelled
	case o.hasReturns():
		return nil, errReturned
	case len(items) == 0 || o.Status == statusCompleted:
		return o.left()
	}
	parts := make([]part, len(items))
	for i := range items {
		parts[i] = part{at[i], items[i].Qty}
	}
	return parts, o.checkParts(parts, func(l *Line) money.Qty { return l.Qty - l.ShippedQty })
}

// drop takes the parts out of the lines. What a line takes from stock becomes less in proportion, but not less than what is out.
func (o *Order) drop(parts []part) error {
	for _, p := range parts {
		l := &o.Lines[p.line]
		rest := l.Qty - p.qty
		l.Stock = slices.Clone(l.Stock)
		for i := range l.Stock {
			l.Stock[i].Qty = max(l.Stock[i].Out, share(l.Stock[i].Qty, rest, l.Qty))
		}
		l.Qty = rest
		if err := l.Charge(rest); err != nil {
			return err
		}
	}
	o.Lines = slices.DeleteFunc(slices.Clone(o.Lines), func(l Line) bool { return l.Qty == 0 })
	return nil
}
