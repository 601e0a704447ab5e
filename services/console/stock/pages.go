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

// Room has the pages.
type Room struct{}

// Name implements [web.Room].
func (*Room) Name() string { return "stock" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	return web.Within(component,
		web.Get(web.Warehouse, scope, "/stock", r.list),
		web.Get(web.Warehouse, scope, "/stock/{id}", r.show),
		web.Post(web.Warehouse, scope, "/stock/{id}/adjust", r.adjust),
	)
}
