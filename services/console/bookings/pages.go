// Package bookings holds the calendar of bookings: a day or a week of the resources, free slots, and new bookings.
package bookings

import (
	"embed"
	"io/fs"

	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on bookings, component what the company must have.
const (
	scope     = "scheduling"
	component = "scheduling"
)

// Room has the pages.
type Room struct{}

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
