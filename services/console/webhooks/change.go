package webhooks

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// call calls an operation on the record in the path and leads back to its page.
func call[T any](ctx context.Context, q *web.Request, operation string, body any, to func(id uuid.UUID, got T) string) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	in := web.ByID(id)
	in.Body = body
	got, err := web.Call[T](ctx, q, operation, in)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Go(q.Path(to(id, got))), nil
}

// backTo is the page of the subscription, which says what was done.
func backTo(done string) func(uuid.UUID, webhooks.Subscription) string {
	return func(id uuid.UUID, _ webhooks.Subscription) string {
		return "/webhooks/" + id.String() + "?done=" + done
	}
}

// test sends a test message and leads to the page of the subscription, where the answer appears.
func (pages *Pages) test(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "testWebhookSubscription", nil, func(id uuid.UUID, started webhooks.TestStarted) string {
		return "/webhooks/" + id.String() + "?test=" + started.DeliveryID.String()
	})
}

// active is the body that pauses or resumes.
type active struct {
	IsActive bool `json:"isActive"`
}

func (pages *Pages) pause(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "updateWebhookSubscription", active{false}, backTo("paused"))
}

func (pages *Pages) resume(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "updateWebhookSubscription", active{true}, backTo("resumed"))
}

func (pages *Pages) remove(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "deleteWebhookSubscription", nil, func(uuid.UUID, httpapi.None) string { return "/webhooks?done=deleted_webhook" })
}

type secretPage struct {
	Header web.Header
	Note   web.Note
	Secret string
	Next   web.Link
}

// showSecret is the one page that shows a secret. It takes JSON: a form that is sent twice gets the answer that was stored, from which
// the type cannot be read back, because it hides what it holds.
func showSecret(q *web.Request, answer web.JSON, text string) (web.Answer, error) {
	var s struct {
		ID     uuid.UUID `json:"id"`
		URL    string    `json:"url"`
		Name   *string   `json:"name"`
		Secret string    `json:"secret"`
	}
	if err := web.Decode(answer, &s); err != nil {
		return web.Answer{}, err
	}
	name := nameOf(webhooks.Subscription{SubscriptionFields: webhooks.SubscriptionFields{URL: s.URL, Name: s.Name}})
	page := q.Path("/webhooks/" + s.ID.String())
	p := secretPage{
		Header: web.Header{Title: q.T("webhooks.secret.title"), Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}, {Text: name, Href: page}}},
		Note:   web.Note{Kind: web.Warn, Title: q.T("webhooks.secret.once"), Text: text}, Secret: s.Secret, Next: web.Link{Text: q.T("webhooks.secret.next"), Href: page},
	}
	return web.Show("webhooks/secret", p.Header.Title, p), nil
}

func (pages *Pages) rotate(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	if _, err := web.Call[webhooks.Subscription](ctx, q, "getWebhookSubscription", web.ByID(id)); err != nil {
		return web.Answer{}, err
	}
	hours, err := strconv.Atoi(q.Form.Get("overlapHours"))
	if err != nil {
		return web.Answer{}, apierr.InvalidField("overlapHours", apierr.Type, "%s", q.T("tokens.overlap.wrong"))
	}
	// Of the form that is sent twice, the second would take the secret that receivers still have out of the overlap.
	in := web.ByID(id)
	in.Body, in.Version = webhooks.RotateSecretInput{OverlapHours: hours}, q.FormVersion()
	rotated, err := web.Call[web.JSON](ctx, q, "rotateWebhookSecret", in)
	if err != nil {
		return web.Answer{}, err
	}
	return showSecret(q, rotated, q.T("webhooks.rotated", hours))
}

func (pages *Pages) redeliver(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "redeliverWebhook", nil, func(_ uuid.UUID, d webhooks.DeliveryRecord) string {
		return "/webhooks/deliveries/" + d.ID.String() + "?done=redelivered"
	})
}

func (pages *Pages) skip(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "skipWebhookDelivery", nil, func(id uuid.UUID, _ webhooks.DeliveryRecord) string {
		return "/webhooks/deliveries/" + id.String() + "?done=skipped"
	})
}

// sendNow makes the attempt that a delivery waits for.
func (pages *Pages) sendNow(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "sendWebhookDeliveryNow", nil, func(id uuid.UUID, _ webhooks.DeliveryRecord) string {
		return "/webhooks/deliveries/" + id.String() + "?done=sent_now"
	})
}

// probe asks the receiver now and leads to the page of the subscription, where the answer appears.
func (pages *Pages) probe(ctx context.Context, q *web.Request) (web.Answer, error) {
	return call(ctx, q, "probeWebhookSubscription", nil, func(id uuid.UUID, d webhooks.DeliveryRecord) string {
		return "/webhooks/" + id.String() + "?asked=" + d.ID.String()
	})
}

// maxChosen is how many deliveries are sent again at once: those of a page. More are a replay.
const maxChosen = 50

type redeliveredPage struct {
	Header web.Header
	Note   web.Note
	Table  web.Table
}

// chosenIDs are the deliveries that were selected, each once.
func chosenIDs(q *web.Request) (ids []uuid.UUID, err error) {
	for _, text := range q.Form["id"] {
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, web.NoPage()
		}
		if len(ids) < maxChosen && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// redeliverMany sends the selected deliveries again, and says of each what became of it.
func (pages *Pages) redeliverMany(ctx context.Context, q *web.Request) (web.Answer, error) {
	ids, err := chosenIDs(q)
	if err != nil {
		return web.Answer{}, err
	}
	p := redeliveredPage{
		Header: web.Header{Title: q.T("webhooks.again.title"), Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}, {Text: q.T("webhooks.deliveries"), Href: q.Path("/webhooks/deliveries")}}},
		Table: web.Table{
			Label: q.T("webhooks.again.title"), Columns: []web.Column{{Text: q.T("webhooks.event")}, {Text: q.T("people.status")}, {Text: q.T("webhooks.again.new")}},
			Empty: web.Empty{Title: q.T("webhooks.again.none"), Text: q.T("webhooks.again.none.text"), Action: &web.Link{Text: q.T("webhooks.deliveries"), Href: q.Path("/webhooks/deliveries")}},
		},
	}
	sent := 0
	for _, id := range ids {
		d, err := web.Call[webhooks.DeliveryRecord](ctx, q, "redeliverWebhook", web.ByID(id))
		known, refused := apierr.As(err)
		if err != nil && (!refused || known.Status >= 500) {
			return web.Answer{}, err
		}
		if refused {
			p.Table.Rows = append(p.Table.Rows, []web.Cell{web.Code(id.String(), ""), web.State(web.Bad, q.T("webhooks.again.refused")), web.Text(q.Why(known))})
			continue
		}
		sent++
		p.Table.Rows = append(p.Table.Rows, []web.Cell{web.Text(d.Event), DeliveryState(q, d.Status), web.Code(d.ID.String(), q.Path("/webhooks/deliveries/"+d.ID.String()))})
	}
	p.Note = web.Note{Kind: web.Good, Text: q.T("webhooks.again.sent", sent, len(ids))}
	if sent < len(ids) {
		p.Note.Kind = web.Warn
	}
	return web.Show("webhooks/redelivered", p.Header.Title, p), nil
}
