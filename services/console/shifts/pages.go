// Package shifts holds the page of a shift: what its drawer must hold and why, its sales and refunds, and how it is opened and closed.
package shifts

import (
	"embed"

	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on shifts, component what the company must have.
const (
	scope     = "sales"
	component = "cashier"
)

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "shifts", Templates: files, Routes: web.Within(component,
		web.Get(web.Sales, scope, "/shifts/open", pages.openForm),
		web.Post(web.Sales, scope, "/shifts/open", pages.open),
		web.Get(web.Sales, scope, "/shifts/{id}", pages.show),
		web.Post(web.Sales, scope, "/shifts/{id}/cash", pages.cash),
		web.Post(web.Sales, scope, "/shifts/{id}/close", pages.close),
	)}
}
