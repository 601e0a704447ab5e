// Package requests holds the pages on the request log: what the tokens of a company asked, how they were answered, and which errors
// repeat.
package requests

import (
	"context"
	"embed"
	"net/url"
	"regexp"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/events"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on the log.
const scope = "company"

// Service counts refused requests, for which the API has no operation.
type Service interface {
	Errors(ctx context.Context, by access.Caller, q requests.Query) (requests.ErrorGroups, error)
}

// Events reads the log by ids, which the API does not.
type Events interface {
	Tail(ctx context.Context, by access.Caller, q webhooks.TailQuery) ([]webhooks.Logged, uuid.UUID, error)
}

// Pages are the pages of the area.
type Pages struct {
	Requests Service
	Events   Events
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "requests", Templates: files, Routes: []web.Page{
		web.Get(web.Requests, scope, "/requests", pages.list),
		web.Get(web.Requests, scope, "/requests/errors", pages.errors),
		web.Get(web.Requests, scope, "/requests/{id}", pages.show),
	}}
}

type listPage struct {
	Header web.Header
	Tabs   []web.Tab
	Filter web.Filter
	Note   *web.Note
	Table  web.Table
	API    *web.Shown
}

func tabs(q *web.Request, query filters, errors bool) []web.Tab {
	return []web.Tab{
		{Text: q.T("requests.all"), Href: query.address(q, "/requests", ""), Current: !errors},
		{Text: q.T("requests.errors"), Href: query.address(q, "/requests/errors", ""), Current: errors},
	}
}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	in := filtersIn(q)
	names, err := pages.names(ctx, q, in)
	if err != nil {
		return web.Answer{}, err
	}
	p := listPage{Header: web.Header{Title: q.T("area.requests"), Facts: q.T("requests.intro")}, Tabs: tabs(q, in, false)}
	period := q.Period("dateFrom", "dateTo")
	query, err := in.query(period)
	var found requests.Page
	if err == nil && period.Valid() {
		found, err = web.Call[requests.Page](ctx, q, "listRequests", web.Input{Query: web.Query(query)})
	}
	p.Filter = in.form(q, "/requests", period, names, err)
	if known, ok := apierr.As(err); err != nil && (!ok || known.Status >= 500) {
		return web.Answer{}, err
	}
	p.Table = tableOf(q, found.Items)
	p.Table.Empty = web.Empty{Title: q.T("requests.none"), Text: q.T("requests.none.text"), Action: &web.Link{Text: q.T("area.quick_start"), Href: q.Path("/quick-start")}}
	if in.any() {
		p.Table.Empty = web.Empty{Title: q.T("requests.none_pass"), Text: q.T("requests.none_pass.text"), Action: &web.Link{Text: q.T("filter.clear"), Href: q.Path("/requests")}}
	}
	if found.NextCursor != nil {
		p.Table.Next = in.address(q, "/requests", *found.NextCursor)
	}
	if err == nil {
		shown := q.Show("listRequests", web.Input{Query: web.Query(query)}, found)
		p.API = &shown
	}
	return web.Show("requests/list", q.T("area.requests"), p), nil
}

// names reads what people call the tokens, and the record that is asked for. Of a record that no event names, it is the id.
func (pages *Pages) names(ctx context.Context, q *web.Request, in filters) (n names, err error) {
	n.record = in["entityId"]
	if n.tokens, err = web.CallAdmin[[]company.Token](ctx, q, "listTokens", web.Input{Query: url.Values{"includeRevoked": {"true"}}}); err != nil {
		return n, err
	}
	id, err := uuid.Parse(n.record)
	if err != nil || !q.Sees(web.Events) {
		return n, nil //nolint:nilerr // the field says that it is no id
	}
	found, _, err := pages.Events.Tail(ctx, q.Caller, webhooks.TailQuery{EntityID: id, Limit: 1})
	if err == nil && len(found) > 0 {
		n.record = events.RecordOf(q, found[0])
	}
	return n, err
}

