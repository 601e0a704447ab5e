package records

import (
	"context"
	"net/url"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

type listPage struct {
	Header   web.Header
	Tabs     []web.Tab // lists of the area
	Views    []viewTab
	Counts   *counts // where the numbers of records of the views are read; nil = there are no views
	Searches bool    // the API searches the list
	Search   string
	Address  string
	Keep     []hidden // parameters that a search keeps
	Chips    []filterChip
	Adds     []web.Link // filters that can be added
	All      web.Link   // where all filters and columns are chosen
	Clear    string     // address without filters; "" = none is set
	Heights  []web.Tab  // of rows
	Note     *web.Note
	Table    listTable
	Total    string // how many records there are, as far as the API says
	Count    string // the same in words, with what they are
	Sums     string // address of what all records of the list add up to; "" = the API does not add them up
	Bulk     *bulkBar
	Outcome  *outcome
	Here     string // address of what is shown
	First    string // address of the first page; "" = this is it
	Save     *saveForm
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
		return pages.showList(ctx, q, in, nil)
	}
}

// showList is the page of a list; out is what a change of many records has done, nil = there was none.
func (pages *Pages) showList(ctx context.Context, q *web.Request, in listQuery, out *outcome) (web.Answer, error) {
	res := in.res
	p := listPage{
		Header: web.Header{Title: res.Heading(q)}, Address: q.Path(res.Address), Tabs: pages.tabs(q, res), Heights: heights(q, in),
		Search: in.query.Get("search"), Searches: in.searches, Keep: in.kept("search"),
		Here: in.address(q), Outcome: out,
		All: web.Link{Text: q.T("records.adjust"), Href: q.Path(res.Address+"/filter") + in.encoded()},
	}
	names := &directories{q: q}
	found, err := pages.read(ctx, q, res, in.forAPI(q))
	if p.Note = pages.noteOf(q, err); err != nil && p.Note == nil {
		return web.Answer{}, err
	}
	if p.Chips, err = pages.chips(ctx, q, in, names); err != nil {
		return web.Answer{}, err
	}
	if p.Table, err = pages.tableOf(ctx, q, in, found.Items, names); err != nil {
		return web.Answer{}, err
	}
	if p.Note != nil {
		p.Table.Empty = web.Empty{Title: q.T("records.none.unread"), Text: q.T("records.none.unread.text")}
	}
	if found.Total != nil {
		p.Total = q.Count(*found.Total)
		count := "records.count." + res.Name
		if q.Named(count, "") == "" {
			count = "records.count.any"
		}
		p.Count = q.T(count, p.Total)
	}
	if found.Next != "" {
		p.Table.Next = in.with("cursor", found.Next).address(q)
	}
	if in.query.Get("cursor") != "" {
		p.First = in.with("cursor", "").address(q)
	}
	if in.filtered() {
		p.Clear = in.cleared().address(q)
	}
	p.Adds = adds(q, in)
	pages.actions(q, res, in, &p)
	p.Bulk = bar(q, in, &p)
	if res.Totals != "" && len(p.Table.Rows) > 0 {
		p.Sums = q.Path(res.Address+"/sums") + in.with("cursor", "").encoded()
	}
	if err := pages.views(ctx, q, in, &p); err != nil {
		return web.Answer{}, err
	}
	return web.Show("records/list", p.Header.Title, p), nil
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
		err := decode(raw, &f.Items)
		f.Total = new(int64(len(f.Items)))
		return f, err
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
		return &web.Note{Kind: web.Warn, Title: q.T("records.expensive"), Text: q.Why(known)}
	case len(known.Fields) == 0:
		return nil
	}
	n := &web.Note{Kind: web.Bad, Title: q.T("records.refused")}
	for _, f := range known.Fields {
		n.Text += q.Label(f.Field) + ": " + q.FaultText(f) + " "
	}
	return n
}

// tabs are the lists of an area, the page of another area that it begins with, and reports.
func (pages *Pages) tabs(q *web.Request, res resources.Resource) []web.Tab {
	tabs := resources.Tabs(q, res.Area, res.Name)
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
		p.Header.Main = &web.Link{Text: res.New(q), Href: q.Path(res.Address + "/new")}
	}
	if len(p.Table.Rows) > 0 {
		for _, b := range bulkOf(q, res) {
			if b.Reprice {
				p.Header.Actions = append(p.Header.Actions, web.Action{Text: q.T("records.bulk." + b.Name), Post: q.Path(res.Address + "/bulk"), Values: map[string]string{"do": b.Name, "all": "1", "query": in.values().Encode()}})
			}
		}
	}
	if res.Import && q.MayCall("startImport") && q.Allows(res.Scope, true) {
		p.Header.Links = append(p.Header.Links, web.Link{Text: q.T("imports.link"), Href: q.Path(res.Address + "/import")})
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
