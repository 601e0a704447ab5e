package explorer

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type operationPage struct {
	Header    web.Header
	About     string
	Token     tokenPart
	Live      *web.Note // what the request would change
	Sure      bool      // the person has to say so
	Ready     bool      // there is a token to send with
	Operation string
	Mode      string
	Post      string
	Params    fieldGroup
	Tabs      []web.Tab
	Body      fieldGroup
	Doc       web.Table
	Result    *result
	Curl      web.Snippet
}

// fieldGroup is a part of the form: what is filled in or has to be, and the rest, folded.
type fieldGroup struct{ Shown, Folded []web.Field }

// groupOf folds optional fields without a value.
func groupOf(fields []web.Field) (g fieldGroup) {
	for _, f := range fields {
		filled := f.Value != "" || slices.ContainsFunc(f.Options, func(o web.Option) bool { return o.Selected && o.Value != "" })
		if f.Required || f.Fault != "" || (filled && f.Label != headerKey) { // a key is made for each request
			g.Shown = append(g.Shown, f)
		} else {
			g.Folded = append(g.Folded, f)
		}
	}
	return g
}

// Any reports whether there are fields.
func (g fieldGroup) Any() bool { return len(g.Shown)+len(g.Folded) > 0 }

func (pages *Pages) page(q *web.Request, op httpapi.Operation, in typed, out *result) (web.Answer, error) {
	return pages.pageWith(q, op, in, out, faults{})
}

func (pages *Pages) pageWith(q *web.Request, op httpapi.Operation, in typed, out *result, f faults) (web.Answer, error) {
	if in.params == nil {
		in = typedIn(q, op)
	}
	p := operationPage{
		Header: web.Header{
			Title: op.Method + " " + op.Path, Facts: op.Summary, Crumbs: []web.Link{{Text: q.T("area.explorer"), Href: q.Path("/explorer")}},
			Chip: &web.Chip{Kind: web.Info, Text: q.T("explorer.test_company")},
		},
		About: strings.ReplaceAll(op.Description, "`", ""), Token: pages.tokenPart(q, op.ID, f), Operation: op.ID, Post: q.Path("/explorer/send"), Result: out,
		Curl: web.Snippet{ID: "curl", Title: q.T("explorer.curl"), Text: q.Curl(op.ID, in.input(q, op))},
	}
	p.Ready = p.Token.Forget != nil
	if !q.Company.IsTest {
		p.Header.Chip = &web.Chip{Kind: web.Warn, Text: q.T("explorer.live_company")}
	}
	if p.Sure = risky(q, op); p.Sure {
		p.Live = &web.Note{Kind: web.Warn, Title: q.T("explorer.live"), Text: q.T("explorer.live.text", q.Company.Name)}
	}
	if need := needed(op.Op); need != "" {
		p.Header.Facts += " · " + q.T("explorer.needs", need)
	}
	p.Params = groupOf(params(q, op, in))
	if op.Body != nil {
		pages.body(q, op, in, &p)
	}
	return web.Show("explorer/operation", op.Method+" "+op.Path, p), nil
}

func params(q *web.Request, op httpapi.Operation, in typed) []web.Field {
	badField, fault := "", ""
	if in.sent {
		badField, fault = in.problem(q, op)
	}
	var all []web.Field
	for _, s := range op.Params {
		name := paramField(s)
		f := web.Field{Name: name, Label: s.Name, Help: s.Doc, Value: in.params[name], Required: s.In == "path", Autocomplete: "off", MaxLength: s.MaxLength}
		if s.Name == headerKey {
			f.Value = uuid.NewString() // a request that is sent again is another one
		}
		if name == badField {
			f.Fault = fault
		}
		if len(s.Enum) > 0 {
			f.Type, f.Options = "select", []web.Option{{Text: q.T("filter.any")}}
			for _, v := range s.Enum {
				f.Options = append(f.Options, web.Option{Value: v, Text: v, Selected: v == f.Value})
			}
		}
		all = append(all, f)
	}
	return all
}

// body is the body as JSON, or as form fields, and what its fields mean.
func (pages *Pages) body(q *web.Request, op httpapi.Operation, in typed, p *operationPage) {
	fields := in.form != nil
	at := web.With(q.Path("/explorer"), "operation", op.ID)
	p.Tabs = []web.Tab{{Text: q.T("explorer.as_json"), Href: at, Current: !fields}, {Text: q.T("explorer.as_fields"), Href: at + "&body=" + fieldsMode, Current: fields}}
	if fields {
		p.Mode = fieldsMode
		of := web.Fields{Op: op, Value: []byte(in.body), Raw: true}
		if in.sent {
			of.Typed = in.form
		}
		p.Body = groupOf(q.FieldsOf(of))
	} else {
		p.Body.Shown = []web.Field{{Name: "json", Label: q.T("explorer.body"), Type: "json", Value: in.body}}
	}
	p.Doc = web.Table{Label: q.T("explorer.fields"), Columns: []web.Column{{Text: q.T("explorer.field")}, {Text: q.T("explorer.type")}, {Text: q.T("explorer.means")}}}
	p.Doc.Rows = web.ShapeRows(q, op.Body)
}
