package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

type editPage struct {
	Header     web.Header
	Form       web.Form    // what the receiver gets, beside the events
	Name       []web.Field // where it is
	Filter     web.Field
	Groups     []eventKind // the event catalog
	Other      web.Field   // names that the catalog has no box for
	Fault      string      // of the events
	Tried      bool        // so that faults stand where the answer is
	Secret     web.Field   // keeps a repeated form from making another subscription
	Preview    *previewPart
	Conditions []conditionShown // of the filter, as far as it can be read
}

// eventKind is a component of the event catalog.
type eventKind struct {
	Component string
	Open      bool // something in it is chosen
	Boxes     []eventBox
}

// eventBox is an event, or a wildcard.
type eventBox struct {
	Value, Text string
	Wild        bool
	Checked     bool
}

// previewPart is what the last real events would have become, with the fields of one of them.
type previewPart struct {
	Note   web.Note
	Table  web.Table
	Sample web.Field // chooses the event
	Fields []fieldShown
	Cut    bool // there are more fields
}

// triedEvents is how many of the last events a preview looks at.
const triedEvents = 20

// Fields of the form whose names are those of the API: first where the receiver is, then the filter, then the rest.
var (
	plainFields = []string{"url", "name", "filter", "maxPerSecond", "ordered", "autoRedeliver", "excludeOwnEvents"}
	certificate = []string{"clientCertificate", "clientKey"}
)

const (
	fieldHeaders = "headers"
	fieldEvents  = "events"
	fieldOther   = "otherEvents"
	fieldFilter  = "filter"
	fieldSample  = "sample" // id of the event whose fields are shown
	fieldDo      = "do"
	doTry        = "try"
	noHeaders    = "none"
)

// draft is a subscription that is being made or changed. before is what it was; nil = it is new.
type draft struct {
	before *webhooks.Subscription
	typed  url.Values // nil = as it is
	err    error
}

func (d draft) operation() string {
	if d.before == nil {
		return "createWebhookSubscription"
	}
	return "updateWebhookSubscription"
}

// fields are those of the operation. A certificate is only sent when it was typed: what is not shown is not emptied.
func (d draft) fields(q *web.Request) web.Fields {
	f := web.Fields{
		Op: q.Operation(d.operation()), Only: slices.Concat(plainFields, certificate), Typed: d.typed, Err: d.err,
		Help: map[string]string{
			"url": q.T("webhooks.url.help"), "name": q.T("webhooks.name.help"), "filter": q.T("webhooks.filter.help"), "maxPerSecond": q.T("webhooks.rate.help"), "ordered": q.T("webhooks.ordered.help"),
			"autoRedeliver": q.T("webhooks.auto.help"), "excludeOwnEvents": q.T("webhooks.own.help"), "clientCertificate": q.T("webhooks.certificate.help"), "clientKey": q.T("webhooks.certificate.key"),
		},
		Value: json.RawMessage(`{"autoRedeliver":true,"ordered":false,"excludeOwnEvents":false}`),
	}
	if d.before != nil {
		f.Value, _ = json.Marshal(d.before.SubscriptionFields) //nolint:errchkjson // it came from the database
		f.Value, _ = jsonWithout(f.Value, certificate)
	}
	return f
}

// jsonWithout leaves out fields of an object.
func jsonWithout(raw json.RawMessage, names []string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("fields of subscription: %w", err)
	}
	for _, name := range names {
		delete(object, name)
	}
	return json.Marshal(object)
}

// form is the page of a new subscription.
func (pages *Pages) form(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.formOf(ctx, q, draft{}, nil)
}

func (pages *Pages) edit(ctx context.Context, q *web.Request, s webhooks.Subscription, preview *previewPart) (web.Answer, error) {
	return pages.formOf(ctx, q, draft{before: &s}, preview)
}

func (pages *Pages) formOf(ctx context.Context, q *web.Request, d draft, preview *previewPart) (web.Answer, error) {
	types, err := web.Call[[]webhooks.EventType](ctx, q, "listWebhookEventTypes", web.Input{})
	if err != nil {
		return web.Answer{}, err
	}
	fields := q.FieldsOf(d.fields(q))
	headers := web.Field{Name: fieldHeaders, Label: q.T("webhooks.headers"), Type: "textarea", Help: q.T("webhooks.headers.help"), Value: d.typed.Get(fieldHeaders), Fault: q.FaultWithin(d.err, fieldHeaders)}
	for i := range fields {
		if fields[i].Name == "filter" && fields[i].Fault == "" {
			fields[i].Fault = q.FaultWithin(d.err, "filter")
		}
	}
	page := q.Path("/webhooks/new")
	p := editPage{
		Header: web.Header{Title: q.T("webhooks.new"), Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}}},
		Secret: web.Field{Name: "key", Value: keyOf(d.typed)}, Preview: preview, Fault: q.FaultWithin(d.err, fieldEvents), Tried: tries(q),
	}
	button := q.T("webhooks.make")
	if d.before != nil {
		at := q.Path("/webhooks/" + d.before.ID.String())
		page, button = at+"/edit", q.T("webhooks.save")
		p.Header.Title = q.T("webhooks.edit.title", nameOf(*d.before))
		p.Header.Crumbs = append(p.Header.Crumbs, web.Link{Text: nameOf(*d.before), Href: at})
		headers.Help = q.T("webhooks.headers.keep", headerNames(*d.before))
	}
	chosen := d.events()
	p.Groups, p.Other = catalog(q, types, chosen)
	at := slices.IndexFunc(fields, func(f web.Field) bool { return f.Name == "clientCertificate" })
	fields = slices.Insert(fields, at, headers)
	if p.Fault == "" {
		p.Form.Fault = q.FormFault(d.err, fields)
	}
	fields[0].Type = "" // one line, however long
	p.Conditions = conditionsShown(fields[2].Value)
	p.Name, p.Filter, p.Form.Post, p.Form.Button, p.Form.Fields = fields[:2], fields[2], page, button, fields[3:]
	if d.before != nil {
		p.Form.Hidden = q.Versioned(d.before.Version)
	}
	return web.Show("webhooks/edit", p.Header.Title, p), nil
}

