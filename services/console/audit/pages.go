// Package audit shows who changed what, in the console and by the admin API: one record.
package audit

import (
	"context"
	"embed"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/audit"
)

//go:embed *.html
var files embed.FS

// Changes is the record. The operation of the admin API is for operators, and not for people of a company.
type Changes interface {
	Changes(ctx context.Context, by access.Caller, f audit.Filter) (*list.Page[audit.Change], error)
}

// Pages are the pages of the area.
type Pages struct{ Changes Changes }

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "audit", Templates: files, Routes: []web.Page{web.Get(web.Audit, "", "/audit", pages.list)}}
}

type page struct {
	Header web.Header
	Filter web.Filter
	Rows   []change
	Empty  web.Empty
	Next   string
}

// change is a change with what the record was and is.
type change struct {
	At            web.Moment
	By, Operation string
	Entity        string
	Before, After string
}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	f := audit.Filter{
		Params: list.Params{PageSize: 50, Cursor: q.Form.Get("cursor")}, CompanyID: &q.Company.ID,
		Operator: q.Form.Get("by"), EntityID: q.Form.Get("entity"),
	}
	found, err := pages.Changes.Changes(ctx, q.Caller, f)
	if err != nil {
		return web.Answer{}, err
	}
	p := page{
		Header: web.Header{Title: q.T("area.audit"), Facts: q.T("audit.intro")},
		Filter: web.Filter{Action: q.Path("/audit"), Button: q.T("filter.apply"), Fields: []web.Field{
			{Name: "by", Label: q.T("audit.by"), Value: f.Operator}, {Name: "entity", Label: q.T("audit.entity"), Value: f.EntityID},
		}},
		Empty: web.Empty{Title: q.T("audit.none"), Text: q.T("audit.none.text")},
	}
	if f.Operator != "" || f.EntityID != "" {
		p.Filter.Clear = q.Path("/audit")
	}
	for _, c := range found.Items {
		row := change{At: q.At(c.CreatedAt.Std()), By: c.Operator, Operation: c.Operation, Before: pretty(c.Before), After: pretty(c.After)}
		if c.EntityID != nil {
			row.Entity = *c.EntityID
		}
		if row.After == "" {
			row.After = pretty(c.Body)
		}
		p.Rows = append(p.Rows, row)
	}
	if found.NextCursor != nil {
		p.Next = web.With(q.Path("/audit"), "by", f.Operator, "entity", f.EntityID, "cursor", *found.NextCursor)
	}
	return web.Show("audit/list", q.T("area.audit"), p), nil
}

// pretty is JSON for reading.
func pretty(text *string) string {
	if text == nil {
		return ""
	}
	return web.Pretty([]byte(*text))
}
