package scheduling

import (
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// RegisterAdmin adds the operations on resources.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	s.registerResources(group.On(api, s.cfg.DB))
}

func (s *Service) registerResources(r *httpapi.Routes) {
	httpapi.List(r, "/scheduling/resources", "listResources", "List resources", s.Resources)
	httpapi.Create(r, "/scheduling/resources", "createResource", "Create a resource", s.CreateResource)
	httpapi.Get(r, "/scheduling/resources/{id}", "getResource", "Read a resource", s.Resource)
	httpapi.Update(r, "/scheduling/resources/{id}", "updateResource", "Update a resource", s.UpdateResource)
}

// Register adds the operations on resources and bookings.
func (s *Service) Register(api *httpapi.API) {
	s.registerResources(group.On(api, s.cfg.DB))
	b := group.On(api, s.cfg.DB, db.ReadCommitted()) // behind the lock of the resource
	httpapi.ReadWith(b, "/scheduling/bookings/slots", "listSlots", "List the slots of a resource on one day", s.Slots)
	httpapi.ReadWith(b, "/scheduling/availability", "searchAvailability", "List the slots of several resources over several days", s.Availability)
	httpapi.List(b, "/scheduling/bookings", "listBookings", "List bookings", s.Bookings)
	httpapi.Create(b, "/scheduling/bookings", "createBooking", "Create a booking", s.CreateBooking)
	httpapi.Upsert(b, "/scheduling/bookings", "upsertBooking", "Create or update a booking by its external id",
		httpapi.Upserts[BookingFields, BookingFields, Booking]{Find: findBooking, Create: s.CreateBooking, Update: s.UpdateBooking})
	httpapi.Get(b, "/scheduling/bookings/{id}", "getBooking", "Read a booking", s.Booking)
	httpapi.Update(b, "/scheduling/bookings/{id}", "updateBooking", "Update a booking", s.UpdateBooking)
	httpapi.CommandWith(b, "PATCH /scheduling/bookings/{id}/status", "setBookingStatus", "Set the status of a booking", s.SetStatus)
	httpapi.Command(b, "/scheduling/bookings/{id}/confirm", "confirmBooking", "Confirm a booking", s.Confirm)
	httpapi.Command(b, "/scheduling/bookings/{id}/complete", "completeBooking", "Complete a booking", s.Complete)
	httpapi.Command(b, "/scheduling/bookings/{id}/no-show", "noShowBooking", "Mark a booking as a no-show", s.NoShow)
	httpapi.CommandWith(b, "/scheduling/bookings/{id}/cancel", "cancelBooking", "Cancel a booking", s.Cancel)
}
