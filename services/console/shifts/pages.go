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

// Pages are the pages of the area.
type Pages struct{}

// Name implements [web.Pages].
func (*Pages) Name() string { return "shifts" }

// Templates implements [web.Pages].
func (*Pages) Templates() fs.FS { return files }

// Routes implements [web.Pages].
func (pages *Pages) Routes() []web.Page {
	return web.Within(component,
		web.Get(web.Sales, scope, "/shifts/open", pages.openForm),
		web.Post(web.Sales, scope, "/shifts/open", pages.open),
		web.Get(web.Sales, scope, "/shifts/{id}", pages.show),
		web.Post(web.Sales, scope, "/shifts/{id}/cash", pages.cash),
		web.Post(web.Sales, scope, "/shifts/{id}/close", pages.close),
	)
}
