package records

import (
	"context"
	"net/url"
	"slices"

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
		if res.Lines != nil {
			return pages.compose(ctx, drafted(q, res))
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
	if typed == nil {
		begin(fields, res.Yes)
	}
	title := res.New(q)
	p := formPage{
		Header: web.Header{Title: title, Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}}},
		Form:   web.Form{Post: q.Path(res.Address + "/new"), Button: q.T("form.create"), Fields: fields, Hidden: map[string]string{"key": keyOf(typed, refusal)}},
		API:    web.Shown{Curl: q.Curl(c.Op, web.Input{Body: bodyOf(q, s, c, filled(fields, nil))})},
	}
	if refusal == nil {
		return web.Show("records/form", title, p), nil
	}
	p.Form.Fault = faultOf(q, fields, (*rowsForm)(nil), refusal)
	return web.Show("records/form", title, p).Refuse(), nil
}

// begin chooses yes where most people want it.
func begin(fields []web.Field, wanted []string) {
	for i := range fields {
		if f := &fields[i]; slices.Contains(wanted, f.Name) {
			f.Value = "true"
			for j := range f.Options {
				f.Options[j].Selected = f.Options[j].Value == f.Value
			}
		}
	}
}

// create makes a record, and leads to its page.
func (pages *Pages) create(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		switch {
		case res.Lines != nil && q.Form.Get(stepField) != "":
			return pages.compose(ctx, drafted(q, res))
		case res.Lines != nil:
			return pages.save(ctx, drafted(q, res))
		}
		c := creation(res)
		raw, err := web.Call[web.JSON](ctx, q, c.Op, web.Input{Key: idOr(q.Form.Get("key")), Body: bodyOf(q, shown{res: res}, c, q.Form)})
		if web.Refused(err) {
			return pages.creationForm(ctx, q, res, q.Form, err)
		}
		if err != nil {
			return web.Answer{}, err
		}
		return led(q, res, raw)
	}
}

// led leads to the page of a record that was made.
func led(q *web.Request, res resources.Resource, raw web.JSON) (web.Answer, error) {
	return ledTo(q, res, raw, "")
}

// ledTo leads to a page of a record that was made.
func ledTo(q *web.Request, res resources.Resource, raw web.JSON, page string) (web.Answer, error) {
	var made resources.Record
	if err := decode(raw, &made); err != nil {
		return web.Answer{}, err
	}
	if idOr(made.Text("id")) == "" {
		return web.Go(web.With(q.Path(res.Address), "done", "records")), nil
	}
	return web.Go(web.With(q.Path(res.Page+"/"+made.Text("id")+page), "done", "records")), nil
}
