package records

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

type recordPage struct {
	Header   web.Header
	Note     *web.Note
	Toast    *web.Toast // what the last command did
	Stages   []web.Stage
	Tabs     []web.Tab
	Facts    []web.Fact // of the first tab
	Gauges   []web.Gauge
	Gallery  *web.Gallery
	Party    *party // nil = the record has no client
	Files    *filesCard
	Sections []section
	Told     []web.Told
	Untold   web.Empty
	More     *web.Link // list that has all of what the tab shows
	API      web.Shown
}

// section is a table with its head.
type section struct {
	Title string
	Links []web.Link // forms that add rows
	Table web.Table
	Sums  []web.Fact // below it
	Text  string     // below it; "" = none
}

// shown is a record on its way to a page.
type shown struct {
	res        resources.Resource
	record     resources.Record
	id         string
	api        web.Shown
	names      *directories
	row        resources.Record   // that a form changes, of a table of the record
	attributes []resources.Record // attributes whose values a form asks for
}

// Tabs that do not come from the table of resources.
const (
	tabActivity = "activity"
	tabEvents   = "events"
	tabRequests = "requests"
)

// latest is how many entries a tab shows.
const latest = 20

// show is the page of a record.
func (pages *Pages) show(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		s, err := pages.find(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		return pages.page(ctx, q, s, q.HTTP.URL.Query().Get("tab"), nil)
	}
}

// find reads the record in the address.
func (pages *Pages) find(ctx context.Context, q *web.Request, res resources.Resource) (shown, error) {
	s := shown{res: res, id: q.HTTP.PathValue("id"), names: &directories{q: q}}
	if _, err := uuid.Parse(s.id); err != nil {
		return s, web.NoPage()
	}
	in := web.Input{Path: map[string]string{"id": s.id}}
	raw, err := web.Call[web.JSON](ctx, q, res.Get, in)
	if err != nil {
		return s, err
	}
	s.api = q.Show(res.Get, in, raw)
	return s, decode(raw, &s.record)
}

// address is the address of the page.
func (s shown) address(q *web.Request) string { return q.Path(s.res.Page + "/" + s.id) }

