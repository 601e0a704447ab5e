// Package stock holds the pages on stock: how much there is in each warehouse, what to reorder, and how the stock of a product moved.
package stock

import (
	"context"
	"embed"
	"io/fs"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on stock, component what the company must have.
const (
	scope     = "warehouse"
	component = "warehouse"
)

// Service knows warehouses, their stock and its movements.
type Service interface {
	List(ctx context.Context, by access.Caller, f warehouse.Filter) (*list.Page[warehouse.ListItem], error)
	Stocks(ctx context.Context, by access.Caller, f warehouse.StockFilter) (*list.Page[warehouse.StockItem], error)
	Movements(ctx context.Context, by access.Caller, f warehouse.MovementFilter) (*list.Page[warehouse.Movement], error)
}

// Room has the pages.
type Room struct{ Warehouse Service }

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
