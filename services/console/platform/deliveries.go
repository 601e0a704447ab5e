package platform

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
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
	company, subscription, f, err := pages.deliveryParams(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p := deliveriesPage{Header: web.Header{Title: q.T("area.deliveries"), Facts: q.T("platform.deliveries.intro")}}
	var found []operations.Delivery
	var more bool
	if !web.Faulty([]web.Field{company}) && (subscription == nil || subscription.Fault == "") {
		within, cancel := context.WithTimeout(ctx, lookWithin)
		defer cancel()
		found, more, err = pages.Platform.FindDeliveries(within, f)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		p.Note, err = &web.Note{Kind: web.Warn, Title: q.T("platform.deliveries.slow"), Text: q.T("platform.deliveries.slow.next")}, nil
	}
	p.Filter = webhookpages.FilterOf(q, f.DeliveryQuery, deliveriesPath, err, ofEvents)
	p.Filter.Fields = slices.Insert(p.Filter.Fields, 0, company)
	if subscription != nil {
		p.Filter.Fields = slices.Insert(p.Filter.Fields, 1, *subscription)
	}
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
		p.Table.Next = web.With(deliveriesPath, "cursor", found[len(found)-1].ID.String(), ofEvents, company.Value, ofSubscription, q.Form.Get(ofSubscription),
			"status", f.Status, "answer", f.Answer, "event", q.Form.Get("event"), "from", q.Form.Get("from"), "to", q.Form.Get("to"))
	}
	return web.Show("platform/deliveries", q.T("area.deliveries"), p), err
}

// deliveryParams reads the filters of the address, and what is wrong with those that other pages do not have. Receivers are chosen among
// those of a company; without one, there is no such field.
func (pages *Pages) deliveryParams(ctx context.Context, q *web.Request) (company web.Field, subscription *web.Field, f operations.DeliveryFilter, err error) {
	if company, err = pages.companyField(ctx, q, ofEvents); err != nil {
		return company, nil, f, err
	}
	of, wrong := companyIn(q, ofEvents)
	if wrong != nil {
		of, company.Fault = nil, q.T("platform.company_id.fault")
	}
	only, wrong := q.FormID(ofSubscription)
	if of != nil {
		if subscription, err = pages.receiverField(ctx, q, *of); err != nil {
			return company, nil, f, err
		}
	}
	switch {
	case wrong != nil && subscription != nil:
		subscription.Fault = q.T("platform.subscription_id.fault")
	case (wrong != nil || only != nil) && of == nil:
		company.Fault = cmp.Or(company.Fault, q.T("platform.subscription_id.fault"))
	}
	f = operations.DeliveryFilter{DeliveryQuery: webhookpages.QueryOf(q, only), Company: of, Limit: deliveriesShown}
	if f.DateFrom == nil {
		from := list.From(q.Now.Add(-deliveriesSince))
		f.DateFrom = &from
	}
	return company, subscription, f, nil
}

// receiverField is a field for one of the receivers of a company. One that was deleted has its id as name.
func (pages *Pages) receiverField(ctx context.Context, q *web.Request, of tenant.ID) (*web.Field, error) {
	subs, err := pages.Platform.Receivers(ctx, of)
	if err != nil {
		return nil, err
	}
	chosen := q.Form.Get(ofSubscription)
	f := web.Choice(ofSubscription, q.T("webhooks.receiver"), chosen, web.Option{Text: q.T("filter.any")})
	known := chosen == ""
	for _, s := range subs {
		is := s.ID.String() == chosen
		known = known || is
		f.Options = append(f.Options, web.Option{Value: s.ID.String(), Text: webhookpages.Name(s), Selected: is})
	}
	if !known {
		f.Options = append(f.Options, web.Option{Value: chosen, Text: chosen, Selected: true})
	}
	return &f, nil
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
	if err != nil {
		return t, err
	}
	receivers, err := pages.Platform.ReceiversOf(ctx, found)
	for _, d := range found {
		at := "/c/" + d.CompanyID.String() + "/webhooks/"
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(d.Event, at+"deliveries/"+d.ID.String()), companyCell(d.CompanyID, names), receiverCell(d.SubscriptionID, at, receivers),
			webhookpages.DeliveryState(q, d.Status), web.Text(q.T("webhooks.attempt.of", d.Attempt, d.MaxAttempts)), web.Text(short(webhookpages.Answer(q, d.HTTPCode, d.ErrorMessage))), web.When(q.At(d.CreatedAt.Std())),
		})
	}
	return t, err
}

// receiverCell leads to a receiver. One that was deleted has its id as name.
func receiverCell(id uuid.UUID, at string, receivers map[uuid.UUID]webhooks.Subscription) web.Cell {
	if s, ok := receivers[id]; ok {
		return web.LinkTo(webhookpages.Name(s), at+id.String())
	}
	return web.Code(id.String(), at+id.String())
}
