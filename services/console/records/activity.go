package records

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/audit"
)

// Changes is the record of who changed what. The operation of the admin API is for operators, and not for people of a company.
type Changes interface {
	Changes(ctx context.Context, by access.Caller, f audit.Filter) (*list.Page[audit.Change], error)
}

// activity shows what people have changed of the record, newest first.
func (pages *Pages) activity(ctx context.Context, q *web.Request, s shown, p *recordPage) error {
	found, err := pages.Changes.Changes(ctx, q.Caller, audit.Filter{Params: list.Params{PageSize: latest}, CompanyID: &q.Company.ID, EntityID: s.id})
	if err != nil {
		return err
	}
	p.Told, err = pages.Tell(ctx, q, found.Items)
	p.Untold = web.Empty{Title: q.T("activity.none"), Text: q.T("activity.none.record")}
	if found.NextCursor != nil {
		p.More = &web.Link{Text: q.T("activity.all"), Href: web.With(q.Path("/audit"), "entity", s.id)}
	}
	p.API = web.Shown{}
	return err
}

// Latest says in words which records people have changed last in the company, newest first, up to n. Sign-ins and the like are left out:
// there are fewer than n if most of the latest entries are such.
func (pages *Pages) Latest(ctx context.Context, q *web.Request, n int) ([]web.Told, error) {
	found, err := pages.Changes.Changes(ctx, q.Caller, audit.Filter{Params: list.Params{PageSize: 4 * n}, CompanyID: &q.Company.ID})
	if err != nil {
		return nil, err
	}
	of := slices.DeleteFunc(found.Items, func(c audit.Change) bool { return pages.madeBy(q, c.Operation).one == "" })
	return pages.Tell(ctx, q, of[:min(len(of), n)])
}

// Tell says in words what was changed, by whom and when.
func (pages *Pages) Tell(ctx context.Context, q *web.Request, changes []audit.Change) (told []web.Told, err error) {
	names := &directories{q: q}
	for _, c := range changes {
		t := web.Told{At: q.At(c.CreatedAt.Std()), By: c.Operator, Operation: c.Operation, Entity: record.OrZero(c.EntityID), Sent: web.Pretty([]byte(record.OrZero(c.Body)))}
		if c.UserID != nil {
			name, err := names.name(ctx, "actorId", c.UserID.String())
			if err != nil {
				return nil, err
			}
			if name != "" && name != c.UserID.String() {
				t.By = name
			}
		}
		of := pages.madeBy(q, c.Operation)
		if t.Fields, err = pages.changed(ctx, q, of, c, names); err != nil {
			return nil, err
		}
		if of.res.Page != "" && t.Entity != "" && !of.part {
			t.Href = pages.recordPath(q, of.res.Name, t.Entity)
		}
		said, whole := of.said(q, record.OrZero(c.Name), t.Fields)
		if t.Text = said; whole {
			t.Fields = nil
		}
		told = append(told, t)
	}
	return told, nil
}

// deed is what an operation does.
type deed struct {
	verb   string // made, edited, removed or done
	res    resources.Resource
	part   bool             // it changes a part of the record, such as a payment, which is what the change is of
	one    string           // what people call the record without its name
	what   string           // what is done to it, of the verb done
	other  bool             // it makes another record, such as a shipment, whose number the change has
	shapes []*httpapi.Shape // objects that may have the fields of a change, in the order in which they are asked
}

// shape describes a field of a change.
func (d deed) shape(name string) (httpapi.Shape, bool) {
	for _, s := range d.shapes {
		if f, ok := s.Field(name); ok {
			return f, true
		}
	}
	return httpapi.Shape{}, false
}

// madeBy finds out what an operation does.
func (pages *Pages) madeBy(q *web.Request, operation string) deed {
	for _, res := range pages.resources {
		d := deed{res: res, one: res.One(q)}
		var whole *httpapi.Shape
		if res.Get != "" {
			whole = q.Operation(res.Get).Answer
			d.shapes = []*httpapi.Shape{whole}
		}
		if operation == res.Create && operation != "" {
			d.verb = "made"
			return d
		}
		for _, c := range res.Commands {
			if c.Op != operation {
				continue
			}
			op := q.Operation(operation)
			d.part = c.Param != "" && c.Table != "" || c.AddsTo != ""
			d.other = op.Method == http.MethodPost && another(op.Answer, whole)
			if d.shapes = append(d.shapes, op.Body); d.part || d.other {
				d.shapes = []*httpapi.Shape{op.Answer, op.Body}
			}
			if d.verb = "done"; c.Name == "edit" {
				d.verb = "edited"
			}
			if d.what = q.T("records.do." + c.Name); c.ForEach != "" {
				d.what = q.T("activity.moved")
			}
			return d
		}
	}
	for _, dir := range resources.Directories() {
		for _, of := range append([]resources.Directory{dir}, dir.Parts...) {
			if verb := verbs[slices.Index([]string{of.Create, of.Update, of.Remove}, operation)+1]; verb != "" {
				return deed{verb: verb, one: q.T("directory." + of.Name), shapes: []*httpapi.Shape{q.AdminOperation(of.Get).Answer}}
			}
		}
	}
	d := deed{verb: "done", what: q.Named("operation."+operation, operation)}
	if slices.ContainsFunc(q.Operations(), func(op httpapi.Op) bool { return op.ID == operation }) {
		op := q.Operation(operation)
		d.shapes = []*httpapi.Shape{op.Answer, op.Body}
	}
	return d
}

