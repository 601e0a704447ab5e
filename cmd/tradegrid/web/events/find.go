package events

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/services/requests"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

type findPage struct {
	Header web.Header
	Empty  web.Empty
}

// find leads to what was typed into the find field.
func (r *Room) find(ctx context.Context, q *web.Request) (web.Answer, error) {
	return r.lead(ctx, q, strings.TrimSpace(q.Form.Get("q")))
}

// goTo leads to the page of any id.
func (r *Room) goTo(ctx context.Context, q *web.Request) (web.Answer, error) {
	return r.lead(ctx, q, q.HTTP.PathValue("id"))
}

// goHome is /go/{id} without a company: that of the person.
func (r *Room) goHome(_ context.Context, q *web.Request) (web.Answer, error) {
	if q.Person.Operator() {
		return web.Answer{}, web.NoPage() // an id does not tell its company
	}
	return web.Go(q.Path("/go/" + web.Segment(q.HTTP.PathValue("id")))), nil
}

func (r *Room) lead(ctx context.Context, q *web.Request, text string) (web.Answer, error) {
	if text == "" {
		return web.Go(q.Path("/events")), nil
	}
	to, err := r.search(ctx, q, text)
	if err != nil {
		return web.Answer{}, err
	}
	if to != "" {
		return web.Go(q.Path(to)), nil
	}
	return web.Show("events/find", q.T("find.title"), findPage{
		Header: web.Header{Title: q.T("find.title")},
		Empty:  web.Empty{Title: q.T("find.none", text), Text: q.T("find.none.text"), Action: &web.Link{Text: q.T("area.events"), Href: q.Path("/events")}},
	}).Status(404), nil
}

// search asks, one after the other, whoever may know an id. "" = nobody does. What the caller may not see is not known either.
func (r *Room) search(ctx context.Context, q *web.Request, text string) (string, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return r.searchRequest(ctx, q, text)
	}
	for _, try := range []struct {
		page string
		read func() error
	}{
		{"/events/" + id.String(), func() error { _, err := r.Events.EventWithWay(ctx, q.Caller, id); return err }},
		{"/webhooks/" + id.String(), func() error { _, err := r.Events.Subscription(ctx, q.Caller, id); return err }},
		{"/webhooks/deliveries/" + id.String(), func() error { _, err := r.Events.Delivery(ctx, q.Caller, id); return err }},
		{requestPage(q, id), func() error { _, err := r.Requests.Get(ctx, q.Caller, id); return err }},
	} {
		err := try.read()
		if known, ok := apierr.As(err); ok && known.Status < 500 {
			continue
		}
		if err != nil {
			return "", err
		}
		return try.page, nil
	}
	found, _, err := r.Events.Latest(ctx, q.Caller, webhooks.LatestQuery{EntityID: id, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return "/events?entity=" + id.String(), nil
	}
	return r.searchRequest(ctx, q, text)
}

// searchRequest looks for the X-Request-Id that a client sent.
func (r *Room) searchRequest(ctx context.Context, q *web.Request, text string) (string, error) {
	if text == "" || len(text) > 128 {
		return "", nil
	}
	found, err := r.Requests.List(ctx, q.Caller, requests.Query{RequestID: text, PageLimit: list.PageLimit{Limit: 1}})
	if err != nil || len(found.Items) == 0 {
		return "", err
	}
	return requestPage(q, found.Items[0].ID), nil
}

// requestPage is where a request is shown: its own page, or its events for those who do not see the log.
func requestPage(q *web.Request, id uuid.UUID) string {
	if q.Sees(web.Requests) {
		return "/requests/" + id.String()
	}
	return "/events?request=" + id.String()
}
