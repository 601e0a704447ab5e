package scheduling

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created     = event.New[Booking]("booking.created", "A booking was created.").By(`$booking`)
	rescheduled = event.New[Booking]("booking.rescheduled", "The time, resource or service of a booking changed.").By(`PATCH /scheduling/bookings/$booking {"startAt":"$later"}`)
	confirmed   = event.New[Booking]("booking.confirmed", "A booking was confirmed; booking.status_changed is sent as well.").By(`POST /scheduling/bookings/$booking/confirm`)
	completed   = event.New[Booking]("booking.completed", "A booking was completed; booking.status_changed is sent as well.").By(
		`POST /scheduling/bookings/$booking/confirm`,
		`POST /scheduling/bookings/$booking/complete`,
	)
	noShow = event.New[Booking]("booking.no_show", "The customer of a booking did not come; booking.status_changed is sent as well.").By(
		`POST /scheduling/bookings/$booking/confirm`,
		`POST /scheduling/bookings/$booking/no-show`,
	)
	reminder = event.With("booking.reminder", "A booking is about to begin, as long before as the company has set.", func(_, _ *Booking) remindedOf { return remindedOf{} }).
			NotByClients("the platform raises it before a booking begins, at the times that the company has set")
	cancelled     = event.New[Booking]("booking.cancelled", "A booking was cancelled; booking.status_changed is sent as well.").By(`POST /scheduling/bookings/$booking/cancel {"reason":"triggered"}`)
	statusChanged = event.With("booking.status_changed", "The status of a booking changed.", previousStatus).By(`POST /scheduling/bookings/$booking/confirm`)
)

var (
	exceptionCreated = event.New[Exception]("schedule.exception.created", "A day off, or other hours on some days, was entered for a resource or for all.").By(`$exception`)
	exceptionUpdated = event.New[Exception]("schedule.exception.updated", "A day off, or other hours on some days, was changed.").By(`PATCH /scheduling/exceptions/$exception {"name":"Stocktaking"}`)
	exceptionDeleted = event.New[Exception]("schedule.exception.deleted", "A day off, or other hours on some days, was deleted; data is its last state.").By(`DELETE /scheduling/exceptions/$exception`)
)

// moved holds the fields that booking.status_changed adds to the booking.
type moved struct {
	PreviousStatus string `json:"previousStatus"`
}

func previousStatus(before, _ *Booking) moved { return moved{before.Status} }
