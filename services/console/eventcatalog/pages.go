// Package eventcatalog holds the pages on the events that the platform raises: what each means and carries, who wants it, and, in test
// companies, how to make one happen.
package eventcatalog

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/delivery/trigger"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on event types.
const scope = "webhooks"

// Service reads the event log backwards, which the API reads forward.
type Service interface {
	Tail(ctx context.Context, by access.Caller, q webhooks.TailQuery) ([]webhooks.Logged, uuid.UUID, error)
}

// Pages are the pages of the area.
type Pages struct {
	Webhooks Service
	Events   *event.Registry
}

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "eventcatalog", Templates: files, Routes: []web.Page{
		web.Get(web.EventCatalog, scope, "/event-catalog", pages.list),
		web.Get(web.EventCatalog, scope, "/event-catalog/{event}", pages.show),
		web.Post(web.EventCatalog, "", "/event-catalog/{event}/trigger", pages.trigger),
	}}
}

type listPage struct {
	Header     web.Header
	Note       *web.Note
	Components []component
}

// component is a part of the platform with its events.
type component struct {
	Name  string
	Off   bool // the company does not have it
	Table web.Table
}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	subs, err := pages.subscriptions(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p := listPage{Header: web.Header{Title: q.T("area.event_catalog"), Facts: q.T("eventcatalog.intro", len(pages.Events.All()))}}
	for _, t := range pages.Events.All() {
		i := slices.IndexFunc(p.Components, func(m component) bool { return m.Name == t.Component })
		if i < 0 {
			i = len(p.Components)
			p.Components = append(p.Components, component{Name: t.Component, Off: !q.Has(t.Component), Table: web.Table{
				Label: t.Component, Columns: []web.Column{{Text: q.T("events.name")}, {Text: q.T("eventcatalog.means")}, {Text: q.T("eventcatalog.wanted"), Num: true}},
			}})
		}
		p.Components[i].Table.Rows = append(p.Components[i].Table.Rows, []web.Cell{
			web.Code(t.Name, q.Path("/event-catalog/"+t.Name)), web.Text(t.Description), web.Number(strconv.Itoa(len(wanting(subs, t.Name)))),
		})
	}
	slices.SortStableFunc(p.Components, func(x, y component) int { return strings.Compare(x.Name, y.Name) })
	return web.Show("eventcatalog/list", q.T("area.event_catalog"), p), nil
}

func (pages *Pages) subscriptions(ctx context.Context, q *web.Request) ([]webhooks.Subscription, error) {
	found, err := web.List[webhooks.Subscription](ctx, q, "listWebhookSubscriptions", webhooks.SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}

// wanting are the subscriptions that name an event.
func wanting(subs []webhooks.Subscription, name string) []webhooks.Subscription {
	return slices.DeleteFunc(slices.Clone(subs), func(s webhooks.Subscription) bool { return !wants(s.Events, name) })
}

func wants(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return webhook.EventPattern(p).Match(name) })
}

type eventPage struct {
	Header    web.Header
	Note      web.Note
	Fields    web.Table
	Schema    web.Snippet
	Example   web.Snippet
	Wanted    web.Table
	Latest    web.Table
	Trigger   *web.Action
	Requests  []string // that the trigger sends
	Refresh   string
	Triggered bool
}

// latest is how many events the page shows.
const latest = 10

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	return pages.page(ctx, q, nil)
}

