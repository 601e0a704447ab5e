package webhooks

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// skippedOutcomes are the states of events that a receiver did not get.
var skippedOutcomes = []string{"filtered", "not_subscribed", "skipped"}

// skipped lists the events that a subscription did not get, each with the reason.
func (pages *Pages) skipped(ctx context.Context, q *web.Request, s webhooks.Subscription, head subscription) (web.Answer, error) {
	page := q.Path("/webhooks/" + s.ID.String())
	query := webhooks.SkippedQuery{Cursor: q.Form.Get("cursor"), PageLimit: list.PageLimit{Limit: 50}, Outcome: web.OneOf(q.Form.Get("outcome"), skippedOutcomes)}
	in := web.ByID(s.ID)
	in.Query = web.Query(query)
	found, err := web.Call[webhooks.SkippedPage](ctx, q, "listSkippedWebhookEvents", in)
	if err != nil {
		return web.Answer{}, err
	}
	p := deliveriesPage{subscription: head, Text: q.T("webhooks.skipped.text"), Filter: web.Filter{
		Action: page, Button: q.T("filter.apply"), Hidden: map[string]string{"tab": tabSkipped},
		Fields: []web.Field{q.Any("outcome", q.T("webhooks.preview.outcome"), query.Outcome, skippedOutcomes, func(o string) string { return q.T("outcome." + o) })},
	}}
	if query.Outcome != "" {
		p.Filter.Clear = web.With(page, "tab", tabSkipped)
	}
	p.Table = web.Table{
		Label:   q.T("hooktab." + tabSkipped),
		Columns: []web.Column{{Text: q.T("webhooks.event")}, {Text: q.T("webhooks.preview.outcome")}, {Text: q.T("webhooks.why")}, {Text: q.T("audit.when")}},
		Empty:   web.Empty{Title: q.T("webhooks.skipped.none"), Text: q.T("webhooks.skipped.none.text")},
	}
	if found.HasMore {
		p.Table.Empty.Text = q.T("webhooks.skipped.none.here")
	}
	for _, e := range found.Items {
		p.Table.Rows = append(p.Table.Rows, []web.Cell{
			web.LinkTo(e.Event, q.Path("/events/"+e.EventID.String())), web.State(web.Off, q.T("outcome."+e.Outcome)), web.Text(Why(q, e)), web.When(q.At(e.OccurredAt.Std())),
		})
	}
	if found.NextCursor != nil {
		p.Table.Next = web.With(page, "tab", tabSkipped, "outcome", query.Outcome, "cursor", *found.NextCursor)
	}
	return web.Show("webhooks/deliveries", nameOf(s), p), nil
}
