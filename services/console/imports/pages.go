// Package imports holds the pages on which people import tables: a file is chosen, its columns are looked at, its rows are checked,
// and then imported. All of it is done by the operations on imports and jobs.
package imports

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/imports"
)

//go:embed *.html
var files embed.FS

// Reports reads what imports report of their rows: calls of operations return no files.
type Reports interface {
	Faults(ctx context.Context, by access.Caller, id uuid.UUID, most int) ([]imports.Line, error)
	Refused(ctx context.Context, by access.Caller, id uuid.UUID, say imports.Say) (httpapi.File, error)
}

// Pages are the pages of the area.
type Pages struct{ Reports Reports }

// maxForm is what a form with a file of an import may have: the file, and what it is to be understood as.
const maxForm = 11 << 20

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	var routes []web.Page
	for _, res := range resources.All() {
		if !res.Import {
			continue
		}
		at := res.Address + "/import"
		routes = append(routes, web.Within(res.Component,
			web.Get(res.Area, res.Scope, at, pages.choose(res)),
			web.Post(res.Area, res.Scope, at, pages.check(res)).Receives(maxForm),
			web.Post(res.Area, res.Scope, at+"/preview", pages.preview(res)).Receives(maxForm),
			web.Get(res.Area, res.Scope, at+"/{id}", pages.show(res)),
			web.Get(res.Area, res.Scope, at+"/{id}/refused", pages.refused(res)),
			web.Post(res.Area, res.Scope, at+"/{id}/run", pages.run(res)),
			web.Post(res.Area, res.Scope, at+"/{id}/cancel", pages.cancel(res)),
		)...)
	}
	return web.Folder{Name: "imports", Templates: files, Routes: routes}
}