// page is that of an event. fault is why it could not be triggered.
func (pages *Pages) page(ctx context.Context, q *web.Request, fault error) (web.Answer, error) {
	t, ok := pages.Events.Lookup(q.HTTP.PathValue("event"))
	if !ok {
		return web.Answer{}, web.NoPage()
	}
	subs, err := pages.subscriptions(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p := eventPage{
		Header: web.Header{
			Title: t.Name, Facts: t.Description, Crumbs: []web.Link{{Text: q.T("area.event_catalog"), Href: q.Path("/event-catalog")}},
			Links: []web.Link{{Text: q.T("eventcatalog.all"), Href: web.With(q.Path("/events"), "event", t.Name)}},
		},
		Wanted: wantedTable(q, wanting(subs, t.Name)), Refresh: q.Path("/event-catalog/" + t.Name),
	}
	if p.Latest, err = pages.latest(ctx, q, t); err != nil {
		return web.Answer{}, err
	}
	if err := pages.describe(q, t, &p); err != nil {
		return web.Answer{}, err
	}
	pages.offer(q, t, &p)
	p.Note = sentence(q, t, len(p.Wanted.Rows))
	if fault != nil {
		p.Note = web.Note{Kind: web.Bad, Title: q.T("eventcatalog.not_triggered"), Text: fault.Error()}
	}
	return web.Show("eventcatalog/event", t.Name, p), nil
}

func sentence(q *web.Request, t event.Type, wanted int) web.Note {
	switch {
	case !q.Has(t.Component):
		return web.Note{Kind: web.Off, Title: q.T("eventcatalog.component_off"), Text: q.T("eventcatalog.component_off.text", t.Component)}
	case wanted == 0:
		return web.Note{Kind: web.Info, Title: q.T("eventcatalog.nobody"), Text: q.T("eventcatalog.nobody.text")}
	}
	return web.Note{Kind: web.Good, Text: q.T("eventcatalog.somebody", wanted)}
}

// describe adds what the event carries.
func (pages *Pages) describe(q *web.Request, t event.Type, p *eventPage) error {
	schema, err := t.Schema()
	if err != nil {
		return fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	example, err := pages.Events.Example(t)
	if err != nil {
		return fmt.Errorf("example of %s: %w", t.Name, err)
	}
	data, err := dataOf(schema)
	if err != nil {
		return fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	p.Fields = web.Table{Label: q.T("eventcatalog.fields"), Columns: []web.Column{{Text: q.T("explorer.field")}, {Text: q.T("explorer.type")}, {Text: q.T("explorer.means")}}, Rows: web.ShapeRows(q, &data)}
	p.Schema = web.Snippet{ID: "schema", Title: q.T("eventcatalog.schema"), Text: string(schema)}
	p.Example = web.Snippet{ID: "example", Text: string(example)}
	return nil
}

func wantedTable(q *web.Request, subs []webhooks.Subscription) web.Table {
	t := web.Table{
		Label: q.T("eventcatalog.wanted_by"), Columns: []web.Column{{Text: q.T("webhooks.receiver")}, {Text: q.T("eventcatalog.filter")}},
		Empty: web.Empty{Title: q.T("eventcatalog.nobody"), Text: q.T("eventcatalog.nobody.text"), Action: &web.Link{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}},
	}
	for _, s := range subs {
		filter := web.Text(q.T("eventcatalog.filter.none"))
		if s.Filter != nil {
			filter = web.Code(string(*s.Filter), "")
		}
		t.Rows = append(t.Rows, []web.Cell{web.LinkTo(webhookpages.Name(s), q.Path("/webhooks/"+s.ID.String())), filter})
	}
	return t
}

// latest lists the last events of this name in the company.
func (pages *Pages) latest(ctx context.Context, q *web.Request, t event.Type) (web.Table, error) {
	found, _, err := pages.Webhooks.Tail(ctx, q.Caller, webhooks.TailQuery{Events: []string{t.Name}, Limit: latest})
	table := web.Table{
		Label: q.T("eventcatalog.latest"), Columns: []web.Column{{Text: q.T("audit.when")}, {Text: q.T("events.record")}, {Text: q.T("events.version"), Num: true}},
		Empty: web.Empty{Title: q.T("eventcatalog.latest.none"), Text: q.T("eventcatalog.latest.none.text")},
	}
	for _, e := range found {
		table.Rows = append(table.Rows, []web.Cell{
			web.LinkTo(q.At(e.OccurredAt).Short(), q.Path("/events/"+e.ID.String())), web.Code(e.EntityID.String()[:8]+"…", web.With(q.Path("/events"), "entity", e.EntityID.String())),
			web.Number(strconv.FormatInt(e.Version, 10)),
		})
	}
	return table, err
}

// offer adds the button that makes the event happen, or why there is none.
func (pages *Pages) offer(q *web.Request, t event.Type, p *eventPage) {
	p.Requests = trigger.Requests(t)
	if len(p.Requests) == 0 || !q.Company.IsTest || !q.Allows("*", true) {
		return
	}
	p.Trigger = &web.Action{Text: q.T("eventcatalog.trigger"), Post: q.Path("/event-catalog/" + t.Name + "/trigger"), Kind: "primary"}
}
