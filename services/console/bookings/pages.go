// Package bookings holds the calendar of bookings: a day or a week of the resources, free slots, and new bookings.
package bookings

import (
	"context"
	"embed"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on bookings, component what the company must have.
const (
	scope     = "scheduling"
	component = "scheduling"
)

// Service tells of changes, of which the API has events only.
type Service interface {
	ChangeToken(ctx context.Context, company tenant.ID) (string, error)
}

// Pages are the pages of the area.
type Pages struct{ Bookings Service }

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "bookings", Templates: files, Routes: web.Within(component,
		web.Get(web.Bookings, scope, "/bookings", pages.calendar),
		web.Get(web.Bookings, scope, "/bookings/free", pages.free),
		web.Post(web.Bookings, scope, "/bookings/book", pages.book),
		web.Post(web.Bookings, scope, "/bookings/{id}/status", pages.command),
		web.Post(web.Bookings, scope, "/bookings/{id}/move", pages.move),
		web.Live(web.Bookings, scope, "/live/bookings", pages.watch),
		web.Get(web.Bookings, scope, "/bookings/{id}/reschedule", pages.slots),
		web.Post(web.Bookings, scope, "/bookings/{id}/reschedule", pages.reschedule),
	)}
}
