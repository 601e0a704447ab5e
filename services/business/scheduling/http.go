package scheduling

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// RegisterAdmin adds the operations on resources.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	s.registerResources(group.On(api, s.cfg.DB))
}

func (s *Service) registerResources(r *httpapi.Routes) {
	httpapi.List(r, "/scheduling/resources", "listResources", "List resources", s.Resources,
		httpapi.Doc("Newest first; a resource is a person, a place or equipment that can be booked."))
	httpapi.Create(r, "/scheduling/resources", "createResource", "Create a resource", s.CreateResource,
		httpapi.Doc("`workingHours` are local times in `timeZone`; empty `serviceIds` mean that any service can be booked. "+
			"Fails with `SERVICE_NOT_FOUND`, and with `VALIDATION_ERROR` for working hours that overlap or an unknown time zone."))
	httpapi.Get(r, "/scheduling/resources/{id}", "getResource", "Read a resource", resources.GetFrom(s.cfg.DB),
		httpapi.Doc("Its working hours, services, capacity and step of slots in minutes. "+
			"Fails with `RESOURCE_NOT_FOUND`."))
	httpapi.Update(r, "/scheduling/resources/{id}", "updateResource", "Update a resource", s.UpdateResource,
		httpapi.Doc("Fields that are not sent stay; bookings that exist stay where they are, also outside new working hours. "+
			"Fails with `RESOURCE_NOT_FOUND`, `SERVICE_NOT_FOUND`, and `BOOKING_SLOT_TAKEN` if `parallelBookings` would fall below what is booked."))
}

// Register adds the operations on resources and bookings.
func (s *Service) Register(api *httpapi.API) {
	s.registerResources(group.On(api, s.cfg.DB))
	b := group.On(api, s.cfg.DB, db.ReadCommitted()) // behind the lock of the resource
	httpapi.ReadWith(b, "/scheduling/bookings/slots", "listSlots", "List the slots of a resource on one day", s.Slots,
		httpapi.Doc("The slots of one local day of the resource; `free` ones can be booked at that moment, and a day off has none. "+
			"Fails with `RESOURCE_NOT_FOUND` or `SERVICE_NOT_FOUND`."))
	httpapi.ReadWith(b, "/scheduling/availability", "searchAvailability", "List the slots of several resources over several days", s.Availability,
		httpapi.Doc("Free slots of up to 50 resources over up to 31 local days of each, in one call; without `resourceIds`, of all that provide `serviceId`. "+
			"Fails with `RESOURCE_NOT_FOUND`, `SERVICE_NOT_FOUND`, and `VALIDATION_ERROR` for a range with too many days, slots or resources."))
	httpapi.List(b, "/scheduling/bookings", "listBookings", "List bookings", s.Bookings,
		httpapi.Doc("Newest first; with `sort=startAt` and `dateFrom` it is an agenda."))
	httpapi.Create(b, "/scheduling/bookings", "createBooking", "Create a booking", s.CreateBooking,
		httpapi.Doc("Takes a place of the resource from `startAt` for `durationMinutes`; of concurrent requests for the last place exactly one succeeds. "+
			"Fails with `BOOKING_SLOT_TAKEN`, `BOOKING_OUTSIDE_WORKING_HOURS`, `BOOKING_IN_PAST`, `RESOURCE_INACTIVE`, `RESOURCE_SERVICE_MISMATCH`, `CATALOG_ITEM_HIDDEN`, `CLIENT_ARCHIVED`, `VENUE_CAPACITY_EXCEEDED` or `BOOKING_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(b, "/scheduling/bookings", "upsertBooking", "Create or update a booking by its external id",
		httpapi.Upserts[BookingFields, BookingFields, Booking]{Find: findBooking, Create: s.CreateBooking, Update: s.UpdateBooking},
		httpapi.Doc("Creates the booking (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event; a change of its time reschedules it. "+
			"Fails as creation and change do, for example with `BOOKING_SLOT_TAKEN`, `BOOKING_OUTSIDE_WORKING_HOURS` or `BOOKING_FINALIZED`."))
	httpapi.Get(b, "/scheduling/bookings/{id}", "getBooking", "Read a booking", bookings.GetFrom(s.cfg.DB),
		httpapi.Doc("`price` is in minor units and follows from the service; `endAt` is `startAt` plus the duration. "+
			"Fails with `BOOKING_NOT_FOUND`."))
	httpapi.Update(b, "/scheduling/bookings/{id}", "updateBooking", "Update a booking", s.UpdateBooking,
		httpapi.Doc("Fields that are not sent stay; another time, resource or service reschedules the booking and checks everything again. "+
			"Fails with `BOOKING_NOT_FOUND`, `BOOKING_FINALIZED`, `BOOKING_SLOT_TAKEN`, `BOOKING_OUTSIDE_WORKING_HOURS`, `BOOKING_IN_PAST`, `RESOURCE_INACTIVE`, `RESOURCE_SERVICE_MISMATCH`, `CATALOG_ITEM_HIDDEN`, `CLIENT_ARCHIVED`, `VENUE_CAPACITY_EXCEEDED` or `BOOKING_EXTERNAL_ID_TAKEN`."))
	httpapi.CommandWith(b, "PATCH /scheduling/bookings/{id}/status", "setBookingStatus", "Set the status of a booking", s.SetStatus,
		httpapi.Doc("The same as the four commands of a booking, for clients that hold a status. "+
			"Fails with `BOOKING_NOT_FOUND`, `BOOKING_STATUS_TRANSITION_INVALID` also for the current status, or `BOOKING_SLOT_TAKEN` if a no-show would take its place again."))
	httpapi.Command(b, "/scheduling/bookings/{id}/confirm", "confirmBooking", "Confirm a booking", s.Confirm,
		httpapi.Doc("Sets `confirmedAt`; a booking that is not confirmed takes its place just the same and does not expire. "+
			"Fails with `BOOKING_NOT_FOUND`, and with `BOOKING_STATUS_TRANSITION_INVALID` also for the current status; `meta.allowed` lists what is possible."))
	httpapi.Command(b, "/scheduling/bookings/{id}/complete", "completeBooking", "Complete a booking", s.Complete,
		httpapi.Doc("Sets `completedAt`; a no-show becomes completed as well if its place is still free. "+
			"Fails with `BOOKING_NOT_FOUND`, `BOOKING_STATUS_TRANSITION_INVALID` also for the current status, or `BOOKING_SLOT_TAKEN`."))
	httpapi.Command(b, "/scheduling/bookings/{id}/no-show", "noShowBooking", "Mark a booking as a no-show", s.NoShow,
		httpapi.Doc("Frees the place; a completed booking can become a no-show, and the other way round. "+
			"Fails with `BOOKING_NOT_FOUND`, and with `BOOKING_STATUS_TRANSITION_INVALID` also for the current status; `meta.allowed` lists what is possible."))
	httpapi.CommandWith(b, "/scheduling/bookings/{id}/cancel", "cancelBooking", "Cancel a booking", s.Cancel,
		httpapi.Doc("Frees the place for good and removes the entry of the calendar; the body with the reason may be left out. "+
			"Fails with `BOOKING_NOT_FOUND`, and with `BOOKING_STATUS_TRANSITION_INVALID` also for the current status; `meta.allowed` lists what is possible."))
}
