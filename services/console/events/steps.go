package events

import (
	"slices"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// steps is the timeline, from the request to what happens next.
func (a about) steps(q *web.Request) []web.Step {
	timeline := a.event.Timeline
	times := noted(timeline)
	steps := []web.Step{a.origin(q), {Time: a.shown(q, times.committed), Title: q.T("timeline.committed"), Text: q.T("timeline.committed.text")}}
	if timeline.PublishedAt != nil {
		published := web.Step{Time: a.shown(q, times.published), Title: q.T("timeline.published"), Text: q.T("timeline.published.text")}
		if times.published.late() {
			published.Text += " " + q.T("timeline.late", a.since(q, timeline.PublishedAt.Std()))
		}
		steps = append(steps, published)
	} else {
		steps = append(steps, web.Step{Time: q.T("timeline.next"), Kind: web.Warn, Title: q.T("timeline.unpublished"), Text: q.T("timeline.unpublished.text")})
	}
	looked := web.Step{Title: q.T("timeline.subscriptions", len(a.explanations)), Kind: web.Off}
	if len(timeline.Deliveries) > 0 {
		looked.Time = a.shown(q, times.routed)
	}
	for _, f := range a.explanations {
		looked.Branches = append(looked.Branches, web.Branch{
			Chip: web.Chip{Kind: outcomes[f.Outcome], Text: q.T("outcome." + f.Outcome)},
			Name: web.Link{Text: a.names[f.SubscriptionID], Href: q.Path("/webhooks/" + f.SubscriptionID.String())}, Why: webhookpages.Why(q, f), Act: sendNow(q, f),
		})
	}
	steps = append(steps, looked)
	return append(append(steps, a.attempts(q)...), a.pending(q)...)
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

// attempts are what was sent to all receivers, in the order of the attempts.
func (a about) attempts(q *web.Request) []web.Step {
	type attempt struct {
		webhooks.DeliveryAttempt
		of webhooks.TimelineDelivery
	}
	var all []attempt
	for _, d := range a.event.Timeline.Deliveries {
		for _, t := range d.Attempts {
			all = append(all, attempt{t, d})
		}
	}
	slices.SortStableFunc(all, func(a, b attempt) int { return a.StartedAt.Std().Compare(b.StartedAt.Std()) })
	steps := make([]web.Step, len(all))
	for i, t := range all {
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
		steps[i] = web.Step{
			Time: a.since(q, t.StartedAt.Std()), Kind: kind, Title: q.T("timeline.attempt", t.Attempt, a.names[t.of.SubscriptionID]), Chip: &web.Chip{Kind: kind, Text: answer},
			Text: q.T("timeline.took", t.DurationMs), Links: deliveryLink(q, t.of),
		}
	}
	return steps
}

// pending are the attempts that come next.
func (a about) pending(q *web.Request) (steps []web.Step) {
	for _, d := range a.event.Timeline.Deliveries {
		if d.CompletedAt != nil {
			continue
		}
		next := web.Step{Time: q.T("timeline.next"), Kind: web.Warn, Title: q.T("timeline.attempt", d.Attempt+1, a.names[d.SubscriptionID]), Links: deliveryLink(q, d)}
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

func deliveryLink(q *web.Request, d webhooks.TimelineDelivery) []web.Link {
	return []web.Link{{Text: d.ID.String(), Href: q.Path("/webhooks/deliveries/" + d.ID.String())}}
}

// moment is when a step was noted, and by when it had happened, because the one after it had. They differ where another process, with
// a clock of its own, saw what followed before this one noted the step.
type moment struct{ noted, by time.Time }

// late says that the step was noted, to the millisecond, after what followed it.
func (m moment) late() bool { return m.noted.Truncate(time.Millisecond).After(m.by) }

// moments are those of the steps before the attempts.
type moments struct{ committed, published, routed moment }

// noted are the times of a timeline, none of which is after the one that followed.
func noted(t *webhooks.EventTimeline) (m moments) {
	var next *time.Time
	at := func(noted time.Time) moment {
		by := noted
		if next != nil && next.Before(by) {
			by = *next
		}
		next = &by
		return moment{noted, by}
	}
	for _, d := range t.Deliveries {
		for _, tried := range d.Attempts {
			if first := tried.StartedAt.Std(); next == nil || first.Before(*next) {
				next = &first
			}
		}
	}
	if len(t.Deliveries) > 0 {
		m.routed = at(t.Deliveries[0].RoutedAt.Std())
	}
	if t.PublishedAt != nil {
		m.published = at(t.PublishedAt.Std())
	}
	m.committed = at(t.CommittedAt.Std())
	return m
}

// shown is the time of a step, or by when it had happened.
func (a about) shown(q *web.Request, m moment) string {
	if m.late() {
		return q.T("timeline.by", a.since(q, m.by))
	}
	return a.since(q, m.by)
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