// page shows a tab of a record.
func (pages *Pages) page(ctx context.Context, q *web.Request, s shown, tab string, note *web.Note) (web.Answer, error) {
	p := recordPage{Header: pages.header(q, s), Note: note, Toast: toastOf(q, s), Stages: stagesOf(q, s), Tabs: pages.tabsOf(q, s, tab), API: s.api}
	if s.res.About != nil {
		p.Header.Lead = s.res.About(q, s.record)
	}
	if !slices.ContainsFunc(p.Tabs, func(t web.Tab) bool { return t.Current }) {
		p.Tabs[0].Current, tab = true, ""
	}
	var err error
	switch tab {
	case "":
		err = pages.overview(ctx, q, s, &p)
	case tabActivity:
		err = pages.activity(ctx, q, s, &p)
	case tabEvents:
		err = pages.events(ctx, q, s, &p)
	case tabRequests:
		err = pages.requests(ctx, q, s, &p)
	default:
		err = pages.listed(ctx, q, s, tab, &p)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("records/record", p.Header.Title, p), nil
}

// titleOf is what people call a record.
func titleOf(q *web.Request, res resources.Resource, r resources.Record) string {
	name := r.Text(res.Title)
	switch {
	case name == "":
		return res.One(q)
	case res.Title == "number":
		return q.T("records.numbered", res.One(q), name)
	}
	return name
}

// tabsOf are the parts of the page: what it is, each list of the API that belongs to it, its events, its requests.
func (pages *Pages) tabsOf(q *web.Request, s shown, tab string) []web.Tab {
	tabs := []web.Tab{{Text: q.T("records.tab.overview"), Href: s.address(q), Current: tab == ""}}
	add := func(name string) {
		tabs = append(tabs, web.Tab{Text: q.T("records.tab." + name), Href: web.With(s.address(q), "tab", name), Current: tab == name})
	}
	for _, t := range s.res.Tables {
		if t.Field == "" && pages.maySee(q, t) {
			add(t.Name)
		}
	}
	if q.Sees(web.Audit) {
		add(tabActivity)
	}
	if q.Sees(web.Events) && q.Allows("events", false) {
		add(tabEvents)
	}
	if q.Sees(web.Requests) {
		add(tabRequests)
	}
	return tabs
}

// maySee reports whether the person, and the company, have the operation of a table.
func (pages *Pages) maySee(q *web.Request, t resources.Table) bool {
	return (t.Sees == "" || q.Sees(t.Sees)) && q.MayCall(t.List)
}

// listed shows a table that an operation lists.
func (pages *Pages) listed(ctx context.Context, q *web.Request, s shown, name string, p *recordPage) error {
	i := slices.IndexFunc(s.res.Tables, func(t resources.Table) bool { return t.Name == name })
	t := s.res.Tables[i]
	rows, api, err := pages.entries(ctx, q, s, t)
	if err != nil {
		return err
	}
	p.API = api
	of, err := pages.rows(ctx, q, s, t, rows)
	of.Empty.Action = pages.commandLink(q, s, t.First)
	p.Sections = []section{{Title: q.T("records.tab." + t.Name), Links: pages.additions(q, s, t), Table: of}}
	if t.All != "" && len(rows) > 0 {
		p.More = &web.Link{Text: q.T("records.all", q.T("records.tab."+t.Name)), Href: web.With(q.Path(t.All), t.Where, s.id)}
	}
	return err
}

// entries calls the operation of a table.
func (pages *Pages) entries(ctx context.Context, q *web.Request, s shown, t resources.Table) (rows []resources.Record, api web.Shown, err error) {
	in, paged := web.Input{Query: url.Values{}}, slices.ContainsFunc(q.Operation(t.List).Params, func(f httpapi.Shape) bool { return f.Name == "pageSize" })
	if paged {
		in.Query.Set("pageSize", strconv.Itoa(latest))
	}
	if t.Include != "" {
		in.Query.Set("include", t.Include)
	}
	if t.Where == "" {
		in.Path = map[string]string{"id": s.id}
	} else {
		in.Query.Set(t.Where, s.id)
	}
	raw, err := web.Call[web.JSON](ctx, q, t.List, in)
	if err != nil {
		return nil, api, err
	}
	api = q.Show(t.List, in, raw)
	if !paged {
		return rows, api, decode(raw, &rows)
	}
	var page struct{ Items []resources.Record }
	err = decode(raw, &page)
	return page.Items, api, err
}

// maxRows is how many lines of a document a page shows.
const maxRows = 500

// rows is a table of a record, with its sums and with the commands of its rows.
func (pages *Pages) rows(ctx context.Context, q *web.Request, s shown, t resources.Table, rows []resources.Record) (web.Table, error) {
	return pages.table(ctx, q, s, t, rows, pages.rowCommands(q, s.res, t))
}

// table is one with these commands of its rows.
func (pages *Pages) table(ctx context.Context, q *web.Request, s shown, t resources.Table, rows []resources.Record, acts []resources.Command) (web.Table, error) {
	out := web.Table{Label: q.T("records.tab." + t.Name), Folds: true, Empty: web.Empty{Title: q.T("records.part.none"), Text: q.T("records.part.none.text")}}
	columns := slices.DeleteFunc(slices.Clone(t.Columns), func(c resources.Column) bool {
		says := func(r resources.Record) bool { return r.Has(c.Name) && (!c.Some || r.Text(c.Name) != "0") }
		return c.Hidden || c.Told || !slices.ContainsFunc(rows, says) && c.Name != t.Columns[0].Name
	})
	lead := leadOf(columns)
	for i, c := range columns {
		out.Columns = append(out.Columns, web.Column{Text: label(q, c), Num: c.Kind.End(), Lead: i == lead})
	}
	out.Columns = append(out.Columns, make([]web.Column, len(acts))...)
	for i, r := range rows {
		if i == maxRows {
			break
		}
		var row []web.Cell
		for i, c := range columns {
			of, r := ofField(q, s.res, c, r)
			cell, err := pages.cell(ctx, q, of, r, s.names)
			if err != nil {
				return out, err
			}
			cell.Num = cell.Num && c.Kind != resources.AsFieldValue
			if i == 0 && t.Picture != "" {
				cell = cell.Pictured(pictureOf(q, s, t, r))
			}
			cell.Sub, cell.Also = r.First(c.Under...), cmp.Or(r.Text(c.Unit), cell.Also)
			row = append(row, cell)
		}
		if err := pages.tellBelow(ctx, q, s, t, r, &row[0]); err != nil {
			return out, err
		}
		for _, c := range acts {
			row = append(row, pages.rowCommand(q, s, c, r))
		}
		out.Rows = append(out.Rows, row)
	}
	out.Foot = sumsOf(q, t, columns, rows, len(acts))
	return out, nil
}

// leadOf is the column that stands on the first line of a row on a phone, behind the first column: the total, or else the amount; -1 = none.
func leadOf(columns []resources.Column) int {
	for _, name := range []string{"total", "amount", "payable"} {
		if i := slices.IndexFunc(columns, func(c resources.Column) bool { return c.Name == name }); i >= 0 {
			return i
		}
	}
	return -1
}

// tellBelow puts what a row says beside its columns below its first cell.
func (pages *Pages) tellBelow(ctx context.Context, q *web.Request, s shown, t resources.Table, r resources.Record, first *web.Cell) error {
	for _, c := range t.Columns {
		if !c.Told || c.Hidden || !r.Has(c.Name) || c.Kind.End() && r.Text(c.Name) == "0" {
			continue
		}
		cell, err := pages.cell(ctx, q, c, r, s.names)
		if err != nil {
			return err
		}
		if c.Kind == resources.AsAmount {
			cell.Text = q.Priced(cell.Text)
		}
		said := q.T("records.told", strings.TrimSuffix(q.Label(c.Name), ", %"), cell.Text)
		first.Sub = strings.TrimPrefix(first.Sub+" · "+said, " · ")
	}
	return nil
}

// sumsOf is the last row of a table, with the sums of its columns.
func sumsOf(q *web.Request, t resources.Table, columns []resources.Column, rows []resources.Record, acts int) []web.Cell {
	if len(t.Sums) == 0 || len(rows) == 0 {
		return nil
	}
	foot := make([]web.Cell, 0, len(columns)+acts)
	for _, c := range columns {
		cell := web.Cell{Num: c.Kind.End()}
		if slices.Contains(t.Sums, c.Name) {
			var sum int64
			for _, r := range rows {
				sum += r.Number(c.Name)
			}
			cell.Text = q.Amount(sum)
		}
		foot = append(foot, cell)
	}
	if foot[0].Text == "" {
		foot[0] = web.Text(q.T("records.sum"))
	}
	return append(foot, make([]web.Cell, acts)...)
}

// events shows the latest events of the record; each leads to its timeline.
func (pages *Pages) events(ctx context.Context, q *web.Request, s shown, p *recordPage) error {
	id, err := uuid.Parse(s.id)
	if err != nil {
		return web.NoPage()
	}
	found, _, err := pages.Events.Tail(ctx, q.Caller, webhooks.TailQuery{EntityID: id, Limit: latest})
	if err != nil {
		return err
	}
	t := web.Table{
		Label: q.T("records.tab.events"), Columns: []web.Column{{Text: q.T("events.name")}, {Text: q.T("events.version"), Num: true}, {Text: q.T("audit.when")}, {Text: q.T("events.id")}},
		Empty: web.Empty{Title: q.T("records.events.none"), Text: q.T("records.events.none.text")},
	}
	for _, e := range found {
		at := q.Path("/events/" + e.ID.String())
		t.Rows = append(t.Rows, []web.Cell{web.LinkTo(e.Event, at), web.Number(strconv.FormatInt(e.Version, 10)), web.When(q.At(e.OccurredAt)), web.Code(e.ID.String(), at)})
	}
	p.Sections = []section{{Title: q.T("records.tab.events"), Table: t}}
	if len(found) > 0 {
		p.More = &web.Link{Text: q.T("events.of_record"), Href: web.With(q.Path("/events"), "entity", s.id)}
	}
	in := web.Input{Query: url.Values{"entityId": {s.id}, "start": {"oldest"}}}
	p.API = web.Shown{Curl: q.Curl("listEvents", in)}
	return nil
}

// requests shows the latest requests of tokens that were about the record.
func (pages *Pages) requests(ctx context.Context, q *web.Request, s shown, p *recordPage) error {
	in := web.Input{Query: url.Values{"entityId": {s.id}, "limit": {strconv.Itoa(latest)}}}
	page, err := web.Call[requests.Page](ctx, q, "listRequests", in)
	if err != nil {
		return err
	}
	p.API = q.Show("listRequests", in, page)
	t := web.Table{
		Label: q.T("records.tab.requests"),
		Columns: []web.Column{
			{Text: q.T("records.request")}, {Text: q.T("webhooks.answer")}, {Text: q.T("events.token")}, {Text: q.T("webhooks.took"), Num: true}, {Text: q.T("audit.when")},
		},
		Empty: web.Empty{Title: q.T("records.requests.none"), Text: q.T("records.requests.none.text")},
	}
	for _, r := range page.Items {
		kind := web.Good
		if r.Status >= http.StatusBadRequest {
			kind = web.Bad
		}
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(r.Method+" "+r.Route, q.Path("/go/"+r.ID.String())), web.State(kind, strconv.Itoa(int(r.Status))).With(record.OrZero(r.Code)), web.Text(r.TokenName),
			web.Number(q.T("unit.ms", r.DurationMs)), web.When(q.At(r.CreatedAt.Std())),
		})
	}
	p.Sections = []section{{Title: q.T("records.tab.requests"), Table: t}}
	return nil
}
