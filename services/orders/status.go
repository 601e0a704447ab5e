package orders

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
)

// Statuses of an order (specification, section 3).
const (
	statusNew        = "new"
	statusConfirmed  = "confirmed"
	statusInProgress = "in_progress"
	statusReady      = "ready"
	statusCompleted  = "completed"
	statusCancelled  = "cancelled"
)

// transitions are the moves that each status allows.
var transitions = map[string][]string{ //nolint:gochecknoglobals // a table
	statusNew:        {statusConfirmed, statusInProgress, statusCancelled},
	statusConfirmed:  {statusInProgress, statusReady, statusCancelled},
	statusInProgress: {statusReady, statusCompleted, statusCancelled},
	statusReady:      {statusInProgress, statusCompleted, statusCancelled},
	statusCompleted:  {},
	statusCancelled:  {},
}

// checkMove is the 409 of a move that the status does not allow.
func checkMove(from, to string) error {
	allowed := transitions[from]
	if slices.Contains(allowed, to) {
		return nil
	}
	return fault.StateConflict("ORDER_STATUS_TRANSITION_INVALID", "an order cannot move from %s to %s; meta.allowed lists where it can go", from, to).
		With("from", from).With("to", to).With("allowed", allowed)
}

// Statuses of payment.
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

// Statuses of delivery that a delivery method moves.
const (
	deliveryPending = "pending"
	deliveryPacking = "packing"
)

// setDelivery changes the method and what follows from it: the first one makes the delivery pending,
// and none is possible only until the goods have left.
func (h *Header) setDelivery(method *string) error {
	h.DeliveryMethod = method
	if method != nil {
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
