package records

import (
	"context"
	"net/http"
	"net/url"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// creation is the command that makes a record of a list.
func creation(res resources.Resource) resources.Command {
	return resources.Command{Name: res.Name, Op: res.Create, Form: true, Fields: res.Asks}
}

// newForm asks for what a new record needs. It reads each directory that a field needs.
func (pages *Pages) newForm(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		if !q.MayCall(res.Create) {
			return web.Go(q.Path(res.Address)), nil // where nothing offers the form
		}
		return pages.creationForm(ctx, q, res, nil, nil)
	}
}

func (pages *Pages) creationForm(ctx context.Context, q *web.Request, res resources.Resource, typed url.Values, refusal error) (web.Answer, error) {
	c, s := creation(res), shown{res: res, names: &directories{q: q}}
	fields, err := pages.fieldsOf(ctx, q, s, c, draft{typed: typed}, refusal)
	if err != nil {
		return web.Answer{}, err
	}
	title := res.New(q)
	lines := (*linesFields)(res.Lines).form(q, typed, refusal)
	p := formPage{
		Header: web.Header{Title: title, Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}}},
		Form:   web.Form{Post: q.Path(res.Address + "/new"), Button: title, Fields: fields, Hidden: map[string]string{"key": keyOf(typed, refusal)}},
		Lines:  lines,
		API:    web.Shown{Curl: q.Curl(c.Op, web.Input{Body: bodyOf(q, s, c, filled(fields, nil))})},
	}
	if refusal == nil {
		return web.Show("records/form", title, p), nil
	}
	p.Form.Fault = faultOf(q, fields, lines, refusal)
	return web.Show("records/form", title, p).Refuse(), nil
}

// create makes a record, and leads to its page.
func (pages *Pages) create(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		raw, err := pages.made(ctx, q, res)
		if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
			return pages.creationForm(ctx, q, res, q.Form, err)
		}
		if err != nil {
			return web.Answer{}, err
		}
		var made resources.Record
		if err := decode(raw, &made); err != nil {
			return web.Answer{}, err
		}
		if idOr(made.Text("id")) == "" {
			return web.Go(web.With(q.Path(res.Address), "done", "records")), nil
		}
		return web.Go(web.With(q.Path(res.Page+"/"+made.Text("id")), "done", "records")), nil
	}
}

// made calls the operation that makes a record.
func (pages *Pages) made(ctx context.Context, q *web.Request, res resources.Resource) (web.JSON, error) {
	c := creation(res)
	body := bodyOf(q, shown{res: res}, c, q.Form)
	if res.Lines != nil {
		items, err := (*linesFields)(res.Lines).items(ctx, q, q.Form)
		if err != nil {
			return nil, err
		}
		body[res.Lines.Field] = items
	}
	return web.Call[web.JSON](ctx, q, c.Op, web.Input{Key: idOr(q.Form.Get("key")), Body: body})
}
