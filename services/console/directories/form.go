package directories

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type formPage struct {
	Header web.Header
	Form   web.Form
}

// maxChoices is how many records a field offers; a directory with more is no directory.
const maxChoices = 200

// choices are the records that a field refers to.
func (pages *Pages) choices(ctx context.Context, q *web.Request, from string) ([]web.Option, error) {
	var raw web.JSON
	var err error
	if from == resources.OfResources {
		options, err := pages.choices(ctx, q, "resources")
		return slices.Insert(options, 0, web.Option{Text: q.T("directories.all")}), err
	}
	d, ok := byName(from)
	page := url.Values{"pageSize": {strconv.Itoa(maxChoices)}}
	switch {
	case ok && d.Paged:
		raw, err = web.CallAdmin[web.JSON](ctx, q, d.List, web.Input{Query: page})
	case ok:
		raw, err = web.CallAdmin[web.JSON](ctx, q, d.List, web.Input{Query: d.Query})
	case from == resources.OfUsers:
		raw, err = web.CallAdmin[web.JSON](ctx, q, "listUsers", web.Input{})
	case from == resources.OfServices:
		d.Paged = true
		raw, err = web.Call[web.JSON](ctx, q, "listServices", web.Input{Query: page})
	default:
		raw, err = web.Call[web.JSON](ctx, q, "listCategories", web.Input{})
	}
	if known, refused := apierr.As(err); refused && known.Status == http.StatusForbidden {
		return []web.Option{}, nil // the company has no such component, or the person may not see it: ids are shown as they are
	}
	if err != nil {
		return nil, err
	}
	found, err := pageOf(d, raw)
	options := make([]web.Option, 0, len(found.items))
	for _, e := range found.items {
		text := e.title()
		if text == "" {
			text = e.text("email")
		}
		options = append(options, web.Option{Value: e.id(), Text: text})
	}
	return options, err
}

// fields prepare the form of an operation.
func (pages *Pages) fields(ctx context.Context, q *web.Request, p place, operation string) (web.Fields, error) {
	f := web.Fields{Op: q.AdminOperation(operation), But: slices.Concat(p.But, []string{p.Owner}), Pick: map[string][]web.Option{}, Texts: "directory." + p.Name}
	if p.Ordered {
		f.But = append(f.But, "sortOrder") // the list has it
	}
	if operation == p.Update {
		f.But = append(f.But, p.Fixed...)
		if p.Active {
			f.But = append(f.But, "isActive") // a button of its own says what will happen
		}
	}
	for field, from := range p.Pick {
		options, err := pages.choices(ctx, q, from)
		if err != nil {
			return f, err
		}
		f.Pick[field] = options
	}
	return f, nil
}

func (pages *Pages) newForm(ctx context.Context, q *web.Request, p place) (web.Answer, error) {
	f, err := pages.fields(ctx, q, p, p.Create)
	if err != nil {
		return web.Answer{}, err
	}
	f.Value = firstValues(f)
	return pages.formOf(ctx, q, p, f)
}

// firstValues has the defaults that people would else have to know: a new entry is in use.
func firstValues(f web.Fields) json.RawMessage {
	if f.Op.Body == nil {
		return nil
	}
	first := map[string]any{}
	for _, s := range f.Op.Body.Fields {
		switch {
		case s.Name == "isActive":
			first[s.Name] = true
		case s.Name == "component":
			first[s.Name] = "deals"
		case s.Type == "boolean":
			first[s.Name] = false
		}
	}
	raw, err := json.Marshal(first)
	if err != nil {
		return nil
	}
	return raw
}

// formOf is the page on which an entry is made.
func (pages *Pages) formOf(ctx context.Context, q *web.Request, p place, f web.Fields) (web.Answer, error) {
	title := q.T("directory." + p.Name + ".new")
	crumbs, err := pages.crumbs(ctx, q, p)
	if err != nil {
		return web.Answer{}, err
	}
	form := web.Form{Post: p.address(q, "/new"), Button: q.T("directories.create"), Fields: p.fieldsOf(q, f)}
	if len(form.Fields) > 0 {
		form.Fields[0].Focus = f.Err == nil
	}
	form.Fault = q.FormFault(f.Err, form.Fields)
	return web.Show("directories/form", title, formPage{web.Header{Title: title, Crumbs: crumbs}, form}), nil
}

