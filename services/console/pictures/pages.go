// Package pictures hands out the images that pages show and the files of records, and changes both. Browsers get them from the console itself: its policy lets a page load nothing
// from elsewhere.
package pictures

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Files reads contents: calls of operations return no files.
type Files interface {
	Content(ctx context.Context, company tenant.ID, id uuid.UUID, name string) (httpapi.File, error)
}

// Pages are the pages of the area.
type Pages struct{ Files Files }

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	var routes []web.Page
	for _, size := range sizes {
		routes = append(routes, web.Get(web.Home, "files", "/pictures/{id}/"+size, pages.show(size)).PartOfPages())
	}
	routes = append(routes, web.Get(web.Home, "files", "/files/{id}", pages.save))
	for _, res := range resources.All() {
		if at := res.Page + "/{id}/pictures"; res.Pictures != "" {
			routes = append(routes, pages.changes(pictures(res), at)...)
		}
		if at := res.Page + "/{id}/files"; res.Files != "" {
			routes = append(routes, pages.changes(attachments(res), at)...)
		}
	}
	return web.Folder{Name: "pictures", Routes: routes}
}

func (pages *Pages) changes(l list, at string) []web.Page {
	return web.Within(l.res.Component,
		web.Post(l.res.Area, l.res.Scope, at, pages.add(l)).Receives(maxForm),
		web.Post(l.res.Area, l.res.Scope, at+"/change", pages.change(l)),
	)
}

// save hands out a file as it was sent, an image, too, to be saved.
func (pages *Pages) save(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	f, err := pages.Files.Content(ctx, q.Company.ID, id, "original")
	if err != nil {
		return web.Answer{}, err
	}
	f.Inline = false
	return web.Inline(q, f)
}

// sizes are the contents that pages show. The original may have metadata that is nobody's business.
var sizes = []string{"small", "medium", "large"}

func (pages *Pages) show(size string) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		id, err := q.PathID("id")
		if err != nil {
			return web.Answer{}, err
		}
		f, err := pages.Files.Content(ctx, q.Company.ID, id, size)
		if err != nil {
			return web.Answer{}, err
		}
		return web.Inline(q, f)
	}
}
