// Package directories holds the pages on what a company sets up once and chooses from every day: units, attributes, groups, price
// lists, deal types, resources, branches, warehouses. One table says what there is; see table.go.
package directories

import (
	"context"
	"embed"
	"io/fs"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// Room has the pages.
type Room struct{}

// Name implements [web.Room].
func (*Room) Name() string { return "directories" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	pages := []web.Page{web.Get(web.Directories, "", "/directories", r.index)}
	for _, d := range resources.Directories() {
		at := "/directories/" + d.Name
		pages = append(pages, get(d, at, r.list(d)))
		pages = append(pages, r.pagesOf(d, nil, at, at+"/{id}")...)
		for _, part := range d.Parts {
			of := at + "/{id}/" + part.Name
			pages = append(pages, r.pagesOf(part, &d, of, of+"/{part}")...)
		}
	}
	prices, resources, warehouses := mustHave("price-lists"), mustHave("resources"), mustHave("warehouses")
	return append(pages,
		post(prices, "/directories/price-lists/{id}/prices", r.setPrice),
		post(prices, "/directories/price-lists/{id}/prices/{part}/delete", r.removePrice),
		get(resources, "/directories/resources/{id}/hours", r.hours),
		post(resources, "/directories/resources/{id}/hours", r.saveHours),
		post(warehouses, "/directories/warehouses/{id}/default", r.makeDefault),
	)
}

// pagesOf are those that every directory has, and every part of an entry.
func (r *Room) pagesOf(d resources.Directory, of *resources.Directory, at, one string) []web.Page {
	pages := []web.Page{
		get(d, at+"/new", r.with(d, of, r.newForm)),
		post(d, at+"/new", r.with(d, of, r.create)),
		get(d, one, r.with(d, of, r.show)),
		post(d, one, r.with(d, of, r.update)),
	}
	if d.Remove != "" {
		pages = append(pages, post(d, one+"/delete", r.with(d, of, r.remove)))
	}
	if d.Active {
		pages = append(pages, post(d, one+"/active", r.with(d, of, r.setActive)))
	}
	if d.Ordered {
		pages = append(pages, post(d, at+"/order", r.with(d, of, r.order)))
	}
	return pages
}

func mustHave(name string) resources.Directory {
	d, ok := byName(name)
	if !ok {
		panic("no directory " + name)
	}
	return d
}

func get(d resources.Directory, path string, h web.Handler) web.Page {
	p := web.Get(web.Directories, d.Scope, path, h)
	p.Component = d.Component
	return p
}

func post(d resources.Directory, path string, h web.Handler) web.Page {
	p := web.Post(web.Directories, d.Scope, path, h)
	p.Component = d.Component
	return p
}

// with hands a handler the directory whose page it is.
func (r *Room) with(d resources.Directory, of *resources.Directory, h func(ctx context.Context, q *web.Request, p place) (web.Answer, error)) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) { return h(ctx, q, placeOf(q, d, of)) }
}

// changes reports whether the person may change a directory.
func changes(q *web.Request, d resources.Directory) bool {
	return q.Allows(d.Scope, true) && q.Allows("*", true)
}

type indexPage struct {
	Header web.Header
	Rows   []indexRow
}

type indexRow struct{ Name, Href, About string }

// index leads to the directories of those parts of the platform that the company has.
func (r *Room) index(_ context.Context, q *web.Request) (web.Answer, error) {
	p := indexPage{Header: web.Header{Title: q.T("area.directories"), Facts: q.T("directories.intro")}}
	for _, d := range resources.Directories() {
		if d.Component == "" || q.Has(d.Component) {
			p.Rows = append(p.Rows, indexRow{q.T("directory." + d.Name), q.Path("/directories/" + d.Name), q.T("directory." + d.Name + ".about")})
		}
	}
	return web.Show("directories/index", q.T("area.directories"), p), nil
}
