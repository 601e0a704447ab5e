package calendar

import "github.com/tradegrid/tradegrid/pkg/events/event"

var (
	created = event.New[Event]("calendar.event.created", "An entry was added to the calendar: a booking was created, or a deal was scheduled.").By(`$booking`)
	updated = event.New[Event]("calendar.event.updated", "An entry of the calendar was changed, for example because its booking was rescheduled.").By(
		`PATCH /scheduling/bookings/$booking {"startAt":"$later"}`,
	)
	deleted = event.New[Event]("calendar.event.deleted", "An entry was removed from the calendar; data is its last state.").By(`POST /scheduling/bookings/$booking/cancel {"reason":"triggered"}`)
)
