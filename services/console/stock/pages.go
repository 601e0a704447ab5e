// Package stock holds the pages on stock: how much there is in each warehouse, what to reorder, how the stock of a product moved, and counting
// with a scanner.
package stock

import (
	"embed"

	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on stock, component what the company must have.
const (
	scope     = "warehouse"
	component = "warehouse"
)

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "stock", Templates: files, Routes: web.Within(component,
		web.Get(web.Warehouse, scope, "/stock", pages.list),
		web.Post(web.Warehouse, scope, "/stock/reorder", pages.order),
		web.Get(web.Warehouse, scope, "/counts/{id}/scan", pages.countForm),
		web.Post(web.Warehouse, scope, "/counts/{id}/scan", pages.scan),
		web.Get(web.Warehouse, scope, "/stock/{id}", pages.show),
		web.Post(web.Warehouse, scope, "/stock/{id}/adjust", pages.adjust),
	)}
}
