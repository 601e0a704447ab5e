// Package stock holds the pages on stock: how much there is in each warehouse, what to reorder, and how the stock of a product moved.
package stock

import (
	"embed"
	"io/fs"

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

// Name implements [web.Pages].
func (*Pages) Name() string { return "stock" }

// Templates implements [web.Pages].
func (*Pages) Templates() fs.FS { return files }

// Routes implements [web.Pages].
func (pages *Pages) Routes() []web.Page {
	return web.Within(component,
		web.Get(web.Warehouse, scope, "/stock", pages.list),
		web.Get(web.Warehouse, scope, "/stock/{id}", pages.show),
		web.Post(web.Warehouse, scope, "/stock/{id}/adjust", pages.adjust),
	)
}
