package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// headerKey is the header that makes a change happen once.
const headerKey = "X-Idempotency-Key"

// typed is what stands in the form of an operation.
type typed struct {
	params map[string]string // by In and Name, such as path-id
	body   string
	form   url.Values // the body as form fields; nil = as JSON
	sent   bool       // it comes from the form, and not from the example
}

func paramField(p httpapi.Shape) string { return p.In + "-" + p.Name }

// fieldsMode is the value of the parameter body that shows the body as form fields.
const fieldsMode = "fields"

// typedIn reads the form, or takes what was recorded of the operation. Of a parameter that stands in the address, that.
func typedIn(q *web.Request, op httpapi.Operation) typed {
	in := typed{params: map[string]string{}, body: strings.ReplaceAll(q.Form.Get("json"), "\r\n", "\n"), sent: q.HTTP.Method == http.MethodPost}
	if q.Form.Get("body") == fieldsMode && op.Body != nil {
		in.form = q.Form
	}
	var example httpapi.Example
	if all, err := q.Examples(op.ID); err == nil && len(all) > 0 {
		example = all[0]
	}
	if !in.sent && len(example.Body) > 0 {
		in.body = web.Pretty(example.Body)
	}
	for _, p := range op.Params {
		in.params[paramField(p)] = strings.TrimSpace(q.Form.Get(paramField(p)))
	}
	return in
}

// problem is what keeps a request from being sent: the fault of a field, by its name.
func (in typed) problem(q *web.Request, op httpapi.Operation) (field, fault string) {
	for _, p := range op.Params {
		value := in.params[paramField(p)]
		switch {
		case p.In != "path":
		case value == "":
			return paramField(p), q.T("explorer.required")
		case value == "." || value == ".." || strings.ContainsAny(value, `/\`):
			return paramField(p), q.T("explorer.path_wrong")
		}
	}
	return "", ""
}

// input is the request as the pages of the console write it.
func (in typed) input(q *web.Request, op httpapi.Operation) web.Input {
	out := web.Input{Path: map[string]string{}, Query: url.Values{}}
	for _, p := range op.Params {
		value := in.params[paramField(p)]
		switch {
		case value == "":
		case p.In == "path":
			out.Path[p.Name] = value
		case p.In == "query":
			out.Query.Set(p.Name, value)
		}
	}
	switch {
	case op.Body == nil:
	case in.form != nil:
		out.Body = q.BodyOf(web.Fields{Op: op, Raw: true}, in.form)
	case strings.TrimSpace(in.body) != "":
		out.Body = json.RawMessage(in.body)
	}
	return out
}

// raw is the body as it is sent: JSON that a person has typed goes out as it is, so that the API says what is wrong with it.
func (in typed) raw(input web.Input) []byte {
	switch v := input.Body.(type) {
	case nil:
		return nil
	case json.RawMessage:
		return v
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		return raw
	}
}

// result is what became of a request.
type result struct {
	Note    web.Note
	Line    string // what was sent
	Headers []web.Fact
	Body    string
	Log     string // the request in the log
}

// maxShown is how many bytes of an answer the page shows.
const maxShown = 256 << 10

func (pages *Pages) send(ctx context.Context, q *web.Request) (web.Answer, error) {
	op, ok := find(q, q.Form.Get("operation"))
	if !ok {
		return back(q), nil
	}
	in := typedIn(q, op)
	h, ok := pages.held(q)
	if !ok {
		a, err := pages.page(q, op, in, &result{Note: web.Note{Kind: web.Warn, Title: q.T("explorer.not_sent"), Text: q.T("explorer.no_token.text")}})
		return a.Refuse(), err
	}
	if field, _ := in.problem(q, op); field != "" {
		a, err := pages.page(q, op, in, nil)
		return a.Refuse(), err
	}
	if risky(q, op) && q.Form.Get("sure") == "" {
		a, err := pages.page(q, op, in, &result{Note: web.Note{Kind: web.Warn, Title: q.T("explorer.not_sent"), Text: q.T("explorer.sure.missing")}})
		return a.Refuse(), err
	}
	input := in.input(q, op)
	req := transport.Direct{Method: op.Method, Target: input.Target(op.Op), Header: map[string]string{}, Body: in.raw(input)}
	if req.Body != nil {
		req.Header["Content-Type"] = "application/json"
	}
	if op.Mutating() {
		if req.Header[headerKey] = in.params["header-"+headerKey]; !plain(req.Header[headerKey]) {
			req.Header[headerKey] = uuid.NewString()
		}
	}
	if match := in.params["header-If-Match"]; plain(match) {
		req.Header["If-Match"] = match
	}
	began := time.Now()
	pages.Tokens.ForgetTokens(q.Company.ID) // one that was revoked meanwhile works here no longer than elsewhere
	got := q.SendWithToken(ctx, h.Text, req)
	out := shown(q, got, time.Since(began))
	out.Line = req.Method + " " + req.Target
	return pages.page(q, op, in, out)
}

// risky reports whether a request changes records of a business.
func risky(q *web.Request, op httpapi.Operation) bool { return op.Mutating() && !q.Company.IsTest }

// shown prepares an answer for the page.
func shown(q *web.Request, a *transport.Answer, took time.Duration) *result {
	kind := web.Good
	switch {
	case a.Status >= 500:
		kind = web.Bad
	case a.Status >= 300:
		kind = web.Warn
	}
	out := &result{Note: web.Note{
		Kind: kind, Title: strconv.Itoa(a.Status) + " " + http.StatusText(a.Status), Text: q.T("explorer.took", max(took.Milliseconds(), 1), len(a.Body)),
	}}
	for name, values := range a.Header {
		out.Headers = append(out.Headers, web.Fact{Label: name, Cell: web.Code(strings.Join(values, ", "), "")})
	}
	slices.SortFunc(out.Headers, func(x, y web.Fact) int { return cmp.Compare(x.Label, y.Label) })
	if id, err := uuid.Parse(a.Header.Get("X-Request-Id")); err == nil {
		out.Log = q.Path("/requests/" + id.String())
	}
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	switch {
	case len(a.Body) == 0:
	case media == "application/json" && len(a.Body) <= maxShown:
		out.Body = web.Pretty(a.Body)
	default:
		out.Body = strings.ToValidUTF8(string(a.Body[:min(len(a.Body), maxShown)]), "")
		if len(a.Body) > maxShown {
			out.Body += "\n…"
		}
	}
	return out
}