func tableOf(q *web.Request, found []requests.Request) web.Table {
	t := web.Table{
		Label: q.T("area.requests"),
		Columns: []web.Column{
			{Text: q.T("requests.request")}, {Text: q.T("requests.answer")}, {Text: q.T("requests.code")}, {Text: q.T("requests.token")}, {Text: q.T("webhooks.took"), Num: true}, {Text: q.T("audit.when")},
		},
	}
	for _, r := range found {
		code := web.Text("")
		if r.Code != nil {
			code = web.LinkTo(*r.Code, web.With(q.Path("/requests"), "code", *r.Code))
		}
		request := web.LinkTo(r.Method+" "+brief(r), q.Path("/requests/"+r.ID.String()))
		if r.Represents > 1 {
			request = request.With(q.T("requests.represents", r.Represents))
		}
		t.Rows = append(t.Rows, []web.Cell{
			request, answer(r.Status), code, web.LinkTo(r.TokenName, q.Path("/tokens/"+r.TokenID.String())).With(r.Address),
			web.Number(q.T("unit.ms", r.DurationMs)), web.When(q.At(r.CreatedAt.Std())),
		})
	}
	return t
}

// answer is a status in its colour.
func answer(status int32) web.Cell {
	kind := web.Good
	switch {
	case status >= 500:
		kind = web.Bad
	case status >= 400:
		kind = web.Warn
	}
	return web.State(kind, strconv.Itoa(int(status)))
}

// pathOf is what was asked for: as it was sent, or its pattern where the person may not know.
func pathOf(r requests.Request) string {
	path := r.Route
	if r.Path != nil {
		path = *r.Path
	}
	return cut(path, 200)
}

var ids = regexp.MustCompile(`([0-9a-fA-F]{8})-[0-9a-fA-F-]{27}`)

// brief is the path as a table has room for it: with the beginnings of ids.
func brief(r requests.Request) string { return cut(ids.ReplaceAllString(pathOf(r), "$1…"), 60) }

func cut(text string, runes int) string {
	if all := []rune(text); len(all) > runes {
		return string(all[:runes]) + "…"
	}
	return text
}

type errorsPage struct {
	Header web.Header
	Tabs   []web.Tab
	Filter web.Filter
	Note   web.Note
	Table  web.Table
}

// errors counts the refused requests by their code.
func (pages *Pages) errors(ctx context.Context, q *web.Request) (web.Answer, error) {
	in := filtersIn(q)
	names, err := pages.names(ctx, q, in)
	if err != nil {
		return web.Answer{}, err
	}
	p := errorsPage{Header: web.Header{Title: q.T("area.requests"), Facts: q.T("requests.intro")}, Tabs: tabs(q, in, true)}
	period := q.Period("dateFrom", "dateTo")
	query, err := in.query(period)
	var found requests.ErrorGroups
	if err == nil && period.Valid() {
		found, err = pages.Requests.Errors(ctx, q.Caller, query)
	}
	p.Filter = in.form(q, "/requests/errors", period, names, err)
	if known, ok := apierr.As(err); err != nil && (!ok || known.Status >= 500) {
		return web.Answer{}, err
	}
	p.Note, p.Table = pages.groups(q, in, found)
	return web.Show("requests/errors", q.T("requests.errors"), p), nil
}

func (pages *Pages) groups(q *web.Request, in filters, found requests.ErrorGroups) (web.Note, web.Table) {
	t := web.Table{
		Label: q.T("requests.errors"),
		Columns: []web.Column{
			{Text: q.T("requests.code")}, {Text: q.T("requests.answer")}, {Text: q.T("requests.count"), Num: true}, {Text: q.T("requests.latest")}, {Text: q.T("audit.when")},
		},
		Empty: web.Empty{Title: q.T("requests.no_errors"), Text: q.T("requests.no_errors.text")},
	}
	total := int64(0)
	for _, g := range found.Groups {
		total += g.Count
		code, list := g.Code, in.with(map[string]string{"code": g.Code, "answer": ""})
		if code == "" {
			code, list["answer"] = q.T("requests.no_code"), "error"
		}
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(code, list.address(q, "/requests", "")), answer(g.Status), web.Number(strconv.FormatInt(g.Count, 10)),
			web.LinkTo(g.Latest.Method+" "+brief(g.Latest), q.Path("/requests/"+g.Latest.ID.String())).With(g.Latest.TokenName), web.When(q.At(g.Latest.CreatedAt.Std())),
		})
	}
	switch {
	case total == 0:
		return web.Note{}, t
	case found.More:
		return web.Note{Kind: web.Warn, Text: q.T("requests.errors.some", total)}, t
	}
	return web.Note{Kind: web.Warn, Text: q.T("requests.errors.total", total, len(found.Groups))}, t
}
