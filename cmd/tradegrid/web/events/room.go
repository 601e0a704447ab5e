// Package events holds the pages on events: which there are, and the way of each from the request to the receivers.
package events

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/services/requests"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on the event log.
const scope = "events"

// Service knows the event log and what became of events.
type Service interface {
	Latest(ctx context.Context, by access.Caller, q webhooks.LatestQuery) (found []webhooks.Logged, next uuid.UUID, err error)
	EventWithWay(ctx context.Context, by access.Caller, id uuid.UUID) ([]byte, error)
	EventDeliveries(ctx context.Context, by access.Caller, event uuid.UUID) (*list.Page[webhooks.Explanation], error)
	Subscriptions(ctx context.Context, by access.Caller, f webhooks.SubscriptionFilter) (*list.Page[webhooks.Subscription], error)
}

// Requests is the log of the requests of tokens.
type Requests interface {
	List(ctx context.Context, by access.Caller, q requests.Query) (requests.Page, error)
	Get(ctx context.Context, by access.Caller, id uuid.UUID) (requests.RequestDetail, error)
}

// Room has the pages.
type Room struct {
	Events   Service
	Requests Requests
	API      string // address of the external API, for commands to copy
}

// Name implements [web.Room].
func (*Room) Name() string { return "events" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	return []web.Page{
		web.Get(web.Events, scope, "/events", r.list),
		web.Get(web.Events, scope, "/events/{id}", r.show),
	}
}

type listPage struct {
	Header  web.Header
	Request *web.Note // the request whose events these are
	Facts   []web.Fact
	Filter  web.Filter
	Table   web.Table
}

func (r *Room) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	p := listPage{Header: web.Header{Title: q.T("area.events"), Facts: q.T("events.intro")}}
	query := webhooks.LatestQuery{Limit: 50}
	name, entity, request, before := strings.TrimSpace(q.Form.Get("event")), q.Form.Get("entity"), q.Form.Get("request"), q.Form.Get("before")
	if name != "" {
		query.Events = []string{name}
	}
	for text, to := range map[string]*uuid.UUID{entity: &query.EntityID, before: &query.Before} {
		if text == "" {
			continue
		}
		id, err := uuid.Parse(text)
		if err != nil {
			return web.Answer{}, web.NoPage()
		}
		*to = id
	}
	if request != "" {
		if err := r.ofRequest(ctx, q, request, &p, &query); err != nil {
			return web.Answer{}, err
		}
	}
	p.Filter = web.Filter{Action: q.Path("/events"), Button: q.T("filter.apply"), Fields: []web.Field{
		{Name: "event", Label: q.T("events.name"), Value: name, Help: q.T("events.name.help")}, {Name: "entity", Label: q.T("events.entity"), Value: entity},
	}}
	if name+entity+request != "" {
		p.Filter.Clear = q.Path("/events")
	}
	found, next, err := r.Events.Latest(ctx, q.Caller, query)
	if fault := web.FaultOf(err, "events"); fault != "" {
		p.Filter.Fields[0].Fault = fault
	} else if fault := web.FaultOf(err, "events[0]"); fault != "" {
		p.Filter.Fields[0].Fault = fault
	} else if err != nil {
		return web.Answer{}, err
	}
	p.Table = tableOf(q, found)
	if next != uuid.Nil {
		p.Table.Next = web.With(q.Path("/events"), "event", name, "entity", entity, "request", request, "before", next.String())
	}
	return web.Show("events/list", q.T("area.events"), p), nil
}

// ofRequest narrows the list to the events that a request caused, and says what the request was.
func (r *Room) ofRequest(ctx context.Context, q *web.Request, text string, p *listPage, query *webhooks.LatestQuery) error {
	id, err := uuid.Parse(text)
	if err != nil {
		return web.NoPage()
	}
	d, err := r.Requests.Get(ctx, q.Caller, id)
	if err != nil {
		return err
	}
	query.IDs = append([]uuid.UUID{}, d.EventIDs...)
	kind := web.Good
	if d.Status >= 400 {
		kind = web.Bad
	}
	p.Request = &web.Note{Kind: kind, Title: d.Method + " " + pathOf(d.Request) + " · " + strconv.Itoa(int(d.Status)), Text: q.T("events.request", len(d.EventIDs))}
	p.Facts = []web.Fact{
		{Label: q.T("audit.when"), Cell: web.When(q.At(d.CreatedAt.Std()))},
		{Label: q.T("events.token"), Cell: web.Text(d.TokenName).With(d.Address)},
		{Label: q.T("webhooks.took"), Cell: web.Text(q.T("unit.ms", d.DurationMs))},
		{Label: q.T("events.request.id"), Cell: web.Code(d.RequestID, "")},
	}
	if d.Code != nil {
		p.Facts = append(p.Facts, web.Fact{Label: q.T("events.code"), Cell: web.Code(*d.Code, "")})
	}
	return nil
}

func pathOf(r requests.Request) string {
	if r.Path != nil {
		return *r.Path
	}
	return r.Route
}

func tableOf(q *web.Request, found []webhooks.Logged) web.Table {
	t := web.Table{
		Label:   q.T("area.events"),
		Columns: []web.Column{{Text: q.T("events.name")}, {Text: q.T("events.record")}, {Text: q.T("events.version"), Num: true}, {Text: q.T("audit.when")}, {Text: q.T("events.id")}},
		Empty:   web.Empty{Title: q.T("events.none"), Text: q.T("events.none.text")},
	}
	for _, e := range found {
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(e.Event, q.Path("/events/"+e.ID.String())), web.LinkTo(labelOf(e), web.With(q.Path("/events"), "entity", e.EntityID.String())),
			web.Number(strconv.FormatInt(e.Version, 10)), web.When(q.At(e.OccurredAt)), web.Code(e.ID.String(), ""),
		})
	}
	return t
}

// labelOf is what people call the record of an event, as far as its body says: its number or name.
func labelOf(e webhooks.Logged) string {
	var body struct {
		Data struct {
			Number *int64  `json:"number"`
			Name   *string `json:"name"`
			Title  *string `json:"title"`
		} `json:"data"`
	}
	kind := strings.ReplaceAll(e.EntityType, "_", " ")
	if json.Unmarshal(e.Body, &body) != nil {
		return kind
	}
	switch d := body.Data; {
	case d.Number != nil:
		return kind + " № " + strconv.FormatInt(*d.Number, 10)
	case d.Name != nil && *d.Name != "":
		return kind + " " + *d.Name
	case d.Title != nil && *d.Title != "":
		return kind + " " + *d.Title
	}
	return kind
}

// RequestPage is where a request is shown: its own page, or its events for those who do not see the log.
func RequestPage(q *web.Request, id string) string {
	if q.Sees(web.Requests) {
		return "/requests/" + id
	}
	return "/events?request=" + id
}
