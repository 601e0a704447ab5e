package orders

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// Statuses of an order; see docs/reference/states.md#order-status.
const (
	statusNew        = "new"
	statusConfirmed  = "confirmed"
	statusInProgress = "in_progress"
	statusReady      = "ready"
	statusCompleted  = "completed"
	statusCancelled  = "cancelled"
)

// transitions are the statuses that an order can move to from each status.
var transitions = map[string][]string{
	statusNew:        {statusConfirmed, statusInProgress, statusCancelled},
	statusConfirmed:  {statusInProgress, statusReady, statusCancelled},
	statusInProgress: {statusReady, statusCompleted, statusCancelled},
	statusReady:      {statusInProgress, statusCompleted, statusCancelled},
	statusCompleted:  {},
	statusCancelled:  {},
}

// checkTransition is the 409 of a move that the order's status or its shipments do not allow.
func (o *Order) checkTransition(to string) error {
	allowed := transitions[o.Status]
	if !slices.Contains(allowed, to) {
		return fault.StateConflict("ORDER_STATUS_TRANSITION_INVALID", "an order cannot move from %s to %s; meta.allowed lists where it can go", o.Status, to).
			With("from", o.Status).With("to", to).With("allowed", allowed)
	}
	if to == statusCancelled && slices.ContainsFunc(o.Lines, func(l Line) bool { return l.ShippedQty > 0 }) {
		return fault.StateConflict("ORDER_HAS_SHIPMENTS", "part of the order has been shipped; cancel its shipments first")
	}
	return nil
}

// finalFields are what a completed or cancelled order still takes.
var finalFields = []string{"note", "assignedToId", "prepaidAmount"}

// checkChange is the 409 of a field that the order's status does not let change.
func (h *Header) checkChange(in *record.Patch[Fields]) error {
	if h.isFinal() {
		locked := slices.DeleteFunc(in.Names(), func(name string) bool { return slices.Contains(finalFields, name) })
		if len(locked) > 0 {
			return fault.StateConflict("ORDER_FINALIZED", "the order is %s: only note, assignedToId and prepaidAmount can change", h.Status).
				With("status", h.Status).With("fields", locked)
		}
	}
	if in.Sent(&in.Value.Items) && h.Status != statusNew && h.Status != statusConfirmed {
		return fault.StateConflict("ORDER_ITEMS_LOCKED", "the order is %s: items can be replaced only while it is new or confirmed", h.Status).With("status", h.Status)
	}
	return nil
}

// Payment statuses; see docs/reference/states.md#order-payment.
const (
	unpaid   = "unpaid"
	partial  = "partial"
	paid     = "paid"
	refunded = "refunded"
)

// paymentStatus follows from the payments: prepaid is their sum, wasPaid tells that one was positive.
func paymentStatus(prepaid, payable money.Amount, wasPaid bool) string {
	switch {
	case prepaid == 0 && wasPaid:
		return refunded
	case payable == 0 || prepaid >= payable:
		return paid
	case prepaid == 0:
		return unpaid
	}
	return partial
}

// Delivery statuses that a delivery method sets or clears; see docs/reference/states.md#order-delivery.
const (
	deliveryPending = "pending"
	deliveryPacking = "packing"
)

// settleDelivery sets the delivery status after a change of the method: the first method makes the delivery pending, and
// the method can be cleared only before anything was shipped.
func (h *Header) settleDelivery() error {
	if h.DeliveryMethod != nil {
		if h.DeliveryStatus == nil {
			h.DeliveryStatus = new(deliveryPending)
		}
		return nil
	}
	if h.DeliveryStatus == nil {
		return nil
	}
	if s := *h.DeliveryStatus; s != deliveryPending && s != deliveryPacking {
		return fault.StateConflict("ORDER_DELIVERY_TRANSITION_INVALID", "the delivery is %s; deliveryMethod can be cleared only while it is pending or packing", s).
			With("from", s).With("to", nil).With("allowed", []string{})
	}
	h.DeliveryStatus = nil
	return nil
}
