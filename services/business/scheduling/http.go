package scheduling

import (
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// RegisterAdmin adds the operations on resources and exceptions.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerResources(r)
	s.registerExceptions(r)
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

func (s *Service) registerExceptions(r *httpapi.Routes) {
	httpapi.List(r, "/scheduling/exceptions", "listScheduleExceptions", "List days off and other exceptions from working hours", s.Exceptions,
		httpapi.Doc("Newest first; with `resourceId` those of the resource and those of all resources, with `dateFrom` and `dateTo` those that have a day in the range."))
	httpapi.Create(r, "/scheduling/exceptions", "createScheduleException", "Create an exception from working hours", s.CreateException,
		httpapi.Doc("Closes the days, or gives them other `hours`, for one resource or for all; bookings that exist stay, and `GET /scheduling/bookings/outside-hours` lists them. "+
			"Fails with `RESOURCE_NOT_FOUND`, `SCHEDULE_EXCEPTION_LIMIT_REACHED`, and with `VALIDATION_ERROR` for hours that overlap or more than 366 days."))
	httpapi.Get(r, "/scheduling/exceptions/{id}", "getScheduleException", "Read an exception from working hours", exceptions.GetFrom(s.cfg.DB),
		httpapi.Doc("Its days and the hours on them; empty `hours` mean that the resource is closed. "+
			"Fails with `SCHEDULE_EXCEPTION_NOT_FOUND`."))
	httpapi.Update(r, "/scheduling/exceptions/{id}", "updateScheduleException", "Update an exception from working hours", s.UpdateException,
		httpapi.Doc("Fields that are not sent stay; bookings that exist stay where they are. "+
			"Fails with `SCHEDULE_EXCEPTION_NOT_FOUND` or `RESOURCE_NOT_FOUND`."))
	httpapi.Delete(r, "/scheduling/exceptions/{id}", "deleteScheduleException", "Delete an exception from working hours", s.DeleteException,
		httpapi.Doc("The working hours of the resource hold on its days again. "+
			"Fails with `SCHEDULE_EXCEPTION_NOT_FOUND`."))
}

// Register adds the operations on resources and bookings.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerResources(r)
	s.registerExceptions(r)
	b := group.On(api, s.cfg.DB, db.ReadCommitted()) // behind the lock of the resource
	httpapi.ReadWith(b, "/scheduling/bookings/slots", "listSlots", "List the slots of a resource on one day", s.Slots,
		httpapi.Doc("The slots of one local day of the resource; `free` ones can be booked at that moment, and a day off has none. "+
			"Fails with `RESOURCE_NOT_FOUND` or `SERVICE_NOT_FOUND`."))
	httpapi.ReadWith(b, "/scheduling/availability", "searchAvailability", "List the slots of several resources over several days", s.Availability,
		httpapi.Doc("Free slots of up to 50 resources over up to 31 local days of each, in one call; without `resourceIds`, of all that provide `serviceId`. "+
			"Fails with `RESOURCE_NOT_FOUND`, `SERVICE_NOT_FOUND`, and `VALIDATION_ERROR` for a range with too many days, slots or resources."))
	httpapi.ReadWith(b, "/scheduling/bookings/outside-hours", "listBookingsOutsideHours", "List bookings outside of the hours of their resource", s.OutsideHours,
		httpapi.Doc("Pending and confirmed bookings that begin on the days and lie on a day off, or outside of the hours that hold now; each has to be moved, cancelled, or kept on purpose. "+
			"Fails with `RESOURCE_NOT_FOUND`, and with `VALIDATION_ERROR` for more than 366 days or 2 000 open bookings."))
	httpapi.List(b, "/scheduling/holds", "listHolds", "List holds", s.Holds,
		httpapi.Doc("Newest first, only those that have not expired; each keeps its place like a booking."))
	httpapi.Create(b, "/scheduling/holds", "createHold", "Create a hold of a place for some minutes", s.CreateHold,
		httpapi.Doc("Takes the place as a booking would, until `expiresAt`, while a customer pays or signs in; a booking with its id as `holdId` takes the place over. "+
			"Fails with `HOLD_LIMIT_REACHED`, and as a booking does, for example with `BOOKING_SLOT_TAKEN`, `BOOKING_OUTSIDE_WORKING_HOURS`, `BOOKING_IN_PAST` or `RESOURCE_SERVICE_MISMATCH`."))
	httpapi.Get(b, "/scheduling/holds/{id}", "getHold", "Read a hold", s.Hold,
		httpapi.Doc("`expiresAt` is when its place becomes free by itself. "+
			"Fails with `HOLD_NOT_FOUND`, also after it expired or was booked."))
	httpapi.Delete(b, "/scheduling/holds/{id}", "releaseHold", "Delete a hold", s.ReleaseHold,
		httpapi.Doc("Frees the place at once. "+
			"Fails with `HOLD_NOT_FOUND`, also after it expired or was booked."))
	httpapi.List(b, "/scheduling/bookings", "listBookings", "List bookings", s.Bookings,
		httpapi.Doc("Newest first; with `sort=startAt` and `dateFrom` it is an agenda."))
	httpapi.Create(b, "/scheduling/bookings", "createBooking", "Create a booking", s.Book,
		httpapi.Doc("Takes a place of the resource from `startAt` for `durationMinutes`; of concurrent requests for the last place exactly one succeeds; `holdId` takes the place that was held. "+
			"Fails with `HOLD_NOT_FOUND`, `BOOKING_SLOT_TAKEN`, `BOOKING_OUTSIDE_WORKING_HOURS`, `BOOKING_IN_PAST`, `RESOURCE_INACTIVE`, `RESOURCE_SERVICE_MISMATCH`, `CATALOG_ITEM_HIDDEN`, `CLIENT_ARCHIVED`, `VENUE_CAPACITY_EXCEEDED` or `BOOKING_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(b, "/scheduling/bookings", "upsertBooking", "Create or update a booking by its external id",
		httpapi.Upserts[NewBooking, BookingFields, Booking]{Find: findBooking, Create: s.Book, Update: s.UpdateBooking},
		httpapi.Doc("Creates the booking (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event; a change of its time reschedules it. "+
			"Fails as creation and change do, for example with `BOOKING_SLOT_TAKEN`, `BOOKING_OUTSIDE_WORKING_HOURS` or `BOOKING_FINALIZED`."))
	httpapi.Get(b, "/scheduling/bookings/{id}", "getBooking", "Read a booking", s.Booking,
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
