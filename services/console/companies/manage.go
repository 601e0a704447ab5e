package companies

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

type companyPage struct {
	Header     web.Header
	Note       *web.Note
	Facts      []web.Fact
	Form       *web.Form
	Components web.Table
}

// of are the parameters of an operation on the company in the address.
func of(q *web.Request) map[string]string {
	return map[string]string{"companyId": q.HTTP.PathValue("id")}
}

// read reads the company in the address.
func read(ctx context.Context, q *web.Request) (c company.Company, raw web.JSON, err error) {
	if _, err := uuid.Parse(q.HTTP.PathValue("id")); err != nil {
		return c, nil, web.NoPage()
	}
	if raw, err = web.CallAdmin[web.JSON](ctx, q, "getCompany", web.Input{Path: of(q)}); err != nil {
		return c, nil, err
	}
	return c, raw, web.Decode(raw, &c)
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.showWith(ctx, q, web.Fields{}, nil)
}

// showWith is the page of a company. f has what was typed and refused; refused is why another change was not made.
func (pages *Pages) showWith(ctx context.Context, q *web.Request, f web.Fields, refused error) (web.Answer, error) {
	c, raw, err := read(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	at, state := "/companies/"+c.ID.String(), stateOf(q, c)
	p := companyPage{
		Header: web.Header{
			Title: c.Name, Chip: state.Chip, Facts: state.Also, Crumbs: []web.Link{{Text: q.T("companies.title"), Href: "/companies"}},
			Links: []web.Link{{Text: q.T("companies.usage"), Href: at + "/usage"}, {Text: q.T("companies.enter"), Href: "/c/" + c.ID.String() + "/"}},
		},
		Facts: []web.Fact{
			{Label: q.T("companies.id"), Cell: web.Code(c.ID.String(), "")},
			{Label: q.T("companies.cell"), Cell: web.Code(c.Cell, "")},
			{Label: q.T("people.since"), Cell: web.When(q.At(c.CreatedAt.Std()))},
		},
	}
	if c.ArchivedAt != nil {
		p.Facts = append(p.Facts, web.Fact{Label: q.T("company.archived"), Cell: web.When(q.At(c.ArchivedAt.Std()))})
	}
	f.Op, f.Value, f.Texts = q.AdminOperation("updateCompany"), raw, "settings"
	fields := q.FieldsOf(f)
	if q.Allows("*", true) {
		p.Header.Actions = actionsOf(q, c, at)
		p.Form = &web.Form{Post: at, Button: q.T("settings.save"), Fields: fields, Fault: q.FormFault(f.Err, fields)}
	} else {
		for _, field := range fields {
			p.Facts = append(p.Facts, web.Fact{Label: field.Label, Cell: web.Text(field.Value)})
		}
	}
	if p.Components, err = components(ctx, q, c, at); err != nil {
		return web.Answer{}, err
	}
	a := web.Show("companies/company", c.Name, p)
	if known, ok := apierr.As(refused); ok {
		p.Note = &web.Note{Kind: web.Bad, Title: q.T("directories.refused"), Text: q.Why(known)}
		a = web.Show("companies/company", c.Name, p)
	}
	if f.Err != nil || refused != nil {
		a = a.Refuse()
	}
	return a, nil
}

func actionsOf(q *web.Request, c company.Company, at string) []web.Action {
	if c.Status == company.Archived {
		return []web.Action{{Text: q.T("companies.restore"), Post: at + "/restore", Kind: "primary"}}
	}
	return []web.Action{{ID: "archive", Text: q.T("companies.archive"), Post: at + "/archive", Kind: "danger", Confirm: q.T("companies.archive.confirm", c.Name)}}
}

// components lists those that there are, with a switch for each.
func components(ctx context.Context, q *web.Request, c company.Company, at string) (web.Table, error) {
	t := web.Table{Label: q.T("settings.components"), Columns: []web.Column{{Text: q.T("companies.component")}, {Text: q.T("people.status")}, {}}}
	all, err := web.CallAdmin[company.AccessInfo](ctx, q, "getAccess", web.Input{})
	if err != nil {
		return t, err
	}
	for _, name := range all.Components {
		on := slices.Contains(c.Components, name)
		state, action := web.State(web.Off, q.T("companies.off")), web.Action{Text: q.T("companies.enable"), Post: at + "/components", Values: map[string]string{"component": name, "enabled": "true"}, Small: true}
		if on {
			state = web.State(web.Good, q.T("companies.on"))
			action.ID, action.Text, action.Confirm = "off-"+name, q.T("companies.disable"), q.T("companies.disable.confirm", q.Word(name), c.Name)
			action.Values = map[string]string{"component": name, "enabled": "false"}
		}
		button := web.Do(action)
		if slices.Contains(all.AlwaysOn, name) {
			button = web.Text(q.T("companies.always_on"))
		} else if !q.Allows("*", true) {
			button = web.Text("")
		}
		t.Rows = append(t.Rows, []web.Cell{web.Text(q.Word(name)), state, button})
	}
	return t, nil
}

func (pages *Pages) update(ctx context.Context, q *web.Request) (web.Answer, error) {
	f := web.Fields{Op: q.AdminOperation("updateCompany"), Texts: "settings"}
	_, err := web.CallAdmin[company.Company](ctx, q, "updateCompany", web.Input{Path: of(q), Body: q.BodyOf(f, q.Form)})
	if isRefusal(err) {
		f.Typed, f.Err = q.Form, err
		return pages.showWith(ctx, q, f, nil)
	}
	return web.Go("/companies/" + q.HTTP.PathValue("id") + "?done=saved"), err
}

// isRefusal reports whether the API said what is wrong with what was asked for.
func isRefusal(err error) bool {
	known, ok := apierr.As(err)
	return ok && known.Status < http.StatusInternalServerError && known.Status != http.StatusNotFound
}

func (pages *Pages) archive(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.command(ctx, q, "archiveCompany", nil)
}

func (pages *Pages) restore(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.command(ctx, q, "restoreCompany", nil)
}

func (pages *Pages) component(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.command(ctx, q, "setCompanyComponent", map[string]any{"component": q.Form.Get("component"), "enabled": q.Form.Get("enabled") == "true"})
}

func (pages *Pages) command(ctx context.Context, q *web.Request, operation string, body any) (web.Answer, error) {
	_, err := web.CallAdmin[company.Company](ctx, q, operation, web.Input{Path: of(q), Body: body})
	if isRefusal(err) {
		return pages.showWith(ctx, q, web.Fields{}, err)
	}
	return web.Go("/companies/" + q.HTTP.PathValue("id") + "?done=saved"), err
}

type usagePage struct {
	Header web.Header
	Tabs   []web.Tab
	Days   web.Table
	Stored []web.Fact
}

// spans are the days that the page of usage can show: more take longer than a page has.
var spans = []string{"1", "7", "30"}

func (pages *Pages) usage(ctx context.Context, q *web.Request) (web.Answer, error) {
	c, _, err := read(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	span := web.OneOf(q.Form.Get("days"), spans)
	if span == "" {
		span = "7"
	}
	days, err := strconv.Atoi(span)
	if err != nil {
		return web.Answer{}, err
	}
	at := "/companies/" + c.ID.String()
	p := usagePage{Header: web.Header{
		Title: q.T("companies.usage"), Facts: q.T("companies.usage.intro"), Crumbs: []web.Link{{Text: q.T("companies.title"), Href: "/companies"}, {Text: c.Name, Href: at}},
	}}
	for _, s := range spans {
		p.Tabs = append(p.Tabs, web.Tab{Text: q.T("companies.days." + s), Href: at + "/usage?days=" + s, Current: s == span})
	}
	if p.Days, err = pages.days(ctx, q, c.ID, days); err != nil {
		return web.Answer{}, err
	}
	stored, err := pages.Usage.Stored(ctx, c.ID, q.Now)
	if err != nil {
		return web.Answer{}, err
	}
	for _, kind := range []string{"answers", "files", "requests", "events"} {
		if n, ok := stored[kind]; ok {
			p.Stored = append(p.Stored, web.Fact{Label: q.T("companies.stored." + kind), Cell: web.Text(q.Bytes(n))})
		}
	}
	return web.Show("companies/usage", q.T("companies.usage"), p), nil
}

func (pages *Pages) days(ctx context.Context, q *web.Request, id tenant.ID, days int) (web.Table, error) {
	t := web.Table{Label: q.T("companies.usage")}
	for i, name := range []string{"day", "requests", "refused", "events", "bytes", "deliveries", "arrived", "failed", "attempts"} {
		t.Columns = append(t.Columns, web.Column{Text: q.T("companies.usage." + name), Num: i > 0})
	}
	found, err := pages.Usage.Usage(ctx, id, days, q.Now)
	if err != nil {
		return t, err
	}
	for _, u := range slices.Backward(found) {
		row := []web.Cell{web.Text(u.Day), count(q, u.Requests), count(q, u.Refused), count(q, &u.Events), web.Number(q.Bytes(u.Bytes))}
		t.Rows = append(t.Rows, append(row, count(q, &u.Deliveries), count(q, &u.Arrived), count(q, &u.Failed), count(q, &u.Attempts)))
	}
	return t, nil
}

// count is a number; – = it is not known.
func count(q *web.Request, n *int64) web.Cell {
	if n == nil {
		return web.Number("–")
	}
	return web.Number(q.Count(*n))
}
