package records

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// has reports whether the catalog has a text.
func has(q *web.Request, key string) bool { return q.T(key) != key }

// button is a command of a record as it is: a link to its form, or an action where nothing is to be filled in.
type button struct {
	name   string // of the command, with the value of ForEach behind a point
	link   *web.Link
	action *web.Action
}

func (pages *Pages) buttons(q *web.Request, s shown) (all []button) {
	for _, c := range s.res.Commands {
		if c.Table+c.AddsTo != "" || c.When != nil && !c.When(s.record) || !q.MayCall(c.Op) {
			continue
		}
		switch {
		case c.Page != "":
			all = append(all, button{name: c.Name, link: &web.Link{Text: q.T("records.do." + c.Name), Href: s.address(q) + c.Page}})
		case c.Form:
			all = append(all, button{name: c.Name, link: &web.Link{Text: q.T("records.do." + c.Name), Href: s.address(q) + "/do/" + c.Name}})
		case c.ForEach != "":
			for _, v := range s.record.Texts(c.ForEach) {
				a := action(q, s, c, s.record.Text("version"), v)
				if a.Text = q.T("records.do."+c.Name, q.InlineWord(v)); has(q, "records.do."+c.Name+"."+v) {
					a.Text = q.T("records.do." + c.Name + "." + v)
				}
				all = append(all, button{name: c.Name + "." + v, action: &a})
			}
		default:
			a := action(q, s, c, s.record.Text("version"), "")
			all = append(all, button{name: c.Name, action: &a})
		}
	}
	return all
}

// action is the button of a command without fields. One that cannot be taken back says first what will happen.
func action(q *web.Request, s shown, c resources.Command, version, target string) web.Action {
	a := web.Action{
		ID: strings.TrimSuffix("do-"+c.Name+"-"+target, "-"), Text: q.T("records.do." + c.Name), Post: s.address(q) + "/do/" + c.Name,
		Values: map[string]string{"version": version, "key": uuid.NewString(), "part": target},
	}
	if c.Danger || resources.Over(target) {
		a.Kind = "danger"
	}
	key := "records.confirm." + c.Name
	if c.ForEach != "" {
		key += "." + target
	}
	if has(q, key) {
		a.Confirm = q.T(key)
	}
	return a
}

// rowCommands are the commands of the rows of a table that the person may give.
func (pages *Pages) rowCommands(q *web.Request, res resources.Resource, t resources.Table) (all []resources.Command) {
	for _, c := range res.Commands {
		if c.Table == t.Name && q.MayCall(c.Op) {
			all = append(all, c)
		}
	}
	return all
}

// rowCommand is the button of a command in a row; an empty cell where the row does not have the command.
func (pages *Pages) rowCommand(q *web.Request, s shown, c resources.Command, r resources.Record) web.Cell {
	if c.When != nil && !c.When(r) {
		return web.Cell{}
	}
	if c.Form {
		return web.LinkTo(q.T("records.do."+c.Name), web.With(s.address(q)+"/do/"+c.Name, "part", r.Text("id"), "version", r.Text("version")))
	}
	a := action(q, s, c, r.Text("version"), r.Text("id"))
	a.Small = true
	return web.Do(a)
}

// additions are links to the forms that add rows to a table.
func (pages *Pages) additions(q *web.Request, s shown, t resources.Table) (links []web.Link) {
	for _, c := range s.res.Commands {
		if c.AddsTo == t.Name && q.MayCall(c.Op) {
			links = append(links, web.Link{Text: q.T("records.do." + c.Name), Href: s.address(q) + "/do/" + c.Name})
		}
	}
	return links
}

type formPage struct {
	Header web.Header
	Intro  string
	Form   web.Form
	Rows   *rowsForm
	API    web.Shown
}

