// Package companies holds the pages of operators on companies: which there are, what they may use and what they use.
package companies

import (
	"context"
	"embed"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// Companies makes companies. The operation of the admin API does not invite their first owner in the same transaction.
type Companies interface {
	Create(ctx context.Context, tx *db.Tx, in company.NewCompany) (company.Company, error)
	InvitePerson(ctx context.Context, tx *db.Tx, by access.Caller, who company.Editor, in company.Invitation) (company.User, error)
}

// Accounts mails invitations.
type Accounts interface {
	Invite(ctx context.Context, tx *db.Tx, o accounts.Owner, email, company string) error
}

// Usage counts what companies do and keep.
type Usage interface {
	Usage(ctx context.Context, company tenant.ID, days int, now time.Time) ([]operations.Usage, error)
	Stored(ctx context.Context, company tenant.ID, now time.Time) (map[string]int64, error)
}

// Pages are the pages of the area.
type Pages struct {
	Companies Companies
	Accounts  Accounts
	Usage     Usage
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	routes := []web.Page{
		web.Get(web.Platform, "", "/companies", pages.list),
		web.Get(web.Platform, "", "/companies/suggest", pages.suggest).PartOfPages(),
		web.Get(web.Platform, "", "/companies/new", pages.newForm),
		web.Post(web.Platform, "", "/companies/new", pages.create),
		web.Get(web.Platform, "", "/companies/{id}", pages.show),
		web.Post(web.Platform, "", "/companies/{id}", pages.update),
		web.Post(web.Platform, "", "/companies/{id}/archive", pages.archive),
		web.Post(web.Platform, "", "/companies/{id}/restore", pages.restore),
		web.Post(web.Platform, "", "/companies/{id}/components", pages.component),
		web.Get(web.Platform, "", "/companies/{id}/usage", pages.usage),
	}
	for i := range routes {
		routes[i].Audience = web.Operators
	}
	return web.Folder{Name: "companies", Templates: files, Routes: routes}
}

type page struct {
	Header web.Header
	Filter web.Filter
	Table  web.Table
}

var statuses = []string{company.Active, company.Archived}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	f := company.Filter{
		Params: list.Params{PageSize: 50, Search: strings.TrimSpace(q.Form.Get("q")), Cursor: q.Form.Get("cursor")},
		Status: web.OneOf(q.Form.Get("status"), statuses), Plan: web.OneOf(q.Form.Get("plan"), plans(q)),
	}
	kind := web.OneOf(q.Form.Get("kind"), []string{"test", "live"})
	if kind != "" {
		test := kind == "test"
		f.IsTest = &test
	}
	found, err := web.CallAdmin[*list.Page[company.Company]](ctx, q, "listCompanies", web.Input{Query: web.Query(f)})
	if err != nil {
		return web.Answer{}, err
	}
	p := page{
		Header: web.Header{Title: q.T("companies.title"), Facts: q.T("companies.intro")},
		Filter: filterOf(q, f, kind),
		Table: web.Table{
			Label:   q.T("companies.title"),
			Columns: []web.Column{{Text: q.Label("name")}, {Text: q.T("companies.plan")}, {Text: q.T("people.status")}, {Text: q.T("people.since")}, {Text: q.T("companies.manage")}},
			Empty:   web.Empty{Title: q.T("companies.none"), Text: q.T("companies.none.text")},
		},
	}
	if q.Allows("*", true) {
		p.Header.Links = []web.Link{{Text: q.T("companies.new"), Href: "/companies/new"}}
	}
	for _, c := range found.Items {
		p.Table.Rows = append(p.Table.Rows, []web.Cell{
			web.LinkTo(c.Name, "/c/"+c.ID.String()+"/"), web.Text(q.Word(c.Plan)), stateOf(q, c), web.When(q.At(c.CreatedAt.Std())), web.Code(c.ID.String(), "/companies/"+c.ID.String()),
		})
	}
	if found.NextCursor != nil {
		p.Table.Next = web.With("/companies", "q", f.Search, "status", f.Status, "plan", f.Plan, "kind", kind, "cursor", *found.NextCursor)
	}
	return web.Show("companies/list", q.T("companies.title"), p), nil
}

func stateOf(q *web.Request, c company.Company) web.Cell {
	state := web.State(web.Good, q.T("company.active"))
	if c.Status == company.Archived {
		state = web.State(web.Off, q.T("company.archived"))
	}
	if c.IsTest {
		state = state.With(q.T("frame.test_company"))
	}
	return state
}

// plans are the names that the admin API takes.
func plans(q *web.Request) []string {
	plan, _ := q.AdminOperation("createCompany").Body.Field("plan")
	return plan.Enum
}

func filterOf(q *web.Request, f company.Filter, kind string) web.Filter {
	choice := func(name, label, chosen string, values []string) web.Field {
		field := web.Field{Name: name, Label: label, Type: "select", Options: []web.Option{{Text: q.T("filter.any")}}}
		for _, v := range values {
			field.Options = append(field.Options, web.Option{Value: v, Text: q.Word(v), Selected: v == chosen})
		}
		return field
	}
	filter := web.Filter{Action: "/companies", Button: q.T("filter.search"), Fields: []web.Field{
		{Name: "q", Label: q.Label("name"), Value: f.Search},
		choice("status", q.T("people.status"), f.Status, statuses), choice("plan", q.T("companies.plan"), f.Plan, plans(q)), choice("kind", q.T("settings.kind"), kind, []string{"live", "test"}),
	}}
	if f.Search+f.Status+f.Plan+kind != "" {
		filter.Clear = "/companies"
	}
	return filter
}
