// Package records holds the pages on the records of a company: lists with filters and saved views, the page of a record, its
// commands, and exports. All of them follow from the package resources.
//
// A list makes 1 call of the API, the page of a record 2, and each one more for every directory that it names entries of.
package records

import (
	"context"
	"embed"
	"io/fs"
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
	Latest(ctx context.Context, by access.Caller, q webhooks.LatestQuery) (found []webhooks.Logged, next uuid.UUID, err error)
}

// Results hands out the results of jobs: calls of operations return no files.
type Results interface {
	Result(ctx context.Context, by access.Caller, id uuid.UUID) (httpapi.File, error)
}

// Room has the pages.
type Room struct {
	Views   Views
	Events  Events
	Results Results

	resources []resources.Resource
}

// New returns the room.
func New(views Views, events Events, results Results) *Room {
	return &Room{Views: views, Events: events, Results: results, resources: resources.All()}
}

// Name implements [web.Room].
func (*Room) Name() string { return "records" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (room *Room) Pages() []web.Page {
	var pages []web.Page
	for _, res := range room.resources {
		add := func(p web.Page) {
			p.Component = res.Component
			pages = append(pages, p)
		}
		add(web.Get(res.Area, res.Scope, res.At, room.list(res)))
		add(web.Get(res.Area, res.Scope, res.At+"/filter", room.filter(res)))
		if res.Export {
			add(web.Post(res.Area, "exports", res.At+"/export", room.export(res)))
		}
		if res.Report != "" {
			add(web.Get(res.Area, res.Scope, res.At+"/report", room.report(res)))
		}
		if res.Create != "" {
			add(web.Get(res.Area, res.Scope, res.At+"/new", room.newForm(res)))
			add(web.Post(res.Area, res.Scope, res.At+"/new", room.create(res)))
		}
		if res.Page == "" || res.Elsewhere {
			continue
		}
		add(web.Get(res.Area, res.Scope, res.Page+"/{id}", room.show(res)))
		for _, c := range res.Commands {
			if at := res.Page + "/{id}/do/" + c.Name; c.Form {
				add(web.Get(res.Area, res.Scope, at, room.form(res, c)))
				add(web.Post(res.Area, res.Scope, at, room.do(res, c)))
			} else {
				add(web.Post(res.Area, res.Scope, at, room.do(res, c)))
			}
		}
	}
	return append(pages,
		web.Get(web.Home, "exports", "/exports/{id}", room.progress),
		web.Get(web.Home, "exports", "/exports/{id}/file", room.download),
		web.Get(web.Account, "", "/views", room.views),
		web.Post(web.Account, "", "/views", room.saveView),
		web.Post(web.Account, "", "/views/change", room.changeView),
		web.Post(web.Account, "", "/views/delete", room.deleteView),
	)
}

// resource returns a line of the table.
func (room *Room) resource(name string) resources.Resource {
	i := slices.IndexFunc(room.resources, func(r resources.Resource) bool { return r.Name == name })
	if i < 0 {
		panic("no resource " + name) // names of resources are constants of this package
	}
	return room.resources[i]
}

// recordPath is the address of the page of a record; "" = it has none, or the person may not see it.
func (room *Room) recordPath(q *web.Request, resource, id string) string {
	res := room.resource(resource)
	if res.Page == "" || !q.Sees(res.Area) || !q.Has(res.Component) {
		return ""
	}
	return q.Path(res.Page + "/" + web.Segment(id))
}
