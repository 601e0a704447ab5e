package records

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

type listPage struct {
	Header   web.Header
	Tabs     []web.Tab // lists of the area
	Views    []web.Tab // saved views of the list
	Chips    []filterChip
	Adjust   web.Link // where filters and columns are chosen
	Search   string
	Searches bool     // the API searches the list
	Keep     []hidden // parameters that a search keeps
	Address  string
	Note     *web.Note
	Table    web.Table
	Save     *saveForm
	First    string // address of the first page; "" = this is it
	Exports  []web.Action
}

// hidden is a field of a form that nobody sees.
type hidden struct{ Name, Value string }

// list shows a page of a list. It calls the operation of the list once, reads the saved views of the list, and each directory that
// a column or a filter needs.
func (pages *Pages) list(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		in := listQueryOf(q, res)
		if in.untidy {
			return web.Go(in.address(q)), nil
		}
		p := listPage{Address: q.Path(res.Address), Tabs: pages.tabs(q, res), Search: in.query.Get("search"), Searches: in.searches, Keep: in.kept("search")}
		p.Adjust = web.Link{Text: q.T("records.adjust"), Href: q.Path(res.Address+"/filter") + in.encoded()}
		names := &directories{q: q}
		found, err := pages.read(ctx, q, res, in.forAPI(q))
		if p.Note = pages.noteOf(q, err); err != nil && p.Note == nil {
			return web.Answer{}, err
		}
		if p.Chips, err = pages.chips(ctx, q, in, names); err != nil {
			return web.Answer{}, err
		}
		if p.Table, err = pages.tableOf(ctx, q, res, in, found.Items, names); err != nil {
			return web.Answer{}, err
		}
		p.Header = web.Header{Title: res.Heading(q), Facts: countOf(q, found)}
		if p.Note != nil {
			p.Table.Empty = web.Empty{Title: q.T("records.none.unread"), Text: q.T("records.none.unread.text")}
		}
		if found.Next != "" {
			p.Table.Next = in.with("cursor", found.Next).address(q)
		}
		if in.query.Get("cursor") != "" {
			p.First = in.with("cursor", "").address(q)
		}
		pages.actions(q, res, in, &p)
		if err := pages.savedViews(ctx, q, res, in, &p); err != nil {
			return web.Answer{}, err
		}
		return web.Show("records/list", p.Header.Title, p), nil
	}
}

// found is a page of a list.
type found struct {
	Items []resources.Record
	Total *int64
	Next  string
}

func (pages *Pages) read(ctx context.Context, q *web.Request, res resources.Resource, query url.Values) (f found, err error) {
	raw, err := web.Call[web.JSON](ctx, q, res.List, web.Input{Query: query})
	if err != nil {
		return f, err
	}
	if res.Whole {
		return f, decode(raw, &f.Items)
	}
	var page struct {
		Items      []resources.Record `json:"items"`
		Total      *int64             `json:"total"`
		NextCursor *string            `json:"nextCursor"`
	}
	if err := decode(raw, &page); err != nil {
		return f, err
	}
	f = found{Items: page.Items, Total: page.Total}
	if page.NextCursor != nil {
		f.Next = *page.NextCursor
	}
	return f, nil
}

// noteOf says what is wrong with the filters; nil = the error is about something else.
func (pages *Pages) noteOf(q *web.Request, err error) *web.Note {
	known, ok := apierr.As(err)
	switch {
	case !ok:
		return nil
	case known.Code == list.TooExpensive:
		return &web.Note{Kind: web.Warn, Title: q.T("records.expensive"), Text: known.Message}
	case len(known.Fields) == 0:
		return nil
	}
	n := &web.Note{Kind: web.Bad, Title: q.T("records.refused")}
	for _, f := range known.Fields {
		n.Text += f.Message + ". "
	}
	return n
}

// countOf says how many records there are, as far as the API does.
func countOf(q *web.Request, f found) string {
	if f.Total == nil {
		return ""
	}
	return q.T("records.total", web.Decimal(strconv.FormatInt(*f.Total, 10)))
}

// tabs are the lists of an area, the page of another area that it begins with, and reports.
func (pages *Pages) tabs(q *web.Request, res resources.Resource) []web.Tab {
	var tabs []web.Tab
	for _, b := range beginnings {
		if b.area == res.Area {
			tabs = append(tabs, web.Tab{Text: q.T("records.begin." + string(b.area)), Href: q.Path(b.path)})
		}
	}
	for _, r := range pages.resources {
		if r.Area == res.Area {
			tabs = append(tabs, web.Tab{Text: r.Heading(q), Href: q.Path(r.Address), Current: r.Name == res.Name})
		}
	}
	for _, r := range pages.resources {
		if r.Area == res.Area && r.Report != "" && q.MayCall(r.Report) {
			tabs = append(tabs, web.Tab{Text: q.T("records.report", r.Heading(q)), Href: reportAt(q, r)})
		}
	}
	if len(tabs) == 1 {
		return nil
	}
	return tabs
}

