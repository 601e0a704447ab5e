package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Delivery statuses; see docs/reference/states.md#order-delivery.
const (
	deliveryPending   = "pending"
	deliveryPacking   = "packing"
	deliveryShipped   = "shipped"
	deliveryDelivered = "delivered"
	deliveryReturned  = "returned"
)

// deliveryTransitions maps each delivery status, "" for none, to the statuses that it can change to.
var deliveryTransitions = map[string][]string{
	"":                {deliveryPending},
	deliveryPending:   {deliveryPacking, deliveryShipped},
	deliveryPacking:   {deliveryPending, deliveryShipped},
	deliveryShipped:   {deliveryDelivered, deliveryReturned},
	deliveryDelivered: {deliveryReturned},
	deliveryReturned:  {},
}

func deliveryConflict(from *string, to any) error {
	allowed := deliveryTransitions[record.OrZero(from)]
	name := "not started"
	if from != nil {
		name = *from
	}
	return apierr.StateConflict("ORDER_DELIVERY_TRANSITION_INVALID", "the delivery is %s and cannot change this way; use one of the statuses in meta.allowed", name).
		With("from", from).With("to", to).With("allowed", allowed)
}

// settleDelivery updates the delivery status when the method is set or cleared: a method makes the delivery pending, and it
// can be cleared only before anything is shipped. before is the method until now.
func (h *Header) settleDelivery(before *string) error {
	s := h.DeliveryStatus
	switch {
	case h.DeliveryMethod != nil:
		if s == nil {
			h.DeliveryStatus = new(deliveryPending)
		}
	case s == nil:
	case *s == deliveryPending || *s == deliveryPacking:
		h.DeliveryStatus = nil
	case before != nil:
		return apierr.StateConflict("ORDER_DELIVERY_TRANSITION_INVALID", "the delivery is %s; deliveryMethod can be cleared only while it is pending or packing", *s).
			With("from", s).With("to", nil).With("allowed", deliveryTransitions[*s])
	}
	return nil
}

// MoveDelivery changes the delivery status of an order; see docs/reference/states.md#order-delivery. A returned delivery
// puts what was shipped back on stock.
func (s *Service) MoveDelivery(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, next string) (Order, error) {
	return table.Change(ctx, tx, by, id, func(before Order, o *Order) error {
		if before.Status == statusCancelled {
			return errOrderCancelled
		}
		if !slices.Contains(deliveryTransitions[record.OrZero(before.DeliveryStatus)], next) {
			return deliveryConflict(before.DeliveryStatus, next)
		}
		o.DeliveryStatus = &next
		if next != deliveryReturned {
			return nil
		}
		return s.putBack(ctx, tx, by, o)
	}, updated)
}

// comeBack returns what comes back of the posted shipments: what they took, less what returns have brought back of it.
func (o *Order) comeBack(posted []Shipment) (deltas []trade.StockDelta) {
	for i := range o.Lines {
		l := &o.Lines[i]
		l.Stock = slices.Clone(l.Stock)
		for j := range l.Stock {
			back := l.Stock[j].Back
			for _, sh := range posted {
				for _, t := range sh.Taken {
					if t.Line != l.ID || t.Item != j {
						continue
					}
					n := min(t.Qty, back)
					back -= n
					deltas = append(deltas, trade.StockDelta{Warehouse: sh.WarehouseID, StockKey: trade.StockKey{Product: t.Product, Variant: t.Variant}, Qty: t.Qty - n})
				}
			}
			l.Stock[j].Back = max(l.Stock[j].Back, l.Stock[j].Out)
		}
	}
	return deltas
}

// putBack puts what the posted shipments of the order took back on stock.
func (s *Service) putBack(ctx context.Context, tx *db.Tx, by access.Caller, o *Order) error {
	all, err := selectShipments(ctx, tx, o.CompanyID, o.ID)
	if err != nil {
		return err
	}
	posted := slices.DeleteFunc(all, func(sh Shipment) bool { return sh.Status != shipmentPosted })
	doc := trade.StockDocument{Movement: trade.MovementReturn, Type: trade.DocumentOrder, ID: o.ID, Number: o.Number}
	return s.cfg.Stock.Move(ctx, tx, by, doc, o.comeBack(posted))
}
