// Package directories holds the pages on what a company sets up once and chooses from every day: units, attributes, groups, price
// lists, deal types, resources, branches, warehouses. One table says what there is; see table.go.
package directories

import (
	"context"
	"embed"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

//go:embed *.html
var files embed.FS

// Pages are the pages of the area.
type Pages struct{}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	routes := []web.Page{web.Get(web.Directories, "", "/directories", pages.index)}
	for _, d := range resources.Directories() {
		at := "/directories/" + d.Name
		routes = append(routes, get(d, at, pages.list(d)))
		routes = append(routes, pages.pagesOf(d, nil, at, at+"/{id}")...)
		for _, part := range d.Parts {
			of := at + "/{id}/" + part.Name
			routes = append(routes, pages.pagesOf(part, &d, of, of+"/{part}")...)
		}
	}
	prices, resources, warehouses := mustHave("price-lists"), mustHave("resources"), mustHave("warehouses")
	return web.Folder{Name: "directories", Templates: files, Routes: append(routes,
		post(prices, "/directories/price-lists/{id}/prices", pages.setPrice),
		post(prices, "/directories/price-lists/{id}/prices/{part}/delete", pages.removePrice),
		get(resources, "/directories/resources/{id}/hours", pages.hours),
		post(resources, "/directories/resources/{id}/hours", pages.saveHours),
		post(warehouses, "/directories/warehouses/{id}/default", pages.makeDefault),
	)}
}

// pagesOf are those that every directory has, and every part of an entry.
func (pages *Pages) pagesOf(d resources.Directory, of *resources.Directory, at, one string) []web.Page {
	routes := []web.Page{
		get(d, at+"/new", pages.with(d, of, pages.newForm)),
		post(d, at+"/new", pages.with(d, of, pages.create)),
		get(d, one, pages.with(d, of, pages.show)),
		post(d, one, pages.with(d, of, pages.update)),
	}
	if d.Remove != "" {
		routes = append(routes, post(d, one+"/delete", pages.with(d, of, pages.remove)))
	}
	if d.Active {
		routes = append(routes, post(d, one+"/active", pages.with(d, of, pages.setActive)))
	}
	if d.Ordered {
		routes = append(routes, post(d, at+"/order", pages.with(d, of, pages.order)))
	}
	return routes
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
func (pages *Pages) with(d resources.Directory, of *resources.Directory, h func(ctx context.Context, q *web.Request, p place) (web.Answer, error)) web.Handler {
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
func (pages *Pages) index(_ context.Context, q *web.Request) (web.Answer, error) {
	p := indexPage{Header: web.Header{Title: q.T("area.directories"), Facts: q.T("directories.intro")}}
	for _, d := range resources.Directories() {
		if d.Component == "" || q.Has(d.Component) {
			p.Rows = append(p.Rows, indexRow{q.T("directory." + d.Name), q.Path("/directories/" + d.Name), q.T("directory." + d.Name + ".about")})
		}
	}
	return web.Show("directories/index", q.T("area.directories"), p), nil
}