// beginnings are the pages that other areas have in areas of this one.
var beginnings = []struct {
	area web.Area
	path string
}{{web.Deals, "/deals"}, {web.Bookings, "/bookings"}, {web.Warehouse, "/stock"}}

// tableOf shows records with the columns that are chosen.
func (pages *Pages) tableOf(ctx context.Context, q *web.Request, res resources.Resource, in listQuery, items []resources.Record, names *directories) (web.Table, error) {
	t := web.Table{Label: res.Heading(q), Empty: pages.empty(q, res, in)}
	for _, c := range in.columns {
		t.Columns = append(t.Columns, headOf(q, in, c))
	}
	for _, r := range items {
		row := make([]web.Cell, len(in.columns))
		for i, c := range in.columns {
			cell, err := pages.cell(ctx, q, c, r, names)
			if err != nil {
				return t, err
			}
			if row[i] = cell; i == 0 && cell.Href == "" && res.Page != "" {
				row[i] = leading(q, cell, q.Path(res.Page+"/"+web.Segment(r.Text("id"))))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// leading makes the first cell of a row lead to its record, whatever it has.
func leading(q *web.Request, c web.Cell, href string) web.Cell {
	switch {
	case c.At != nil:
		c = web.Text(c.At.Short())
	case c.Chip != nil:
		c = web.Text(c.Chip.Text)
	case c.Text == "":
		c.Text = q.T("records.unnamed")
	}
	c.Href, c.Num = href, false
	return c
}

// headOf is the head of a column, which sorts the list if the API does.
func headOf(q *web.Request, in listQuery, c resources.Column) web.Column {
	head := web.Column{Text: label(q, c), Num: c.Kind.End()}
	if len(in.columns) > 0 && in.columns[0].Name == c.Name {
		head.Num = false
	}
	if !slices.Contains(in.sorts, c.Name) {
		return head
	}
	current, order := in.query.Get("sort") == c.Name, in.query.Get("order")
	next := "asc"
	if !current && (c.Kind == resources.AsTime || c.Kind == resources.AsAmount || c.Kind == resources.AsNumber || c.Kind == resources.AsDate) {
		next = "desc" // the newest and the largest are what people look for
	}
	if current {
		if head.Sort = "ascending"; order == "desc" {
			head.Sort = "descending"
		} else {
			next = "desc"
		}
	}
	head.Href = in.with("cursor", "").with("sort", c.Name).with("order", next).address(q)
	return head
}

// label is the head of a column; amounts name their currency.
func label(q *web.Request, c resources.Column) string {
	if c.Kind == resources.AsAmount {
		return q.Label(c.Name) + ", " + q.Company.Currency
	}
	return q.Label(c.Name)
}

// empty says what to do to see records.
func (pages *Pages) empty(q *web.Request, res resources.Resource, in listQuery) web.Empty {
	if in.filtered() {
		return web.Empty{Title: q.T("records.none.filtered"), Text: q.T("records.none.filtered.text"), Action: &web.Link{Text: q.T("records.none.clear"), Href: in.cleared().address(q)}}
	}
	e := web.Empty{Title: q.T("records.none", res.Heading(q)), Text: q.T("records.none.text")}
	if res.Create != "" && q.Allows(res.Scope, true) {
		e.Text, e.Action = q.T("records.none.create"), &web.Link{Text: res.New(q), Href: q.Path(res.Address + "/new")}
	}
	return e
}

// actions are what one may do with the list.
func (pages *Pages) actions(q *web.Request, res resources.Resource, in listQuery, p *listPage) {
	if res.Create != "" && q.Allows(res.Scope, true) {
		p.Header.Links = append(p.Header.Links, web.Link{Text: res.New(q), Href: q.Path(res.Address + "/new")})
	}
	if !res.Export || !q.Allows("exports", true) || len(p.Table.Rows) == 0 {
		return
	}
	for _, format := range []string{"csv", "xlsx"} {
		p.Exports = append(p.Exports, web.Action{
			Text: q.T("records.export." + format), Post: q.Path(res.Address + "/export"), Values: map[string]string{"format": format, "query": in.values().Encode()},
		})
	}
}

// owner is who saves views; operators do not.
func owner(q *web.Request) (o accounts.Owner, ok bool) {
	return accounts.Owner{Company: q.Company.ID, User: q.Session.User}, !q.Person.Operator()
}