// crumbs lead back to the list, and to the entry that a part belongs to.
func (pages *Pages) crumbs(ctx context.Context, q *web.Request, p place) ([]web.Link, error) {
	crumbs := []web.Link{{Text: q.T("area.directories"), Href: q.Path("/directories")}}
	if p.of == nil {
		return append(crumbs, web.Link{Text: q.T("directory." + p.Name), Href: p.address(q, "")}), nil
	}
	owner, err := pages.entry(ctx, q, place{Directory: *p.of}, p.owner)
	if err != nil {
		return nil, err
	}
	return append(crumbs, web.Link{Text: q.T("directory." + p.of.Name), Href: q.Path("/directories/" + p.of.Name)}, web.Link{Text: owner.title(), Href: p.back(q)}), nil
}

// entry reads an entry.
func (pages *Pages) entry(ctx context.Context, q *web.Request, p place, id string) (e entry, err error) {
	raw, err := web.CallAdmin[web.JSON](ctx, q, p.Get, web.Input{Path: p.path(id)})
	if apierr.Is(err, "VALIDATION_ERROR") {
		return e, web.NoPage() // the id is none
	}
	if err != nil {
		return e, err
	}
	return e, web.Decode(raw, &e)
}

func (pages *Pages) create(ctx context.Context, q *web.Request, p place) (web.Answer, error) {
	f, err := pages.fields(ctx, q, p, p.Create)
	if err != nil {
		return web.Answer{}, err
	}
	body := p.bodyOf(q, f)
	in := web.Input{Body: body}
	if p.of != nil {
		if _, err := pages.entry(ctx, q, place{Directory: *p.of}, p.owner); err != nil {
			return web.Answer{}, err // the API would first look at the input
		}
		in.Path = map[string]string{"id": p.owner}
		if p.Owner != "" {
			body[p.Owner] = p.owner
		}
	}
	if p.Ordered {
		last, err := pages.lastOrder(ctx, q, p)
		if err != nil {
			return web.Answer{}, err
		}
		body["sortOrder"] = last + 1 // a new one is the last
	}
	raw, err := web.CallAdmin[web.JSON](ctx, q, p.Create, in)
	if refused(err) {
		f.Typed, f.Err = q.Form, err
		a, err := pages.formOf(ctx, q, p, f)
		return a.Refuse(), err
	}
	if err != nil {
		return web.Answer{}, err
	}
	var made entry
	if err := web.Decode(raw, &made); err != nil {
		return web.Answer{}, err
	}
	to := p.back(q)
	if len(p.Parts) > 0 || p.Name == "price-lists" || p.Name == "resources" { // there is more to set up
		to = p.address(q, "/"+made.id())
	}
	return web.Go(web.With(to, "done", "created")), nil
}

// refused reports whether the API said what is wrong with an input.
func refused(err error) bool {
	known, ok := apierr.As(err)
	return ok && known.Status < http.StatusInternalServerError && known.Status != http.StatusNotFound && known.Status != http.StatusForbidden
}

// partsOf are the entries of a part.
func (pages *Pages) partsOf(ctx context.Context, q *web.Request, p place) ([]entry, error) {
	owner, err := pages.entry(ctx, q, place{Directory: *p.of}, p.owner)
	if err != nil {
		return nil, err
	}
	return owner.parts(p.Field)
}

func (e entry) parts(field string) (all []entry, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(e.raw, &fields); err != nil {
		return nil, err
	}
	if len(fields[field]) > 0 {
		err = json.Unmarshal(fields[field], &all)
	}
	return all, err
}

// lastOrder is the sortOrder of the last entry.
func (pages *Pages) lastOrder(ctx context.Context, q *web.Request, p place) (last int64, err error) {
	all, err := pages.all(ctx, q, p)
	for _, e := range all {
		last = max(last, e.number("sortOrder"))
	}
	return last, err
}

// typed is a form without what only the page needs.
func typed(form url.Values) url.Values {
	clean := maps.Clone(form)
	clean.Del("version")
	return clean
}
