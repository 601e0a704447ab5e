// Package till holds the counter: a page of its own on which people scan or tap what somebody buys, take the money, and hand over a receipt.
// It is one form, each step of which sends it, as in the form of an order; only the sale itself is stored.
package till

import (
	"embed"

	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on sales, component what the company must have.
const (
	scope     = "sales"
	component = "cashier"
)

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "till", Templates: files, Routes: web.Within(component,
		web.Get(web.Till, scope, "/sell", pages.show),
		web.Post(web.Till, scope, "/sell", pages.step),
		web.Post(web.Till, scope, "/sell/sent", pages.sent),
		web.Get(web.Till, scope, "/sell/goods", pages.known),
		web.Get(web.Till, scope, "/sell/last", pages.last),
		web.Get(web.Till, scope, "/sell/returns", pages.returns),
		web.Post(web.Till, scope, "/sell/returns", pages.giveBack),
	)}
}