// form asks for what a command needs. It reads the record, and each directory that a field needs.
func (pages *Pages) form(res resources.Resource, c resources.Command) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		s, err := pages.find(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		if !q.MayCall(c.Op) {
			return web.Go(s.address(q)), nil // where nothing offers the form
		}
		if c.Table == "" && c.When != nil && !c.When(s.record) {
			return pages.page(ctx, q, s, "", &web.Note{Kind: web.Warn, Title: q.T("records.not_now"), Text: q.T("records.not_now.text")})
		}
		if composes(s, c) {
			return pages.compose(ctx, opened(q, s, c))
		}
		d := draft{version: s.record.Text("version"), target: q.Form.Get("part")}
		if c.Table != "" {
			if d.target == "" {
				return web.Go(web.With(s.address(q), "tab", c.Table)), nil // where the rows are
			}
			d.version = q.Form.Get("version")
		}
		if err := pages.prepare(ctx, q, &s, c, d.target); err != nil {
			return web.Answer{}, err
		}
		if s.row != nil {
			d.version = s.row.Text("version") // of what the form shows
		}
		return pages.commandForm(ctx, q, s, c, d, nil)
	}
}

// Faults are those of all fields of the form.
func (p formPage) Faults() web.Faults {
	return web.FaultsOf(p.Form.Fault, p.Rows.fields(), p.Form.Fields)
}

// draft is what a form has that was not sent yet, or was refused.
type draft struct {
	version, target string
	typed           url.Values
}

// headingOf is the heading of a form: what the command does, and for an edit also what is edited.
func headingOf(q *web.Request, s shown, c resources.Command) string {
	if c.Name == "edit" {
		return q.T("records.editing", titleOf(q, s.res, s.record))
	}
	return q.T("records.do." + c.Name)
}

// commandForm shows the form of a command, with what was typed and with what the API says of it.
func (pages *Pages) commandForm(ctx context.Context, q *web.Request, s shown, c resources.Command, d draft, refusal error) (web.Answer, error) {
	fields, err := pages.fieldsOf(ctx, q, s, c, d, refusal)
	if err != nil {
		return web.Answer{}, err
	}
	for i, f := range fields {
		due := c.Due[f.Name]
		if due == nil || d.typed != nil {
			continue
		}
		if n := due(s.record, s.row); n != 0 {
			fields[i].Value = q.Decimal(n)
		}
	}
	title := q.T("records.do." + c.Name)
	p := formPage{
		Header: web.Header{Title: headingOf(q, s, c), Crumbs: []web.Link{{Text: s.res.Heading(q), Href: q.Path(s.res.Address)}, {Text: titleOf(q, s.res, s.record), Href: s.address(q)}}},
		Form:   web.Form{Post: s.address(q) + "/do/" + c.Name, Button: title, Fields: fields, Hidden: map[string]string{"version": d.version, "part": d.target, "key": keyOf(d.typed, refusal)}},
		Rows:   rowsOf(q, s, c, d.typed, refusal),
	}
	p.API.Curl = q.Curl(c.Op, web.Input{Path: pathOf(s, c, d.target), Body: bodyOf(q, s, c, filled(fields, p.Rows))})
	if c.Danger {
		p.Form.Kind = "danger"
	}
	if q.Operation(c.Op).Method == http.MethodPatch {
		p.Form.Button = q.T("form.save")
	}
	if has(q, "records.confirm."+c.Name) {
		p.Intro = q.T("records.confirm." + c.Name)
	}
	if c.Attributes != nil && len((*attributeFields)(c.Attributes).of(s)) == 0 {
		p.Intro = q.T("records.attributes.none")
	}
	answer := web.Show("records/form", title, p)
	if refusal != nil {
		p.Form.Fault = faultOf(q, fields, p.Rows, refusal)
		answer = web.Show("records/form", title, p).Refuse()
	}
	return answer, nil
}

// filled is the form as it would be sent.
func filled(fields []web.Field, rows *rowsForm) url.Values {
	form := url.Values{}
	for _, f := range fields {
		form.Set(f.Name, f.Value)
	}
	if rows != nil {
		for _, r := range rows.Rows {
			form.Set(r.Name, r.Field.Value)
		}
	}
	return form
}

// faultOf is what a refusal says of the form as a whole.
func faultOf(q *web.Request, fields []web.Field, rows interface{ shows(fault string) bool }, err error) string {
	known, ok := apierr.As(err)
	if !ok {
		return ""
	}
	if known.Status == http.StatusPreconditionFailed {
		return q.T("form.changed")
	}
	if _, ok := rows.(*rowsForm); ok && len(known.Fields) == 0 && rows.shows("") {
		return "" // it is about the lines
	}
	if len(known.Fields) == 0 {
		if slices.ContainsFunc(fields, func(field web.Field) bool { return field.Fault != "" && field.Fault == q.FaultOf(err, field.Name) }) {
			return ""
		}
		return q.Why(known)
	}
	var left []string
	for _, f := range known.Fields {
		text := q.FaultText(f)
		if !slices.ContainsFunc(fields, func(field web.Field) bool { return field.Name == f.Field && field.Fault == text }) && !rows.shows(text) {
			left = append(left, q.Label(f.Field)+": "+text)
		}
	}
	return strings.Join(left, "; ")
}

