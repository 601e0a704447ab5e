package platform

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/operations"
)

type deliveriesPage struct {
	Header web.Header
	Note   *web.Note // that not all were looked at
	Filter web.Filter
	Table  web.Table
}

const (
	deliveriesShown = 50
	// deliveriesSince is how far the page looks back when it is not told.
	deliveriesSince = 24 * time.Hour
	deliveriesPath  = "/platform/deliveries"
	ofSubscription  = "subscription"
)

// deliveries lists those of all companies, or of one.
func (pages *Pages) deliveries(ctx context.Context, q *web.Request) (web.Answer, error) {
	company, subscription, f := deliveryParams(q)
	p := deliveriesPage{Header: web.Header{Title: q.T("area.deliveries"), Facts: q.T("platform.deliveries.intro")}}
	var found []operations.Delivery
	var more bool
	var err error
	if !web.Faulty([]web.Field{company, subscription}) {
		within, cancel := context.WithTimeout(ctx, lookWithin)
		defer cancel()
		found, more, err = pages.Platform.FindDeliveries(within, f)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		p.Note, err = &web.Note{Kind: web.Warn, Title: q.T("platform.deliveries.slow"), Text: q.T("platform.deliveries.slow.next")}, nil
	}
	p.Filter = webhookpages.FilterOf(q, f.DeliveryQuery, deliveriesPath, err, ofEvents)
	p.Filter.Fields = slices.Insert(p.Filter.Fields, 0, company, subscription)
	if company.Value != "" {
		p.Filter.Clear = deliveriesPath
	}
	if web.Faulty(p.Filter.Fields) {
		return web.Show("platform/deliveries", q.T("area.deliveries"), p).Refuse(), nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	if p.Table, err = pages.deliveryTable(ctx, q, found); more {
		p.Table.Next = web.With(deliveriesPath, "cursor", found[len(found)-1].ID.String(), ofEvents, company.Value, ofSubscription, subscription.Value,
			"status", f.Status, "answer", f.Answer, "event", q.Form.Get("event"), "from", q.Form.Get("from"), "to", q.Form.Get("to"))
	}
	return web.Show("platform/deliveries", q.T("area.deliveries"), p), err
}

// deliveryParams reads the filters of the address, and what is wrong with those that other pages do not have.
func deliveryParams(q *web.Request) (company, subscription web.Field, f operations.DeliveryFilter) {
	company = web.Field{Name: ofEvents, Label: q.T("platform.company_id"), Value: q.Form.Get(ofEvents)}
	subscription = web.Field{Name: ofSubscription, Label: q.T("platform.subscription_id"), Value: q.Form.Get(ofSubscription)}
	of, err := companyIn(q, ofEvents)
	if err != nil {
		company.Fault = q.T("platform.company_id.fault")
	}
	only, err := q.FormID(ofSubscription)
	if err != nil || (only != nil && of == nil) {
		subscription.Fault = q.T("platform.subscription_id.fault")
	}
	f = operations.DeliveryFilter{DeliveryQuery: webhookpages.QueryOf(q, only), Company: of, Limit: deliveriesShown}
	if f.DateFrom == nil {
		from := list.From(q.Now.Add(-deliveriesSince))
		f.DateFrom = &from
	}
	return company, subscription, f
}

func (pages *Pages) deliveryTable(ctx context.Context, q *web.Request, found []operations.Delivery) (web.Table, error) {
	t := web.Table{
		Label: q.T("area.deliveries"),
		Columns: []web.Column{
			{Text: q.T("webhooks.event")}, {Text: q.T("platform.company")}, {Text: q.T("webhooks.receiver")}, {Text: q.T("people.status")}, {Text: q.T("webhooks.attempt")}, {Text: q.T("webhooks.answer")}, {Text: q.T("audit.when")},
		},
		Empty: web.Empty{Title: q.T("webhooks.deliveries.none"), Text: q.T("webhooks.deliveries.none.text")},
	}
	ids := make([]tenant.ID, len(found))
	for i, d := range found {
		ids[i] = d.CompanyID
	}
	names, err := pages.names(ctx, q, ids)
	for _, d := range found {
		at := "/c/" + d.CompanyID.String() + "/webhooks/"
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(d.Event, at+"deliveries/"+d.ID.String()), companyCell(d.CompanyID, names), web.Code(d.SubscriptionID.String(), at+d.SubscriptionID.String()),
			webhookpages.DeliveryState(q, d.Status), web.Text(q.T("webhooks.attempt.of", d.Attempt, d.MaxAttempts)), web.Text(short(webhookpages.Answer(q, d.HTTPCode, d.ErrorMessage))), web.When(q.At(d.CreatedAt.Std())),
		})
	}
	return t, err
}
