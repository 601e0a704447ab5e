// Package paper holds the documents that companies print: of orders, sales, shifts, goods, and labels. A writer puts records into words, in
// the language of the company, and computes nothing; the same words make the page and the PDF.
package paper

import (
	"context"
	"embed"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// Files reads the logo of a company, which operations hand out only as a file of its own.
type Files interface {
	Content(ctx context.Context, company tenant.ID, id uuid.UUID, size string) (httpapi.File, error)
}

// Pages are the pages of the area.
type Pages struct {
	Files Files
	Texts web.CustomerTexts
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	routes := []web.Page{web.Get(web.Home, "", "/paper/logo", pages.logo)}
	for _, d := range documents() {
		routes = append(routes, web.Within(d.component, web.Get(d.area, d.scope, "/paper/"+d.records+"/"+d.name, pages.show(d)))...)
	}
	routes = append(routes, web.Within("catalog", web.Get(web.Catalog, "catalog", "/paper/products/labels", pages.labels))...)
	return web.Folder{Name: "paper", Templates: files, Routes: routes}
}

// maxRecords is how many records are printed at once, maxRows how many lines they have together.
const (
	maxRecords = 50
	maxRows    = 2000
)

// recordsIn are the ids in the address. What is no id is left out, and so is what is too much, which the page says.
func recordsIn(q *web.Request) (ids []uuid.UUID, more bool) {
	for text := range strings.SplitSeq(q.Form.Get("ids"), ",") {
		id, err := uuid.Parse(strings.TrimSpace(text))
		if err != nil {
			continue
		}
		if len(ids) == maxRecords {
			return ids, true
		}
		ids = append(ids, id)
	}
	return ids, false
}

// writer is that of the company, in the language of its documents.
func (pages *Pages) writer(ctx context.Context, q *web.Request, bytes bool) (Writer, error) {
	logo, err := pages.picture(ctx, q, bytes)
	return NewWriter(pages.Texts, q.Company.Settings, logo), err
}

// picture is the logo; nil if there is none, also because the store has lost it: documents are printed without it.
func (pages *Pages) picture(ctx context.Context, q *web.Request, read bool) (*Picture, error) {
	id := q.Company.DocumentLogoID
	if id == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	if !read {
		return &Picture{Address: q.Path("/paper/logo")}, nil
	}
	return ReadLogo(ctx, pages.Files, q.Company.ID, q.Company.Settings)
}

// ReadLogo reads the logo of a company for PDFs; nil if there is none.
func ReadLogo(ctx context.Context, from Files, id tenant.ID, s company.Settings) (*Picture, error) {
	if s.DocumentLogoID == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	f, err := from.Content(ctx, id, *s.DocumentLogoID, "medium")
	if err != nil {
		return nil, err
	}
	body, err := f.Open()
	if web.Refused(err) {
		return nil, nil //nolint:nilnil // the store has lost it: documents are made without it
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // only read
	raw, err := io.ReadAll(body)
	return &Picture{Media: f.Media, Bytes: raw}, err
}

// logo is the image that documents on pages show.
func (pages *Pages) logo(ctx context.Context, q *web.Request) (web.Answer, error) {
	if q.Company.DocumentLogoID == nil {
		return web.Go(q.Path("/settings")), nil // where it is chosen
	}
	f, err := pages.Files.Content(ctx, q.Company.ID, *q.Company.DocumentLogoID, "medium")
	if err != nil {
		return web.Answer{}, err
	}
	if f.Body, err = f.Open(); err != nil {
		return web.Answer{}, err
	}
	return web.Send(f), nil
}