// keyOf is the key that makes sending a form twice the same as once. A refusal by the API was stored with its key, so that what
// was mended needs another one.
func keyOf(typed url.Values, refusal error) string {
	if key := typed.Get("key"); refusal == nil && key != "" {
		return key
	}
	return uuid.NewString()
}

// pathOf are the parameters of the path of a command.
func pathOf(s shown, c resources.Command, target string) map[string]string {
	path := map[string]string{"id": s.id}
	if c.Param != "" {
		path[c.Param] = target
	}
	return path
}

// unguessed are fields that a form leaves to people: the first entry of their directory would be taken unseen.
var unguessed = []string{"toWarehouseId", "supplierId"}

// fields are those of the body of an operation, with choices for ids and with amounts as people write them.
func (pages *Pages) fieldsOf(ctx context.Context, q *web.Request, s shown, c resources.Command, d draft, refusal error) ([]web.Field, error) {
	f := fieldsFor(q, c)
	f.Typed, f.Err = d.typed, refusal
	if f.Op.Body == nil {
		return nil, nil
	}
	if current := s.changed(); current != nil && f.Op.Method == http.MethodPatch {
		raw, err := json.Marshal(current)
		if err != nil {
			return nil, err
		}
		f.Value = raw
	}
	f.Pick, f.Help = map[string][]web.Option{}, map[string]string{}
	offerPictures(q, s, c, &f)
	for _, shape := range f.Op.Body.Fields {
		current := d.typed.Get(shape.Name)
		if current == "" {
			current = s.changed().Text(shape.Name)
		}
		options, err := s.names.options(ctx, shape.Name, current, keepFor(s, shape.Name))
		if err == nil && shape.Name == addressID {
			options, err = addresses(ctx, q, clientOf(s, d.typed), current)
		}
		if current == "" && len(options) > 1 && slices.Contains(unguessed, shape.Name) {
			options = slices.Insert(options, 0, web.Option{Text: q.T("form.choose")})
		}
		switch {
		case err != nil:
			return nil, err
		case options != nil:
			f.Pick[shape.Name] = options
		case shape.Name == addressID:
			f.But = append(slices.Clip(f.But), addressID)
		}
	}
	fields := q.FieldsOf(f)
	for i := range fields {
		if err := pick(ctx, q, &fields[i]); err != nil {
			return nil, err
		}
	}
	return append(fields, (*attributeFields)(c.Attributes).fields(q, s, d.typed, refusal)...), nil
}

// fieldsFor are the fields that the form of a command asks for: those that it names, or else all that people fill in.
func fieldsFor(q *web.Request, c resources.Command) web.Fields {
	f := web.Fields{Op: q.Operation(c.Op), Only: c.Fields, But: slices.DeleteFunc(slices.Clone(machines), func(name string) bool { return name == c.Picture })}
	if len(c.Fields) > 0 || f.Op.Body == nil {
		return f
	}
	for _, s := range f.Op.Body.Fields {
		if _, entry := resources.ChoicesOf(s.Name); s.Format == "uuid" && !entry && s.Name != addressID {
			f.But = append(slices.Clip(f.But), s.Name) // nobody knows ids by heart
		}
	}
	return f
}

// machines are fields that integrations fill in, not people.
var machines = []string{
	"externalId", "metadata", "source", "intake", "utm", "nameI18n", "descriptionI18n", "attributes", "costComponents", "modifierGroups", "costItems",
	"photoFileId", "photoFileIds", "attachmentFileIds", "items", "payments", "unitId", "packUnitId", "assetId",
	"checklistDone", "prepaidAmount", "emoji", "hasVariants",
}

// keepFor leaves only those entries of a directory that the record can have.
func keepFor(s shown, field string) func(resources.Record) bool {
	if field != "stageId" || s.record == nil {
		return nil
	}
	return func(r resources.Record) bool {
		return r.Text("typeId") == s.record.Text("typeId") && r.Text("id") != s.record.Text("stageId")
	}
}

