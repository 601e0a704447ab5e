package orders

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
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

// transitions maps each status to the statuses that it can change to.
var transitions = map[string][]string{
	statusNew:        {statusConfirmed, statusInProgress, statusCancelled},
	statusConfirmed:  {statusInProgress, statusReady, statusCancelled},
	statusInProgress: {statusReady, statusCompleted, statusCancelled},
	statusReady:      {statusInProgress, statusCompleted, statusCancelled},
	statusCompleted:  {},
	statusCancelled:  {},
}

// checkTransition returns a 409 if the order's status or its shipments do not allow the transition.
func (o *Order) checkTransition(to string) error {
	allowed := transitions[o.Status]
	if !slices.Contains(allowed, to) {
		return apierr.StateConflict("ORDER_STATUS_TRANSITION_INVALID", "the status cannot change from %s to %s; use one of the statuses in meta.allowed", o.Status, to).
			With("from", o.Status).With("to", to).With("allowed", allowed)
	}
	if to == statusCancelled && o.shipped() > 0 {
		return errShipped
	}
	return nil
}

// finalFields are the fields of a completed or cancelled order that can be changed.
var finalFields = []string{"note", "assignedToId", "prepaidAmount"}

// takesItems reports whether the items of the order can be replaced.
func (h *Header) takesItems() bool { return h.Status == statusNew || h.Status == statusConfirmed }

// checkChange returns a 409 if the order's status does not allow a field to change.
func (h *Header) checkChange(in *record.Patch[Fields]) error {
	if h.isFinal() {
		locked := slices.DeleteFunc(in.Names(), func(name string) bool { return slices.Contains(finalFields, name) })
		if len(locked) > 0 {
			return apierr.StateConflict("ORDER_FINALIZED", "the order is %s: only note, assignedToId and prepaidAmount can be changed; omit the fields in meta.fields", h.Status).
				With("status", h.Status).With("fields", locked)
		}
	}
	if in.Sent(&in.Value.Items) && !h.takesItems() {
		return apierr.StateConflict("ORDER_ITEMS_LOCKED", "the order is %s: items can be replaced only while it is new or confirmed", h.Status).With("status", h.Status)
	}
	return nil
}

// errShipped is the 409 for a change that would drop shipped lines.
var errShipped = apierr.StateConflict("ORDER_HAS_SHIPMENTS", "part of the order has been shipped; cancel its shipments first")

// Payment statuses; see docs/reference/states.md#order-payment.
const (
	unpaid   = "unpaid"
	partial  = "partial"
	paid     = "paid"
	refunded = "refunded"
)

// paymentStatus derives the status from the payments: prepaid is their sum; wasPaid means that one was positive.
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
