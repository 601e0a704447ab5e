package records

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// bulkBar is what can be done with the rows of a list that are ticked.
type bulkBar struct {
	Post, Query string
	All         string // what the choice of all that the list shows is called; "" = the page has them all
	Actions     []web.Option
	Export      string // address that exports them; "" = it cannot be
}

// doUndo is the value of the field "do" that takes a change back.
const doUndo = "undo"

// maxPrinted is how many records the pages for printing are given: one more than they take, so that they say so.
const maxPrinted = 51

// bulkOf are the changes of many records that the person may make.
func bulkOf(q *web.Request, res resources.Resource) []resources.Bulk {
	return slices.DeleteFunc(slices.Clone(res.Bulk), func(b resources.Bulk) bool { return b.Paper == "" && !q.MayCall(b.Op) || !q.Allows(res.Scope, true) })
}

// bar is what can be done with rows that are ticked; nil = nothing.
func bar(q *web.Request, in listQuery, p *listPage) *bulkBar {
	b := &bulkBar{Post: q.Path(in.res.Address + "/bulk"), Query: in.with("cursor", "").values().Encode()}
	for _, does := range bulkOf(q, in.res) {
		b.Actions = append(b.Actions, web.Option{Value: does.Name, Text: q.T("records.bulk." + does.Name)})
	}
	if len(p.Exports) > 0 {
		b.Export = q.Path(in.res.Address + "/export")
	}
	if len(b.Actions) == 0 && b.Export == "" || len(p.Table.Rows) == 0 {
		return nil
	}
	if p.Table.Next != "" || p.First != "" {
		b.All = q.T("records.bulk.all", p.Total)
	}
	return b
}

type bulkPage struct {
	Header  web.Header
	Post    string
	Hidden  []hidden
	Fault   string
	Fields  []web.Field
	Intro   string
	Table   web.Table // the records with what they have now
	More    string    // of how many of them the table shows some
	Button  string
	Preview bool // the form says what will be while people type
}

// shownChosen is how many of the chosen records a form shows.
const shownChosen = 50

// bulk changes the records that are ticked, or all that a list shows. What has to be chosen or looked at first comes as a form.
func (pages *Pages) bulk(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		if q.Form.Get("do") == doUndo {
			return pages.undoBulk(ctx, q, res)
		}
		all := bulkOf(q, res)
		i := slices.IndexFunc(all, func(b resources.Bulk) bool { return b.Name == q.Form.Get("do") })
		if i < 0 {
			return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
		}
		if all[i].Reprice {
			return pages.reprice(ctx, q, res, all[i])
		}
		c, err := pages.choose(ctx, q, res)
		if err != nil {
			return web.Answer{}, err
		}
		if all[i].Paper != "" {
			return web.Go(web.With(q.Path(all[i].Paper), "ids", strings.Join(c.ids(maxPrinted), ","))), nil
		}
		if all[i].Value == "" && q.Form.Get("step") == "" {
			return pages.askBulk(ctx, q, c, all[i])
		}
		return pages.doBulk(ctx, q, c, all[i])
	}
}

// askBulk asks for the value of a change.
func (pages *Pages) askBulk(ctx context.Context, q *web.Request, c chosen, b resources.Bulk) (web.Answer, error) {
	names := &directories{q: q}
	able, _ := c.split(b)
	field, of, err := pages.asked(ctx, q, b, able, names)
	if err != nil {
		return web.Answer{}, err
	}
	if b.Removes && len(field.Options) == 0 {
		return pages.showList(ctx, q, c.in, &outcome{Toast: web.Toast{Text: q.T("records.bulk.nothing")}})
	}
	p := pages.bulkPage(q, c, b)
	p.Fields = []web.Field{field}
	p.Button = q.T("records.bulk.go", len(able))
	p.Table = web.Table{Label: c.in.res.Heading(q), Columns: []web.Column{{Text: c.in.res.One(q)}, {Text: q.T("records.bulk.now", q.Label(of.Name))}}, Empty: web.Empty{Title: q.T("records.bulk.nothing")}}
	for _, r := range able[:min(len(able), shownChosen)] {
		now, err := pages.cell(ctx, q, of, r, names)
		if err != nil {
			return web.Answer{}, err
		}
		p.Table.Rows = append(p.Table.Rows, []web.Cell{web.Text(titleOf(q, c.in.res, r)), now})
	}
	if len(able) > shownChosen {
		p.More = q.T("records.bulk.first", shownChosen, len(able))
	}
	return web.Show("records/bulk", p.Header.Title, p), nil
}

