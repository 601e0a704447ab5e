package events

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
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

// steps is the timeline, from the request to what happens next.
func (a about) steps(q *web.Request) []web.Step {
	timeline := a.event.Timeline
	steps := []web.Step{a.origin(q), {Time: a.since(q, timeline.CommittedAt.Std()), Title: q.T("timeline.committed"), Text: q.T("timeline.committed.text")}}
	if timeline.PublishedAt != nil {
		steps = append(steps, web.Step{Time: a.since(q, timeline.PublishedAt.Std()), Title: q.T("timeline.published"), Text: q.T("timeline.published.text")})
	} else {
		steps = append(steps, web.Step{Time: q.T("timeline.next"), Kind: web.Warn, Title: q.T("timeline.unpublished"), Text: q.T("timeline.unpublished.text")})
	}
	looked := web.Step{Title: q.T("timeline.subscriptions", len(a.explanations)), Kind: web.Off}
	if len(timeline.Deliveries) > 0 {
		looked.Time = a.since(q, timeline.Deliveries[0].RoutedAt.Std())
	}
	for _, f := range a.explanations {
		looked.Branches = append(looked.Branches, web.Branch{
			Chip: web.Chip{Kind: outcomes[f.Outcome], Text: q.T("outcome." + f.Outcome)},
			Name: web.Link{Text: a.names[f.SubscriptionID], Href: q.Path("/webhooks/" + f.SubscriptionID.String())}, Why: webhookpages.Why(q, f), Act: sendNow(q, f),
		})
	}
	steps = append(steps, looked)
	for _, d := range timeline.Deliveries {
		steps = append(steps, a.attempts(q, d)...)
	}
	return steps
}

// sendNow is the button of a receiver for which the event waits.
func sendNow(q *web.Request, e webhooks.Explanation) *web.Action {
	if e.Delivery == nil {
		return nil
	}
	return webhookpages.SendNow(q, e.Delivery.DeliveryRecord)
}

// origin is the step that caused the event.
func (a about) origin(q *web.Request) web.Step {
	switch {
	case a.request != nil:
		r := a.request
		kind := web.Good
		if r.Status >= 400 {
			kind = web.Bad
		}
		return web.Step{
			Time: "0 ms", Title: r.Method + " " + pathOf(*r), Chip: &web.Chip{Kind: kind, Text: strconv.Itoa(int(r.Status))},
			Text:  q.T("timeline.request", r.TokenName, r.Address, r.DurationMs),
			Links: []web.Link{{Text: r.RequestID, Href: q.Path(RequestPage(q, r.ID.String()))}},
		}
	case a.event.Timeline.RequestID != nil:
		return web.Step{Time: "0 ms", Title: q.T("timeline.request.unknown"), Text: q.T("timeline.request.unknown.text", *a.event.Timeline.RequestID)}
	}
	return web.Step{Time: "0 ms", Title: q.T("timeline.platform"), Text: q.T("timeline.platform.text")}
}

// attempts are the steps of one delivery, and what happens next to it.
func (a about) attempts(q *web.Request, d webhooks.TimelineDelivery) []web.Step {
	var steps []web.Step
	link := []web.Link{{Text: d.ID.String(), Href: q.Path("/webhooks/deliveries/" + d.ID.String())}}
	for _, t := range d.Attempts {
		kind, answer := web.Bad, ""
		switch {
		case t.HTTPCode != nil:
			answer = strconv.Itoa(*t.HTTPCode)
			if *t.HTTPCode < 300 {
				kind = web.Good
			}
		case t.ErrorMessage != nil:
			answer = *t.ErrorMessage
		}
		steps = append(steps, web.Step{
			Time: a.since(q, t.StartedAt.Std()), Kind: kind, Title: q.T("timeline.attempt", t.Attempt, a.names[d.SubscriptionID]), Chip: &web.Chip{Kind: kind, Text: answer},
			Text: q.T("timeline.took", t.DurationMs), Links: link,
		})
	}
	if d.CompletedAt == nil {
		next := web.Step{Time: q.T("timeline.next"), Kind: web.Warn, Title: q.T("timeline.attempt", d.Attempt+1, a.names[d.SubscriptionID]), Links: link}
		if d.WaitingFor != nil {
			next.Text = q.T("waiting." + string(*d.WaitingFor))
		}
		if d.NextAttemptAt != nil && d.NextAttemptAt.Std().After(q.Now) {
			next.Text = q.T("webhooks.next.at", q.At(d.NextAttemptAt.Std()).Short(), next.Text)
		}
		steps = append(steps, next)
	}
	return steps
}

// since is the time of a step of the timeline.
func (a about) since(q *web.Request, at time.Time) string { return "+" + span(q, at.Sub(a.base)) }

// span is a duration to the millisecond, unless it is a long one.
func span(q *web.Request, d time.Duration) string {
	if d < 10*time.Second {
		return q.T("unit.ms", max(d.Milliseconds(), 0))
	}
	return q.Duration(d)
}
