// Package records holds the pages on the records of a company: lists with filters and saved views, the page of a record, its
// commands, and exports. All of them follow from the package resources.
//
// A list makes 1 call of the API, the page of a record 2, and each one more for every directory that it names entries of.
package records

import (
	"context"
	"embed"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

//go:embed *.html
var files embed.FS

// Views keeps the views that people save.
type Views interface {
	Views(ctx context.Context, o accounts.Owner, list string) ([]accounts.View, error)
	OwnViews(ctx context.Context, o accounts.Owner) ([]accounts.View, error)
	SaveView(ctx context.Context, tx *db.Tx, o accounts.Owner, in accounts.ViewInput) (accounts.View, error)
	ChangeView(ctx context.Context, tx *db.Tx, o accounts.Owner, id uuid.UUID, name string, shared bool) (before, after accounts.View, err error)
	DeleteView(ctx context.Context, tx *db.Tx, o accounts.Owner, id uuid.UUID) (accounts.View, error)
}

// Events reads the event log backwards, which the API reads forward.
type Events interface {
	Tail(ctx context.Context, by access.Caller, q webhooks.TailQuery) (found []webhooks.Logged, next uuid.UUID, err error)
}

// Results hands out the results of jobs: calls of operations return no files.
type Results interface {
	Result(ctx context.Context, by access.Caller, id uuid.UUID) (httpapi.File, error)
}

// Pages are the pages of the area.
type Pages struct {
	Views   Views
	Events  Events
	Results Results
	Changes Changes

	resources []resources.Resource
}

// New returns the pages.
func New(views Views, events Events, results Results, changes Changes) *Pages {
	return &Pages{Views: views, Events: events, Results: results, Changes: changes, resources: resources.All()}
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	var routes []web.Page
	for _, res := range pages.resources {
		add := func(p web.Page) {
			p.Component = res.Component
			routes = append(routes, p)
		}
		add(web.Get(res.Area, res.Scope, res.Address, pages.list(res)))
		add(web.Get(res.Area, res.Scope, res.Address+"/filter", pages.filter(res)))
		if !res.Whole {
			add(web.Get(res.Area, res.Scope, res.Address+"/counts", pages.counts(res)))
		}
		if res.Totals != "" {
			add(web.Get(res.Area, res.Scope, res.Address+"/sums", pages.sums(res)))
		}
		if len(res.Bulk) > 0 {
			add(web.Post(res.Area, res.Scope, res.Address+"/bulk", pages.bulk(res)))
		}
		if res.Export {
			add(web.Post(res.Area, "exports", res.Address+"/export", pages.export(res)))
		}
		if res.Report != "" {
			add(web.Get(res.Area, res.Scope, res.Address+"/report", pages.report(res)))
			add(web.Get(res.Area, res.Scope, res.Address+"/report/file", pages.reportFile(res)))
		}
		if res.Create != "" {
			add(web.Get(res.Area, res.Scope, res.Address+"/new", pages.newForm(res)))
			add(web.Post(res.Area, res.Scope, res.Address+"/new", pages.create(res)))
		}
		if res.Page == "" || res.Elsewhere {
			continue
		}
		add(web.Get(res.Area, res.Scope, res.Page+"/{id}", pages.show(res)))
		if res.Name == clients {
			add(web.Get(res.Area, res.Scope, res.Page+"/{id}/view/card", pages.card(res)))
		}
		if hasMenu(res) {
			add(web.Get(res.Area, res.Scope, res.Page+"/{id}/do/menu", pages.menu(res)))
		}
		for _, c := range res.Commands {
			if c.Page != "" {
				continue
			}
			if at := res.Page + "/{id}/do/" + c.Name; c.Form {
				add(web.Get(res.Area, res.Scope, at, pages.form(res, c)))
				add(web.Post(res.Area, res.Scope, at, pages.do(res, c)))
			} else {
				add(web.Post(res.Area, res.Scope, at, pages.do(res, c)))
			}
		}
	}
	return web.Folder{Name: "records", Templates: files, Routes: append(routes,
		web.Get(web.Home, "exports", "/exports/{id}", pages.progress),
		web.Get(web.Home, "", "/jobs/{id}", pages.jobProgress),
		web.Get(web.Home, "", "/jobs/ended", pages.ended).PartOfPages(),
		web.Get(web.Home, "exports", "/exports/{id}/file", pages.download),
		web.Get(web.Account, "", "/views", pages.ownViews),
		web.Post(web.Account, "", "/views", pages.saveView),
		web.Post(web.Account, "", "/views/change", pages.changeView),
		web.Post(web.Account, "", "/views/delete", pages.deleteView),
	)}
}

// resource returns a line of the table.
func (pages *Pages) resource(name string) resources.Resource {
	i := slices.IndexFunc(pages.resources, func(r resources.Resource) bool { return r.Name == name })
	if i < 0 {
		panic("no resource " + name) // names of resources are constants of this package
	}
	return pages.resources[i]
}

// recordPath is the address of the page of a record; "" = it has none, or the person may not see it.
func (pages *Pages) recordPath(q *web.Request, resource, id string) string {
	res := pages.resource(resource)
	if res.Page == "" || !q.Sees(res.Area) || !q.Has(res.Component) {
		return ""
	}
	return q.Path(res.Page + "/" + web.Segment(id))
}
