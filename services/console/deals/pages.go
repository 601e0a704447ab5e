// Package deals holds the board of deals: a column for each stage of a type, a card for each deal.
package deals

import (
	"context"
	"embed"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on deals, component what the company must have.
const (
	scope     = "deals"
	component = "deals"
)

// Service adds up what the API has no operation for.
type Service interface {
	StageSums(ctx context.Context, by access.Caller, stages []deals.StagePeriod) ([]deals.StageSum, error)
}

// Pages are the pages of the area.
type Pages struct{ Deals Service }

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "deals", Templates: files, Routes: web.Within(component, web.Get(web.Deals, scope, "/deals", pages.board), web.Get(web.Deals, scope, "/deals/{id}/menu", pages.menu), web.Post(web.Deals, scope, "/deals/{id}/move", pages.move))}
}
