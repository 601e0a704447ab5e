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

// allowed returns the statuses that the order can change to: what is out has to come back before it can be cancelled.
func (h *Header) allowed() []string {
	if !h.IsOut {
		return transitions[h.Status]
	}
	return slices.DeleteFunc(slices.Clone(transitions[h.Status]), func(to string) bool { return to == statusCancelled })
}

// checkTransition returns a 409 if the order's status or its shipments do not allow the transition.
func (h *Header) checkTransition(to string) error {
	allowed := h.allowed()
	switch {
	case slices.Contains(allowed, to):
		return nil
	case to == statusCancelled && slices.Contains(transitions[h.Status], to):
		return errIsOut
	}
	return apierr.StateConflict("ORDER_STATUS_TRANSITION_INVALID", "the status cannot change from %s to %s; use one of the statuses in meta.allowed", h.Status, to).
		With("from", h.Status).With("to", to).With("allowed", allowed)
}

// finalFields are the fields of a completed or cancelled order that can be changed.
var finalFields = []string{"note", "attachmentFileIds", "assignedToId", "prepaidAmount"}

// takesItems reports whether the items of the order can be replaced.
func (h *Header) takesItems() bool { return h.Status == statusNew || h.Status == statusConfirmed }

// checkChange returns a 409 if the order's status does not allow a field to change.
func (h *Header) checkChange(in *record.Patch[Fields]) error {
	if h.isFinal() {
		locked := slices.DeleteFunc(in.Names(), func(name string) bool { return slices.Contains(finalFields, name) })
		if len(locked) > 0 {
			return apierr.StateConflict("ORDER_FINALIZED", "the order is %s: only note, attachmentFileIds, assignedToId and prepaidAmount can be changed; omit the fields in meta.fields", h.Status).
				With("status", h.Status).With("fields", locked)
		}
	}
	if (in.Sent(&in.Value.Items) || in.Value.Reprice) && !h.takesItems() {
		return apierr.StateConflict("ORDER_ITEMS_LOCKED", "the order is %s: items can be replaced only while it is new or confirmed", h.Status).With("status", h.Status)
	}
	return nil
}

// errShipped is the 409 for a change that would drop shipped lines, errIsOut the one for a cancellation while goods are out.
var (
	errShipped = apierr.StateConflict("ORDER_HAS_SHIPMENTS", "part of the order has been shipped, so its items cannot be replaced; cancel its shipments first")
	errIsOut   = apierr.StateConflict("ORDER_HAS_SHIPMENTS", "part of the order has been shipped; cancel its shipments, or move its delivery to returned, first")
)

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
