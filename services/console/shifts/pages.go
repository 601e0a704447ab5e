// Package shifts holds the page of a shift: what its drawer must hold and why, its sales and refunds, and how it is opened and closed.
package shifts

import (
	"embed"
	"io/fs"

	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on shifts, component what the company must have.
const (
	scope     = "sales"
	component = "cashier"
)

// Room has the pages.
type Room struct{}

// Name implements [web.Room].
func (*Room) Name() string { return "shifts" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	return web.Within(component,
		web.Get(web.Sales, scope, "/shifts/open", r.openForm),
		web.Post(web.Sales, scope, "/shifts/open", r.open),
		web.Get(web.Sales, scope, "/shifts/{id}", r.show),
		web.Post(web.Sales, scope, "/shifts/{id}/cash", r.cash),
		web.Post(web.Sales, scope, "/shifts/{id}/close", r.close),
	)
}