// keyOf is the idempotency key of the form.
func keyOf(typed url.Values) string {
	if key, err := uuid.Parse(typed.Get("key")); err == nil {
		return key.String()
	}
	return uuid.NewString()
}

// events are the names and wildcards that are chosen.
func (d draft) events() []string {
	switch {
	case d.typed != nil:
		return append(slices.Clone(d.typed[fieldEvents]), strings.Fields(d.typed.Get(fieldOther))...)
	case d.before != nil:
		return d.before.Events
	}
	return nil
}

// catalog are the boxes of all events by component, each kind of record with its wildcard. Chosen names without a box stand in other.
func catalog(q *web.Request, types []webhooks.EventType, chosen []string) (groups []eventKind, other web.Field) {
	left := slices.Clone(chosen)
	box := func(value, text string, wild bool) eventBox {
		left = slices.DeleteFunc(left, func(name string) bool { return name == value })
		return eventBox{Value: value, Text: text, Wild: wild, Checked: slices.Contains(chosen, value)}
	}
	groups = []eventKind{{Open: true, Boxes: []eventBox{box("*", q.T("webhooks.events.all"), true)}}}
	at, kinds := map[string]int{}, map[string]bool{}
	for _, t := range types {
		i, ok := at[t.Component]
		if !ok {
			i = len(groups)
			at[t.Component], groups = i, append(groups, eventKind{Component: q.Word(t.Component)})
		}
		kind, _, _ := strings.Cut(t.Event, ".")
		g := &groups[i]
		if !kinds[kind] {
			kinds[kind] = true
			g.Boxes = append(g.Boxes, box(kind+".*", q.T("webhooks.events.of_kind"), true))
		}
		g.Boxes = append(g.Boxes, box(t.Event, t.Description, false))
	}
	for i := range groups {
		groups[i].Open = groups[i].Open || slices.ContainsFunc(groups[i].Boxes, func(b eventBox) bool { return b.Checked })
	}
	return groups, web.Field{Name: fieldOther, Label: q.T("webhooks.events.other"), Help: q.T("webhooks.events.other.help"), Value: strings.Join(left, " ")}
}

// body is the JSON of the operation.
func (d draft) body(q *web.Request) map[string]any {
	form := url.Values{}
	for name, values := range d.typed {
		if !slices.Contains(certificate, name) || strings.TrimSpace(d.typed.Get("clientCertificate")+d.typed.Get("clientKey")) != "" {
			form[name] = values
		}
	}
	body := q.BodyOf(d.fields(q), form)
	body[fieldEvents] = d.events()
	switch text := strings.TrimSpace(d.typed.Get(fieldHeaders)); {
	case text == noHeaders:
		body[fieldHeaders] = map[string]string{}
	case text != "":
		headers := map[string]string{}
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(line, ":")
			if name = strings.TrimSpace(name); name != "" {
				headers[name] = strings.TrimSpace(value)
			}
		}
		body[fieldHeaders] = headers
	}
	return body
}

// create makes a subscription, or tries its filter.
func (pages *Pages) create(ctx context.Context, q *web.Request) (web.Answer, error) {
	d := draft{typed: q.Form}
	if tries(q) {
		return pages.tried(ctx, q, d)
	}
	made, err := web.Call[web.JSON](ctx, q, d.operation(), web.Input{Body: d.body(q), Key: keyOf(q.Form)})
	if web.Refused(err) {
		d.err = err
		a, err := pages.formOf(ctx, q, d, nil)
		return a.Refuse(), err
	}
	if err != nil {
		return web.Answer{}, err
	}
	return showSecret(q, made, q.T("webhooks.created"))
}

// update changes a subscription, or tries its filter.
func (pages *Pages) update(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	s, err := web.Call[webhooks.Subscription](ctx, q, "getWebhookSubscription", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	d := draft{before: &s, typed: q.Form}
	if tries(q) {
		return pages.tried(ctx, q, d)
	}
	in := web.ByID(id)
	in.Body, in.Version = d.body(q), q.FormVersion()
	_, err = web.Call[webhooks.Subscription](ctx, q, d.operation(), in)
	if web.Refused(err) {
		d.err = err
		a, err := pages.formOf(ctx, q, d, nil)
		return a.Refuse(), err
	}
	return web.Go(q.Path("/webhooks/" + id.String() + "?tab=" + tabSettings + "&done=saved")), err
}