// asked is the field in which people choose the value of a change, and the column with what the records have now.
func (pages *Pages) asked(ctx context.Context, q *web.Request, b resources.Bulk, able []resources.Record, names *directories) (f web.Field, of resources.Column, err error) {
	f = web.Field{Name: "value", Label: q.Label(b.Field), Type: "select", Focus: true}
	switch {
	case b.Entries != "" && b.Removes:
		f.Label, f.Options = q.T("records.bulk.entry"), optionsOf(q, among(able, b.Entries), nil)
		for i, o := range f.Options {
			f.Options[i].Text = o.Value
		}
		return f, resources.Column{Name: b.Entries, Kind: resources.AsTexts}, nil
	case b.Entries != "":
		longest := maxEntry
		f.Label, f.Type, f.Required, f.MaxLength = q.T("records.bulk.entry"), "", true, &longest
		return f, resources.Column{Name: b.Entries, Kind: resources.AsTexts}, nil
	case b.Among != "":
		f.Options = optionsOf(q, among(able, b.Among), nil)
		return f, resources.Column{Name: b.Field, Kind: resources.AsState}, nil
	}
	entries, err := names.options(ctx, b.Field, "", nil)
	f.Options = append([]web.Option{{Text: q.T("records.bulk.none")}}, entries...)
	return f, resources.Column{Name: b.Field, Kind: resources.AsEntry}, err
}

// maxEntry is how many characters an entry has at most.
const maxEntry = 64