// another reports whether an operation answers with an object of another kind than a record.
func another(answer, of *httpapi.Shape) bool {
	if answer == nil || of == nil || answer.Type != "object" {
		return false
	}
	return !slices.EqualFunc(answer.Fields, of.Fields, func(a, b httpapi.Shape) bool { return a.Name == b.Name })
}

// verbs are those of the operations of a directory; the first is of others.
var verbs = []string{"", "made", "edited", "removed"}

// said is the deed in a sentence, and whether that has all that was changed.
func (d deed) said(q *web.Request, name string, fields []web.ToldField) (text string, whole bool) {
	if d.other && name != "" {
		return q.T("activity.done", d.one, q.T("records.numbered", d.what, name)), false
	}
	of := strings.TrimSpace(d.one + " " + name)
	if d.res.Title == "number" && name != "" && !d.part {
		of = q.T("records.numbered", d.one, name)
	}
	switch {
	case of == "":
		return d.what, false
	case len(fields) == 1 && fields[0].Before != "" && d.verb != "removed":
		return q.T("activity.one", fields[0].Name, of, fields[0].Before, fields[0].After), true
	case d.verb != "done":
		return q.T("activity."+d.verb, of), false
	}
	return q.T("activity.done", of, d.what), false
}

// followers are fields that follow from any change, or that are for machines.
var followers = []string{"version", "updatedAt", "createdAt", "id", "companyId", "searchText", "allowedTransitions"}

// changed are the fields of a change with what they were and are. What was sent stands for what is, where that is not known.
func (pages *Pages) changed(ctx context.Context, q *web.Request, d deed, c audit.Change, names *directories) (all []web.ToldField, err error) {
	before, after := fieldsOf(c.Before), fieldsOf(c.After)
	if after == nil {
		after = fieldsOf(c.Body)
	}
	if d.verb == "removed" && c.After == nil && c.Body == nil {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if slices.Contains(followers, name) || slices.Contains(machines, name) {
			continue
		}
		f := web.ToldField{Name: q.Label(name)}
		if f.Before, err = pages.text(ctx, q, d, before, name, names); err != nil {
			return nil, err
		}
		if f.After, err = pages.text(ctx, q, d, after, name, names); err != nil {
			return nil, err
		}
		if f.Before != f.After {
			all = append(all, f)
		}
	}
	return all, nil
}

// text is a field of a change for people: by its kind in the record, or else as it is. An id is named where a directory knows it.
func (pages *Pages) text(ctx context.Context, q *web.Request, d deed, r resources.Record, name string, names *directories) (string, error) {
	if _, object := r[name].(map[string]any); object || r[name] == nil {
		return "", nil
	}
	c := resources.Column{Name: name}
	if shape, ok := d.shape(name); ok {
		c.Kind, _ = kindOf(shape)
	}
	if _, entry := resources.ChoicesOf(name); entry {
		c.Kind = resources.AsEntry
	}
	cell, err := pages.cell(ctx, q, c, r, names)
	switch _, list := r[name].([]any); {
	case err != nil:
		return "", err
	case cell.Chip != nil:
		return cell.Chip.Text, nil
	case cell.At != nil:
		return cell.At.Short(), nil
	case list && len(r.Records(name)) > 0:
		return q.T("activity.entries", len(r.Records(name))), nil
	case cell.Code || uuid.Validate(cell.Text) == nil:
		return "", nil // an id that has no name
	}
	return cell.Text, nil
}

// fieldsOf are the fields of an object in JSON; nil = it is none.
func fieldsOf(raw *string) (fields resources.Record) {
	if raw == nil || decode([]byte(*raw), &fields) != nil {
		return nil
	}
	return fields
}
