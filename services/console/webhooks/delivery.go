package webhooks

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

type deliveryPage struct {
	Header   web.Header
	Facts    []web.Fact
	Attempts web.Table
	Request  string // the last request, without its signature
	Answer   string
	Payload  string
	API      web.Shown
	Live     string // "" once the delivery is over
}

func (pages *Pages) delivery(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	d, live, err := pages.readDelivery(ctx, q, id)
	if err != nil {
		return web.Answer{}, err
	}
	s, err := web.Call[webhooks.Subscription](ctx, q, "getWebhookSubscription", web.ByID(d.SubscriptionID))
	gone := apierr.Is(err, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")
	if err != nil && !gone {
		return web.Answer{}, err
	}
	p := deliveryPage{
		Header: web.Header{
			Title: d.Event, Chip: &web.Chip{Kind: kinds[d.Status], Text: q.T("delivery." + d.Status)}, Facts: testOf(q, d.DeliveryRecord),
			Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}},
		},
		Facts: deliveryFacts(q, d, s), Attempts: attempts(q, d.Attempts), Payload: web.Pretty(d.Payload), API: q.Show("getWebhookDelivery", web.ByID(id), d), Live: live,
	}
	lead := deliverySummary(q, d.DeliveryRecord)
	p.Header.Lead = &lead
	if !gone {
		p.Request = requestHead(d, s)
		p.Header.Crumbs = append(p.Header.Crumbs, web.Link{Text: nameOf(s), Href: web.With(q.Path("/webhooks/"+s.ID.String()), "tab", tabDeliveries)})
	}
	if d.ResponseBody != nil {
		p.Answer = *d.ResponseBody
	}
	switch page := q.Path("/webhooks/deliveries/" + id.String()); {
	case !q.Allows(scope, true) || gone:
	case over(d.DeliveryRecord):
		p.Header.First = &web.Action{Text: q.T("webhooks.redeliver"), Post: page + "/redeliver", Kind: "primary"}
	default:
		if now := SendNow(q, d.DeliveryRecord); now != nil {
			now.Kind, now.Small = "primary", false
			p.Header.First = now
		}
		if s.Ordered {
			p.Header.Actions = []web.Action{{ID: "skip", Text: q.T("webhooks.skip"), Post: page + "/skip", Kind: "danger", Confirm: q.T("webhooks.skip.this")}}
		}
	}
	if !d.IsTest {
		p.Header.Links = []web.Link{{Text: q.T("webhooks.timeline"), Href: q.Path("/events/" + d.EventID.String())}}
	}
	return web.Show("webhooks/delivery", d.Event, p), nil
}

// readDelivery reads a delivery and, if it is open, where its page hears of changes since.
func (pages *Pages) readDelivery(ctx context.Context, q *web.Request, id uuid.UUID) (d webhooks.DeliveryDetail, live string, err error) {
	if d, err = web.Call[webhooks.DeliveryDetail](ctx, q, "getWebhookDelivery", web.ByID(id)); err != nil || over(d.DeliveryRecord) {
		return d, "", err
	}
	live = web.Renews(ctx, q.Path("/live/deliveries/"+id.String()), pages.changesDelivery(q, d.DeliveryRecord))
	d, err = web.Call[webhooks.DeliveryDetail](ctx, q, "getWebhookDelivery", web.ByID(id)) // again: the token may be younger
	return d, live, err
}

// requestHead is the head of the last request as the receiver got it. Signature and the values of extra headers are secrets.
func requestHead(d webhooks.DeliveryDetail, s webhooks.Subscription) string {
	if d.Attempt == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s\n", s.URL)
	for _, h := range [][2]string{
		{"Content-Type", webhook.ContentType},
		{"User-Agent", webhook.UserAgent},
		{webhook.HeaderEvent, d.Event},
		{webhook.HeaderEventID, d.EventID.String()},
		{webhook.HeaderDeliveryID, d.ID.String()},
		{webhook.HeaderWebhookID, d.SubscriptionID.String()},
		{webhook.HeaderAttempt, fmt.Sprint(d.Attempt)},
		{webhook.HeaderSignature, "sha256=…"},
		{webhook.HeaderStandardID, d.ID.String()},
		{webhook.HeaderStandardSignature, "v1,…"},
	} {
		fmt.Fprintf(&b, "%s: %s\n", h[0], h[1])
	}
	if names := headerNames(s); names != "–" {
		for name := range strings.SplitSeq(names, ", ") {
			fmt.Fprintf(&b, "%s: …\n", name)
		}
	}
	return b.String()
}

// deliverySummary says in a sentence what became of a delivery, and what happens next.
func deliverySummary(q *web.Request, d webhooks.DeliveryRecord) web.Note {
	n := web.Note{Kind: kinds[d.Status], Title: q.T("delivery_summary."+d.Status, d.Attempt)}
	switch d.Status {
	case statusFailed:
		n.Text = Answer(q, d.HTTPCode, d.ErrorMessage) + " " + q.T("delivery_summary.failed.next")
	case statusSuccess:
		n.Text = Answer(q, d.HTTPCode, nil)
	default:
		n.Text = nextOf(q, d)
	}
	return n
}

func deliveryFacts(q *web.Request, d webhooks.DeliveryDetail, s webhooks.Subscription) []web.Fact {
	receiver := web.Code(d.SubscriptionID.String(), "")
	if s.ID == d.SubscriptionID {
		receiver = web.LinkTo(nameOf(s), q.Path("/webhooks/"+d.SubscriptionID.String()))
	}
	facts := []web.Fact{
		{Label: q.T("webhooks.receiver"), Cell: receiver},
		{Label: q.T("webhooks.event"), Cell: web.Code(d.EventID.String(), q.Path("/events/"+d.EventID.String()))},
		{Label: q.T("webhooks.made"), Cell: web.When(q.At(d.CreatedAt.Std()))},
		{Label: q.T("webhooks.attempt"), Cell: web.Text(q.T("webhooks.attempt.of", d.Attempt, d.MaxAttempts))},
		{Label: q.T("webhooks.id"), Cell: web.Code(d.ID.String(), "")},
	}
	if d.IsTest {
		facts[1].Cell.Href = "" // a test is no event of the log
	}
	if d.ExpiresAt != nil && d.CompletedAt == nil {
		facts = append(facts, web.Fact{Label: q.T("webhooks.expires"), Cell: web.When(q.At(d.ExpiresAt.Std()))})
	}
	if d.RedeliveryOfID != nil {
		facts = append(facts, web.Fact{Label: q.T("webhooks.again_of"), Cell: web.Code(d.RedeliveryOfID.String(), q.Path("/webhooks/deliveries/"+d.RedeliveryOfID.String()))})
	}
	return facts
}

func attempts(q *web.Request, all []webhooks.DeliveryAttempt) web.Table {
	t := web.Table{
		Label:   q.T("webhooks.attempts"),
		Columns: []web.Column{{Text: q.T("webhooks.attempt")}, {Text: q.T("audit.when")}, {Text: q.T("webhooks.answer")}, {Text: q.T("webhooks.took"), Num: true}},
		Empty:   web.Empty{Title: q.T("webhooks.attempts.none"), Text: q.T("webhooks.attempts.none.text")},
	}
	for _, a := range all {
		t.Rows = append(t.Rows, []web.Cell{
			web.Text(q.T("webhooks.attempt.no", a.Attempt)), web.When(q.At(a.StartedAt.Std())), web.Text(Answer(q, a.HTTPCode, a.ErrorMessage)), web.Number(q.T("unit.ms", a.DurationMs)),
		})
	}
	return t
}