// among are the values that any of the records can take.
func among(records []resources.Record, field string) (values []string) {
	for _, r := range records {
		for _, v := range r.Texts(field) {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

func (pages *Pages) bulkPage(q *web.Request, c chosen, b resources.Bulk) bulkPage {
	p := bulkPage{
		Header: web.Header{Title: q.T("records.bulk." + b.Name), Crumbs: []web.Link{{Text: c.in.res.Heading(q), Href: c.in.address(q)}}},
		Post:   q.Path(c.in.res.Address + "/bulk"), Hidden: append(c.hidden(), hidden{"do", b.Name}, hidden{"key", uuid.NewString()}),
	}
	if c.more {
		p.Intro = q.T("records.bulk.more", maxChosen)
	}
	return p
}

// change is what a change of many does to one record; it is also what takes it back.
type change struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Value any    `json:"value"` // the one of the field, before the change in what takes it back
}

// outcome is what a change of many has done.
type outcome struct {
	web.Toast
	Refused []refusedRow
}

type refusedRow struct{ Name, Href, Text string }

// doBulk makes the change, and shows the list with what came of it.
func (pages *Pages) doBulk(ctx context.Context, q *web.Request, c chosen, b resources.Bulk) (web.Answer, error) {
	able, others := c.split(b)
	var value any
	typed := strings.TrimSpace(b.Value + q.Form.Get("value"))
	if typed != "" {
		value = typed
	}
	if b.Entries != "" && typed == "" {
		return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
	}
	var changes, back []change
	for _, r := range able {
		one := change{r.Text("id"), titleOf(q, c.in.res, r), value}
		was := r[b.Field]
		if b.Entries != "" {
			if slices.Contains(r.Texts(b.Entries), typed) != b.Removes {
				continue // it is as it should be, and stays so if the change is taken back
			}
			was = value
		}
		changes, back = append(changes, one), append(back, change{one.ID, one.Name, was})
	}
	out := &outcome{}
	for _, r := range others {
		out.Refused = append(out.Refused, refusedRow{titleOf(q, c.in.res, r), pages.recordPath(q, c.in.res.Name, r.Text("id")), q.T("records.not_now")})
	}
	return pages.sendBulk(ctx, q, c.in, b, changes, back, out)
}

// undoBulk gives each record back what it had before a change.
func (pages *Pages) undoBulk(ctx context.Context, q *web.Request, res resources.Resource) (web.Answer, error) {
	all := bulkOf(q, res)
	i := slices.IndexFunc(all, func(b resources.Bulk) bool { return b.Name == q.Form.Get("of") && b.Undo })
	var back []change
	if err := json.Unmarshal([]byte(q.Form.Get("back")), &back); err != nil || i < 0 || len(back) > maxChosen {
		return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
	}
	if all[i].Back != "" {
		all[i].Field = all[i].Back
	}
	in := parseListQuery(q, res, parse(q.Form.Get("query")))
	return pages.sendBulk(ctx, q, in, all[i], back, nil, &outcome{})
}

// sendBulk sends a batch. A large one becomes a job, whose page the answer leads to.
func (pages *Pages) sendBulk(ctx context.Context, q *web.Request, in listQuery, b resources.Bulk, changes, back []change, out *outcome) (web.Answer, error) {
	if len(changes) == 0 {
		out.Text = q.T("records.bulk.nothing")
		return pages.showList(ctx, q, in, out)
	}
	raw, err := web.Call[web.JSON](ctx, q, b.Op, web.Input{Body: map[string]any{"items": batchItems(b, changes)}, Key: idOr(q.Form.Get("key"))})
	if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError {
		out.Refused = append(out.Refused, refusedRow{Name: q.T("records.bulk." + b.Name), Text: textOf(q, known)})
		return pages.showList(ctx, q, in, out)
	}
	if err != nil {
		return web.Answer{}, err
	}
	var answer struct {
		ID      uuid.UUID             `json:"id"`
		Results []httpapi.BatchResult `json:"results"`
	}
	if err := web.Decode(raw, &answer); err != nil {
		return web.Answer{}, err
	}
	if answer.ID != uuid.Nil {
		return web.Started(jobAt(q, in, answer.ID), answer.ID), nil
	}
	pages.tell(q, in, b, changes, back, answer.Results, out)
	return pages.showList(ctx, q, in, out)
}

// batchItems are the items of a batch.
func batchItems(b resources.Bulk, changes []change) (items []any) {
	for _, c := range changes {
		body := map[string]any{b.Field: c.Value}
		if b.Entries != "" {
			body[b.Field] = []any{c.Value}
		}
		if c.Value == nil && b.Nobody != "" {
			body[b.Field] = b.Nobody
		}
		if b.ID != "" {
			body[b.ID] = c.ID
			items = append(items, map[string]any{"body": body})
			continue
		}
		items = append(items, map[string]any{"op": "update", "id": c.ID, "body": body})
	}
	return items
}

// jobAt is the page of a job that was started from a list.
func jobAt(q *web.Request, in listQuery, id uuid.UUID) string {
	return q.Path("/jobs/"+id.String()) + "?" + url.Values{"list": {in.res.Name}, "query": {in.values().Encode()}}.Encode()
}

// tell says what came of each record, and offers to take the change back where that is possible.
func (pages *Pages) tell(q *web.Request, in listQuery, b resources.Bulk, changes, back []change, results []httpapi.BatchResult, out *outcome) {
	var done []change
	failed := 0
	for _, r := range results {
		if r.Index >= len(changes) {
			continue
		}
		c := changes[r.Index]
		if r.Status >= http.StatusMultipleChoices {
			out.Refused = append(out.Refused, refusedRow{c.Name, pages.recordPath(q, in.res.Name, c.ID), reasonOf(q, r)})
			failed++
		} else if r.Index < len(back) {
			done = append(done, back[r.Index])
		}
	}
	out.Text = q.T("records.bulk.done", q.T("records.bulk."+b.Name), q.Count(int64(len(results)-failed)))
	if raw, err := json.Marshal(done); err == nil && b.Undo && len(done) > 0 {
		out.Undo = &web.Action{Text: q.T("records.compose.undo"), Post: q.Path(in.res.Address + "/bulk"), Small: true, Values: map[string]string{
			"do": doUndo, "of": b.Name, "back": string(raw), "query": in.values().Encode(), "key": uuid.NewString(),
		}}
	}
}

// reasonOf is what the API says of an item that failed.
func reasonOf(q *web.Request, r httpapi.BatchResult) string {
	if len(r.Errors) == 0 {
		return r.Message
	}
	all := make([]string, len(r.Errors))
	for i, f := range r.Errors {
		all[i] = fmt.Sprintf("%s: %s", q.Label(strings.TrimPrefix(f.Field, "body.")), q.FaultText(f))
	}
	return strings.Join(all, "; ")
}
