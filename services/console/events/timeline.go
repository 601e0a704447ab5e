package events

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

type eventPage struct {
	Header   web.Header
	Timeline []web.Step
	First    string // when the first receiver had it
	Sent     string
	API      web.Shown
	Live     string
}

// about is what the page of an event is made of.
type about struct {
	raw          web.JSON // the event as the API shows it
	event        webhooks.EventEnvelope
	explanations []webhooks.Explanation
	names        map[uuid.UUID]string
	request      *requests.Request
	base         time.Time // where the timeline begins
	arrived      *time.Time
	arrivals     int
}

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	live := web.Renews(ctx, q.Path("/live/events/"+id.String()), pages.changes(q, id))
	a, err := pages.about(ctx, q, id)
	if err != nil {
		return web.Answer{}, err
	}
	p := eventPage{
		Header: web.Header{
			Title: a.event.Event, Facts: q.At(a.event.OccurredAt.Std()).Exact() + " · " + id.String(),
			Crumbs: []web.Link{{Text: q.T("area.events"), Href: q.Path("/events")}},
			Links:  []web.Link{{Text: q.T("events.of_record"), Href: web.With(q.Path("/events"), "entity", entityOf(a.event))}},
		},
		Timeline: a.steps(q), API: q.Show("getEvent", withWay(id), a.raw), Live: live,
	}
	if trace := pages.traceOf(a.event.Timeline); trace != "" {
		p.Header.Links = append(p.Header.Links, web.Link{Text: q.T("events.trace"), Href: trace})
	}
	lead := a.note(q)
	p.Header.Lead = &lead
	if a.arrived != nil {
		p.First = q.T("events.first", span(q, a.arrived.Sub(a.base)))
	}
	a.event.Timeline = nil
	raw, err := json.Marshal(a.event)
	if err != nil {
		return web.Answer{}, fmt.Errorf("show event: %w", err)
	}
	p.Sent = web.Pretty(raw)
	return web.Show("events/event", a.event.Event, p), nil
}

// of is the input of an operation on an event.
func of(id uuid.UUID) web.Input { return web.Input{Path: map[string]string{"eventId": id.String()}} }

// withWay has the event come with its way.
func withWay(id uuid.UUID) web.Input {
	in := of(id)
	in.Query = url.Values{"include": {"way"}}
	return in
}

// watch is what the page of an event shows.
func (pages *Pages) watch(ctx context.Context, q *web.Request) (web.ChangeSource, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.ChangeSource{}, err
	}
	if _, err := web.Call[web.JSON](ctx, q, "getEvent", withWay(id)); err != nil {
		return web.ChangeSource{}, err
	}
	return pages.changes(q, id), nil
}

func (pages *Pages) changes(q *web.Request, id uuid.UUID) web.ChangeSource {
	company := q.Caller.Company
	return web.ChangeSource{Key: "event " + company.String() + " " + id.String(), Token: func(ctx context.Context) (string, error) { return pages.Events.EventToken(ctx, company, id) }}
}

// traceOf is the address of the trace of the request; "" if none was taken, or traces are not linked.
func (pages *Pages) traceOf(timeline *webhooks.EventTimeline) string {
	if timeline.TraceID == nil || pages.TraceURL == "" {
		return ""
	}
	return strings.ReplaceAll(pages.TraceURL, "{traceId}", url.PathEscape(*timeline.TraceID))
}

// about reads an event, its timeline, what became of it for each subscription, and the request behind it.
func (pages *Pages) about(ctx context.Context, q *web.Request, id uuid.UUID) (a about, err error) {
	if a.raw, err = web.Call[web.JSON](ctx, q, "getEvent", withWay(id)); err != nil {
		return a, err
	}
	if err := web.Decode(a.raw, &a.event); err != nil {
		return a, err
	}
	explanations, err := web.Call[*list.Page[webhooks.Explanation]](ctx, q, "listEventDeliveries", of(id))
	if err != nil {
		return a, err
	}
	subs, err := web.List[webhooks.Subscription](ctx, q, "listWebhookSubscriptions", webhooks.SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}})
	if err != nil {
		return a, err
	}
	a.explanations, a.names = explanations.Items, map[uuid.UUID]string{}
	for _, s := range subs.Items {
		a.names[s.ID] = webhookpages.Name(s)
	}
	timeline := a.event.Timeline
	a.base = timeline.CommittedAt.Std()
	if timeline.RequestedAt != nil {
		a.base = timeline.RequestedAt.Std()
	}
	for _, d := range timeline.Deliveries {
		if at := d.CompletedAt; d.Status == "success" && at != nil {
			if a.arrivals++; a.arrived == nil || at.Std().Before(*a.arrived) {
				first := at.Std()
				a.arrived = &first
			}
		}
	}
	if timeline.RequestID != nil {
		found, err := web.Call[requests.Page](ctx, q, "listRequests", web.Input{Query: web.Query(requests.Query{RequestID: *timeline.RequestID, PageLimit: list.PageLimit{Limit: 1}})})
		if err != nil {
			return a, err
		}
		if len(found.Items) == 1 {
			a.request = &found.Items[0]
		}
	}
	return a, nil
}

func entityOf(e webhooks.EventEnvelope) string {
	var data struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	return data.ID
}

var outcomes = map[string]string{
	"delivered": web.Good, "pending": web.Warn, "failed": web.Bad, "filtered": web.Off, "not_subscribed": web.Off, "skipped": web.Off,
}

// note says in a sentence how far the event is.
func (a about) note(q *web.Request) web.Note {
	count := map[string]int{}
	for _, f := range a.explanations {
		count[f.Outcome]++
	}
	meant := count["delivered"] + count["pending"] + count["failed"]
	switch {
	case len(a.explanations) == 0:
		return web.Note{Kind: web.Info, Text: q.T("events.note.no_subscriptions")}
	case meant == 0:
		return web.Note{Kind: web.Info, Text: q.T("events.note.nobody", len(a.explanations))}
	case count["failed"] > 0:
		return web.Note{Kind: web.Bad, Text: q.T("events.note.failed", count["failed"], meant)}
	case count["pending"] > 0:
		return web.Note{Kind: web.Warn, Text: q.T("events.note.pending", count["pending"], meant)}
	}
	return web.Note{Kind: web.Good, Text: q.T("events.note.delivered", meant)}
}