// do gives a command. A form without the version of what it was made from is not one of the console.
func (pages *Pages) do(res resources.Resource, c resources.Command) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		s, err := pages.find(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		switch {
		case composes(s, c) && q.Form.Get(stepField) != "":
			return pages.compose(ctx, opened(q, s, c))
		case composes(s, c):
			return pages.save(ctx, opened(q, s, c))
		}
		d := draft{version: q.Form.Get("version"), target: q.Form.Get("part"), typed: q.Form}
		in := web.Input{Path: pathOf(s, c, d.target), Key: idOr(q.Form.Get("key")), Version: versionOf(d.version)}
		if in.Version == 0 || c.Param != "" && d.target == "" {
			return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
		}
		if c.Form {
			if err := pages.prepare(ctx, q, &s, c, d.target); err != nil {
				return web.Answer{}, err
			}
			in.Body = bodyOf(q, s, c, q.Form)
		}
		raw, err := web.Call[web.JSON](ctx, q, c.Op, in)
		if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
			return pages.refused(ctx, q, s, c, d, known)
		}
		if err != nil {
			return web.Answer{}, err
		}
		at := pages.next(q, s, c, raw)
		if started, ok := startedBy(c, raw); ok {
			return web.Started(at, started), nil
		}
		return web.Go(at), nil
	}
}

// startedBy is the job that a command has started.
func startedBy(c resources.Command, raw web.JSON) (uuid.UUID, bool) {
	var started struct{ ID uuid.UUID }
	if !c.Starts || decode(raw, &started) != nil {
		return uuid.Nil, false
	}
	return started.ID, true
}

// refused shows the form again, or the page of the record, with what the API says.
func (pages *Pages) refused(ctx context.Context, q *web.Request, s shown, c resources.Command, d draft, err *apierr.Error) (web.Answer, error) {
	if err.Status == http.StatusPreconditionFailed && c.Table == "" {
		d.version = s.record.Text("version") // who sends the form again has been told
	}
	if err.Status == http.StatusPreconditionFailed && s.row != nil {
		d.version = s.row.Text("version")
	}
	if c.Form {
		return pages.commandForm(ctx, q, s, c, d, err)
	}
	note := &web.Note{Kind: web.Bad, Title: q.T("records.refused.command"), Text: textOf(q, err)}
	if err.Status == http.StatusPreconditionFailed {
		note.Text = q.T("records.changed")
	}
	answer, failed := pages.page(ctx, q, s, c.Table, note)
	return answer.Refuse(), failed
}

// next is the address of what a command leads to.
func (pages *Pages) next(q *web.Request, s shown, c resources.Command, raw web.JSON) string {
	var made resources.Record
	if c.Undo != "" && decode(raw, &made) == nil && made.Has("version") {
		return did(q, s, c, made)
	}
	if (c.Makes || c.To != "") && decode(raw, &made) == nil {
		if at := pages.recordPath(q, s.res.Name, made.Text("id")); c.Makes && at != "" {
			return web.With(at, "done", "records")
		}
		if c.To != "" && made.Has(c.IDOf) {
			if at := pages.recordPath(q, c.To, made.Text(c.IDOf)); at != "" {
				return web.With(at, "done", "records")
			}
		}
	}
	if c.Ends {
		return web.With(q.Path(s.res.Address), "done", "records_gone")
	}
	done := "records"
	if c.Name == "mail" {
		done = "records_mail"
	}
	return web.With(s.address(q), "tab", c.Table+c.AddsTo, "done", done)
}

// bodyOf is the body of a command from its form.
func bodyOf(q *web.Request, s shown, c resources.Command, form url.Values) map[string]any {
	f := fieldsFor(q, c)
	if f.Op.Body == nil {
		return map[string]any{}
	}
	body := q.BodyOf(f, form)
	if c.Rows != nil {
		body[c.Rows.Field] = itemsOfRows(c.Rows, s, form)
	}
	if in := (*attributeFields)(c.Attributes); in != nil && in.changes(s, form) {
		body[in.Field] = in.values(s, form)
	}
	return body
}

// idOr is a text that is an id; "" otherwise.
func idOr(text string) string {
	if _, err := uuid.Parse(text); err != nil {
		return ""
	}
	return text
}
