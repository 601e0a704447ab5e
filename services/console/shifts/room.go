// Package shifts holds the page of a shift: what its drawer must hold and why, its sales and refunds, and how it is opened and closed.
package shifts

import (
	"context"
	"embed"
	"io/fs"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on shifts, component what the company must have.
const (
	scope     = "sales"
	component = "cashier"
)

// Service knows shifts, their cash and their sales.
type Service interface {
	Shift(ctx context.Context, by access.Caller, id uuid.UUID) (sales.Shift, error)
	CashMovements(ctx context.Context, by access.Caller, shift uuid.UUID, f sales.CashFilter) (*list.Page[sales.CashMovement], error)
	List(ctx context.Context, by access.Caller, f sales.Filter) (*list.Page[sales.ListItem], error)
}

// Room has the pages.
type Room struct{ Sales Service }

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
