// Package explorer holds the pages that send requests to the API as a client does: with a token of the company, so that its scopes, its
// allowed addresses, rate limits and the request log apply. The sign-in of the person is never used for it.
package explorer

import (
	"context"
	"embed"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations on tokens.
const scope = "company"

// Tokens makes the token of the explorer. The operation of the admin API lets no token end after an hour.
type Tokens interface {
	IssueToken(ctx context.Context, tx *db.Tx, by access.Caller, in company.NewToken) (company.Issued, error)
	RevokeToken(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (company.Token, error)
	ForgetTokens(id tenant.ID)
}

// Pages are the pages of the area.
type Pages struct {
	Tokens Tokens
	Scopes []string     // all that there are
	Keys   *secret.Keys // seal the token that a browser keeps
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "explorer", Templates: files, Routes: []web.Page{
		web.Get(web.Explorer, scope, "/explorer", pages.open),
		web.Post(web.Explorer, scope, "/explorer/send", pages.send).AnyRole(),
		web.Post(web.Explorer, scope, "/explorer/token/use", pages.use).AnyRole(),
		web.Post(web.Explorer, scope, "/explorer/token/make", pages.makeToken),
		web.Post(web.Explorer, scope, "/explorer/token/forget", pages.forget).AnyRole(),
	}}
}

func (pages *Pages) open(ctx context.Context, q *web.Request) (web.Answer, error) {
	if id := q.Form.Get("operation"); id != "" {
		op, ok := find(q, id)
		if !ok {
			return web.Answer{}, web.NoPage()
		}
		in := typedIn(q, op)
		note, err := fromLog(ctx, q, op, &in)
		if err != nil {
			return web.Answer{}, err
		}
		var out *result
		if note != nil {
			out = &result{Note: *note}
		}
		return pages.page(q, op, in, out)
	}
	return pages.list(q, faults{}), nil
}

// find finds an operation that a person names.
func find(q *web.Request, id string) (httpapi.Operation, bool) {
	if !slices.ContainsFunc(q.Operations(), func(o httpapi.Op) bool { return o.ID == id && offered(o) }) {
		return httpapi.Operation{}, false
	}
	return q.Operation(id), true
}

type listPage struct {
	Header web.Header
	Token  tokenPart
	Filter web.Filter
	Tags   []tag
	None   bool
}

// tag is a part of the API with its operations.
type tag struct {
	Name  string
	Open  bool
	Table web.Table
}

func (pages *Pages) list(q *web.Request, f faults) web.Answer {
	text := strings.TrimSpace(q.Form.Get("find"))
	p := listPage{
		Header: web.Header{Title: q.T("area.explorer"), Facts: q.T("explorer.intro")}, Token: pages.tokenPart(q, "", f),
		Filter: web.Filter{Action: q.Path("/explorer"), Button: q.T("filter.search"), Fields: []web.Field{{Name: "find", Label: q.T("explorer.find"), Value: text, Autocomplete: "off"}}},
	}
	if text != "" {
		p.Filter.Clear = q.Path("/explorer")
	}
	for _, o := range q.Operations() {
		if !offered(o) || !matches(o, text) {
			continue
		}
		i := slices.IndexFunc(p.Tags, func(t tag) bool { return t.Name == o.Tag })
		if i < 0 {
			i = len(p.Tags)
			p.Tags = append(p.Tags, tag{Name: o.Tag, Open: text != "", Table: web.Table{
				Label: o.Tag, Columns: []web.Column{{Text: q.T("explorer.operation")}, {Text: q.T("explorer.summary")}, {Text: q.T("tokens.scopes")}},
			}})
		}
		p.Tags[i].Table.Rows = append(p.Tags[i].Table.Rows, []web.Cell{
			web.Code(o.Method+" "+o.Path, web.With(q.Path("/explorer"), "operation", o.ID)), web.Text(o.Summary), web.Code(needed(o), ""),
		})
	}
	p.None = len(p.Tags) == 0
	slices.SortStableFunc(p.Tags, func(x, y tag) int { return strings.Compare(x.Name, y.Name) })
	return web.Show("explorer/list", q.T("area.explorer"), p)
}

// offered reports whether the explorer can send a request. Files do not pass through it.
func offered(o httpapi.Op) bool { return o.Uploads == nil && o.Files == nil }

func matches(o httpapi.Op, text string) bool {
	all := strings.ToLower(o.Method + " " + o.Path + " " + o.ID + " " + o.Summary + " " + o.Tag)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// needed is the scope that an operation needs; "" = any token may call it.
func needed(o httpapi.Op) string {
	switch {
	case o.Scope == "":
		return ""
	case o.Method == http.MethodGet:
		return o.Scope + ":read"
	}
	return o.Scope + ":write"
}
