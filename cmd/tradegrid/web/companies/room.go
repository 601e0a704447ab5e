// Package companies is the first page of operators: the companies that they may enter.
package companies

import (
	"context"
	"embed"
	"io/fs"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/services/company"
)

//go:embed *.html
var files embed.FS

// Companies lists companies.
type Companies interface {
	Companies(ctx context.Context, by access.Caller, f company.Filter) (*list.Page[company.Company], error)
}

// Room has the page.
type Room struct{ Companies Companies }

// Name implements [web.Room].
func (*Room) Name() string { return "companies" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	return []web.Page{web.Get(web.Platform, "", "/companies", r.list).For(web.Operators)}
}

type page struct {
	Header web.Header
	Filter web.Filter
	Table  web.Table
}

func (r *Room) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	search := q.Form.Get("q")
	found, err := r.Companies.Companies(ctx, access.Caller{Principal: &access.Principal{}}, company.Filter{Params: list.Params{PageSize: 50, Search: search, Cursor: q.Form.Get("cursor")}})
	if err != nil {
		return web.Answer{}, err
	}
	p := page{
		Header: web.Header{Title: q.T("companies.title"), Facts: q.T("companies.intro")},
		Filter: web.Filter{Action: "/companies", Button: q.T("filter.search"), Fields: []web.Field{{Name: "q", Label: q.T("people.name"), Value: search}}},
		Table: web.Table{
			Label:   q.T("companies.title"),
			Columns: []web.Column{{Text: q.T("people.name")}, {Text: q.T("companies.plan")}, {Text: q.T("people.status")}, {Text: q.T("people.since")}, {Text: q.T("companies.id")}},
			Empty:   web.Empty{Title: q.T("companies.none"), Text: q.T("companies.none.text")},
		},
	}
	if search != "" {
		p.Filter.Clear = "/companies"
	}
	for _, c := range found.Items {
		state := web.State(web.Good, q.T("company.active"))
		if c.Status == company.Archived {
			state = web.State(web.Off, q.T("company.archived"))
		}
		if c.IsTest {
			state = state.With(q.T("frame.test_company"))
		}
		p.Table.Rows = append(p.Table.Rows, []web.Cell{
			web.LinkTo(c.Name, "/c/"+c.ID.String()+"/"), web.Text(c.Plan), state, web.When(q.At(c.CreatedAt.Std())), web.Code(c.ID.String(), ""),
		})
	}
	if found.NextCursor != nil {
		p.Table.Next = web.With("/companies", "q", search, "cursor", *found.NextCursor)
	}
	return web.Show("companies/list", q.T("companies.title"), p), nil
}
