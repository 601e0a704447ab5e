package scheduling

import (
	"slices"
	"time"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Statuses of a booking; see docs/reference/states.md#booking.
const (
	statusPending   = "pending"
	statusConfirmed = "confirmed"
	statusCompleted = "completed"
	statusNoShow    = "no_show"
	statusCancelled = "cancelled"
)

// transitions maps each status to the statuses that it can change to.
var transitions = map[string][]string{
	statusPending:   {statusConfirmed, statusCompleted, statusNoShow, statusCancelled},
	statusConfirmed: {statusCompleted, statusNoShow, statusCancelled},
	statusCompleted: {statusNoShow},
	statusNoShow:    {statusCompleted},
	statusCancelled: {},
}

// moves holds the event of each status; [statusChanged] is raised as well.
var moves = map[string]event.Event[Booking]{
	statusConfirmed: confirmed,
	statusCompleted: completed,
	statusNoShow:    noShow,
	statusCancelled: cancelled,
}

// checkTransition returns a 409 if the booking's status does not allow the transition.
func (b *Booking) checkTransition(to string) error {
	allowed := transitions[b.Status]
	if slices.Contains(allowed, to) {
		return nil
	}
	return apierr.StateConflict("BOOKING_STATUS_TRANSITION_INVALID", "the status cannot change from %s to %s; use one of the statuses in meta.allowed", b.Status, to).
		With("from", b.Status).With("to", to).With("allowed", allowed)
}

// enter sets the status and the times that belong to it.
func (b *Booking) enter(to string, reason *string, at time.Time) {
	now := jsontype.At(at)
	b.Status, b.CompletedAt = to, nil
	if !b.isOpen() {
		b.ReminderAt = nil
	}
	switch to {
	case statusConfirmed:
		b.ConfirmedAt = &now
	case statusCompleted:
		b.CompletedAt = &now
	case statusCancelled:
		b.CancelledAt, b.CancelReason = &now, reason
	}
}

// isOpen reports whether the booking is still to take place, as far as its status says.
func (b *Booking) isOpen() bool { return b.Status == statusPending || b.Status == statusConfirmed }
