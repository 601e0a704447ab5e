// Package audit shows who changed what, in the console and by the admin API: one record.
package audit

import (
	"context"
	"embed"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// Changes is the record. The operation of the admin API is for operators, and not for people of a company.
type Changes interface {
	Changes(ctx context.Context, by access.Caller, f audit.Filter) (*list.Page[audit.Change], error)
}

// Teller says changes in words.
type Teller interface {
	Tell(ctx context.Context, q *web.Request, changes []audit.Change) ([]web.Told, error)
}

// Pages are the pages of the area.
type Pages struct {
	Changes Changes
	Teller  Teller
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "audit", Templates: files, Routes: []web.Page{web.Get(web.Audit, "", "/audit", pages.list)}}
}

type page struct {
	Header web.Header
	Filter web.Filter
	Told   []web.Told
	Empty  web.Empty
	Next   string
}

// The filters of the page, as they stand in its address.
var filters = []string{"person", "kind", "from", "to", "entity"}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	f := filterOf(q)
	found, err := pages.Changes.Changes(ctx, q.Caller, f)
	if err != nil {
		return web.Answer{}, err
	}
	p := page{Header: web.Header{Title: q.T("area.audit"), Facts: q.T("audit.intro")}, Empty: web.Empty{Title: q.T("audit.none"), Text: q.T("audit.none.text")}}
	if p.Filter, err = filterForm(ctx, q); err != nil {
		return web.Answer{}, err
	}
	if p.Told, err = pages.Teller.Tell(ctx, q, found.Items); err != nil {
		return web.Answer{}, err
	}
	if found.NextCursor != nil {
		p.Next = web.With(q.Path("/audit"), append(set(q), "cursor", *found.NextCursor)...)
	}
	return web.Show("audit/list", q.T("area.audit"), p), nil
}

// set are the filters that the address has, with their values.
func set(q *web.Request) (pairs []string) {
	for _, name := range filters {
		if v := q.Form.Get(name); v != "" {
			pairs = append(pairs, name, v)
		}
	}
	return pairs
}

// filterOf is the filter in the address. Its days are those of the zone of the company.
func filterOf(q *web.Request) audit.Filter {
	f := audit.Filter{Params: list.Params{PageSize: 50, Cursor: q.Form.Get("cursor")}, CompanyID: &q.Company.ID, EntityID: q.Form.Get("entity"), Operation: operationsOn(q.Form.Get("kind"))}
	if id, err := uuid.Parse(q.Form.Get("person")); err == nil {
		f.UserID = &id
	}
	if at, ok := dayIn(q, "from"); ok {
		from := list.From(at)
		f.DateFrom = &from
	}
	if at, ok := dayIn(q, "to"); ok {
		to := list.To(at.AddDate(0, 0, 1).Add(-time.Microsecond))
		f.DateTo = &to
	}
	return f
}

func dayIn(q *web.Request, name string) (time.Time, bool) {
	at, err := time.ParseInLocation(time.DateOnly, q.Form.Get(name), q.Zone)
	return at, err == nil
}

// operationsOn are those that change records of a kind; nil = all.
func operationsOn(kind string) (ops []string) {
	for _, res := range resources.All() {
		if res.Name != kind {
			continue
		}
		if res.Create != "" {
			ops = append(ops, res.Create)
		}
		for _, c := range res.Commands {
			ops = append(ops, c.Op)
		}
	}
	slices.Sort(ops)
	return slices.Compact(ops)
}

// filterForm asks for a person, a kind of records, and days.
func filterForm(ctx context.Context, q *web.Request) (web.Filter, error) {
	users, err := web.CallAdmin[[]company.User](ctx, q, "listUsers", web.Input{})
	if err != nil {
		return web.Filter{}, err
	}
	people := []web.Option{{Text: q.T("filter.any")}}
	for _, u := range users {
		if name := nameOf(u); u.MaySignIn() && name != "" {
			people = append(people, web.Option{Value: u.ID.String(), Text: name})
		}
	}
	kinds := []web.Option{{Text: q.T("filter.any")}}
	for _, res := range resources.All() {
		if q.Has(res.Component) && operationsOn(res.Name) != nil {
			kinds = append(kinds, web.Option{Value: res.Name, Text: res.Heading(q)})
		}
	}
	slices.SortFunc(kinds[1:], func(x, y web.Option) int { return strings.Compare(x.Text, y.Text) })
	f := web.Filter{Action: q.Path("/audit"), Button: q.T("filter.apply"), Hidden: map[string]string{}, Fields: []web.Field{
		web.Choice("person", q.T("audit.by"), q.Form.Get("person"), people...), web.Choice("kind", q.T("audit.kind"), q.Form.Get("kind"), kinds...),
		{Name: "from", Label: q.T("audit.from"), Type: "date", Value: q.Form.Get("from")},
		{Name: "to", Label: q.T("audit.to"), Type: "date", Value: q.Form.Get("to")},
	}}
	days := q.Ranges(q.T("range.title"), q.Form.Get("from"), q.Form.Get("to"), func(from, to string) string {
		return web.With(q.Path("/audit"), append(set(q), "from", from, "to", to)...)
	})
	f.Ranges = &days
	if set(q) != nil {
		f.Clear = q.Path("/audit")
	}
	if id := q.Form.Get("entity"); id != "" {
		f.Hidden["entity"] = id
	}
	return f, nil
}

// nameOf is what people call a user.
func nameOf(u company.User) string {
	if name := record.OrZero(u.Name); name != "" {
		return name
	}
	return record.OrZero(u.Email)
}
