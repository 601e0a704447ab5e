// Package bookings holds the calendar of bookings: a day or a week of the resources, free slots, and new bookings.
package bookings

import (
	"context"
	"embed"
	"io/fs"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/offerings"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on bookings, component what the company must have.
const (
	scope     = "scheduling"
	component = "scheduling"
)

// Service knows resources and bookings.
type Service interface {
	Resources(ctx context.Context, by access.Caller, f scheduling.ResourceFilter) (*list.Page[scheduling.Resource], error)
	Resource(ctx context.Context, by access.Caller, id uuid.UUID) (scheduling.Resource, error)
	Bookings(ctx context.Context, by access.Caller, f scheduling.BookingFilter) (*list.Page[scheduling.Booking], error)
	Booking(ctx context.Context, by access.Caller, id uuid.UUID) (scheduling.Booking, error)
	Availability(ctx context.Context, by access.Caller, in scheduling.Search) (scheduling.Availability, error)
}

// Offerings knows the services that can be booked.
type Offerings interface {
	List(ctx context.Context, by access.Caller, f offerings.Filter) (*list.Page[offerings.ListItem], error)
}

// Room has the pages.
type Room struct {
	Bookings  Service
	Offerings Offerings
}

// Name implements [web.Room].
func (*Room) Name() string { return "bookings" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	return web.Within(component,
		web.Get(web.Bookings, scope, "/bookings", r.calendar),
		web.Get(web.Bookings, scope, "/bookings/free", r.free),
		web.Get(web.Bookings, scope, "/bookings/book", r.form),
		web.Post(web.Bookings, scope, "/bookings/book", r.book),
		web.Post(web.Bookings, scope, "/bookings/{id}/status", r.command),
		web.Get(web.Bookings, scope, "/bookings/{id}/reschedule", r.slots),
		web.Post(web.Bookings, scope, "/bookings/{id}/reschedule", r.reschedule),
	)
}
