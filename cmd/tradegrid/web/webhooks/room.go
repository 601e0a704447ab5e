// Package webhooks holds the pages on receivers: which get what is sent to them, which do not, and why.
package webhooks

import (
	"context"
	"embed"
	"io/fs"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on webhooks.
const scope = "webhooks"

// Service knows subscriptions and deliveries.
type Service interface {
	Subscriptions(ctx context.Context, by access.Caller, f webhooks.SubscriptionFilter) (*list.Page[webhooks.Subscription], error)
	Subscription(ctx context.Context, by access.Caller, id uuid.UUID) (webhooks.Subscription, error)
	CompanyDeliveries(ctx context.Context, by access.Caller, in webhooks.DeliveryQuery) (webhooks.DeliveryPage, error)
	Delivery(ctx context.Context, by access.Caller, id uuid.UUID) (webhooks.DeliveryDetail, error)
	SendTest(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in *webhooks.SubscriptionTestInput) (webhooks.TestStarted, error)
	Redeliver(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (webhooks.DeliveryRecord, error)
}

// Room has the pages.
type Room struct{ Webhooks Service }

// Name implements [web.Room].
func (*Room) Name() string { return "webhooks" }

// Templates implements [web.Room].
func (*Room) Templates() fs.FS { return files }

// Pages implements [web.Room].
func (r *Room) Pages() []web.Page {
	return []web.Page{
		web.Get(web.Webhooks, scope, "/webhooks", r.list),
		web.Get(web.Webhooks, scope, "/webhooks/deliveries", r.deliveries),
		web.Get(web.Webhooks, scope, "/webhooks/deliveries/{id}", r.delivery),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/{id}/redeliver", r.redeliver),
		web.Get(web.Webhooks, scope, "/webhooks/{id}", r.show),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/test", r.test),
	}
}

type listPage struct {
	Header web.Header
	Note   web.Note
	Table  web.Table
}

func (r *Room) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	found, err := r.Webhooks.Subscriptions(ctx, q.Caller, webhooks.SubscriptionFilter{Params: list.Params{PageSize: webhooks.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return web.Answer{}, err
	}
	p := listPage{
		Header: web.Header{Title: q.T("area.webhooks"), Links: []web.Link{{Text: q.T("webhooks.deliveries.all"), Href: q.Path("/webhooks/deliveries")}}},
		Note:   summary(q, found.Items),
		Table: web.Table{
			Label: q.T("area.webhooks"),
			Columns: []web.Column{
				{Text: q.T("webhooks.receiver")}, {Text: q.T("webhooks.state")}, {Text: q.T("webhooks.events")}, {Text: q.T("webhooks.last_success")}, {Text: q.T("webhooks.answers_in"), Num: true},
			},
			Empty: web.Empty{Title: q.T("webhooks.none"), Text: q.T("webhooks.none.text")},
		},
	}
	for _, s := range found.Items {
		p.Table.Rows = append(p.Table.Rows, row(q, s))
	}
	return web.Show("webhooks/list", q.T("area.webhooks"), p), nil
}

func row(q *web.Request, s webhooks.Subscription) []web.Cell {
	chip := stateOf(q, s)
	last, took := web.Text(q.T("webhooks.never")), web.Number("")
	if s.LastSuccessAt != nil {
		last = web.When(q.At(s.LastSuccessAt.Std()))
	}
	if s.Health.AverageMs != nil {
		took = web.Number(q.T("unit.ms", *s.Health.AverageMs))
	}
	return []web.Cell{web.LinkTo(nameOf(s), q.Path("/webhooks/"+s.ID.String())).With(hostIfNamed(s)), {Chip: &chip}, web.Text(eventsOf(q, s)), last, took}
}

type subscriptionPage struct {
	Header  web.Header
	Note    web.Note
	Facts   []web.Fact
	Table   web.Table
	Refresh string // address that the page is read from again
}

// latest is how many deliveries the page of a subscription shows.
const latest = 20

func (r *Room) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := uuid.Parse(q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, web.NoPage()
	}
	s, err := r.Webhooks.Subscription(ctx, q.Caller, id)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := r.Webhooks.CompanyDeliveries(ctx, q.Caller, webhooks.DeliveryQuery{SubscriptionID: &id, PageLimit: list.PageLimit{Limit: latest}})
	if err != nil {
		return web.Answer{}, err
	}
	waiting, err := r.Webhooks.CompanyDeliveries(ctx, q.Caller, webhooks.DeliveryQuery{SubscriptionID: &id, Status: statusPending, PageLimit: list.PageLimit{Limit: 1}})
	if err != nil {
		return web.Answer{}, err
	}
	chip := stateOf(q, s)
	all := web.With(q.Path("/webhooks/deliveries"), "subscription", id.String())
	p := subscriptionPage{
		Header: web.Header{
			Title: nameOf(s), Chip: &chip, Facts: s.URL, Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}},
			Links: []web.Link{{Text: q.T("webhooks.deliveries.all"), Href: all}},
		},
		Note: sentence(q, s, waiting.Items), Facts: factsOf(q, s), Refresh: q.Path("/webhooks/" + id.String()),
		Table: deliveryTable(q, found, nil),
	}
	if q.Allows(scope, true) {
		p.Header.Actions = []web.Action{{Text: q.T("webhooks.test"), Post: q.Path("/webhooks/" + id.String() + "/test"), Kind: "primary"}}
	}
	if p.Table.Next != "" {
		p.Table.Next = web.With(all, "cursor", *found.NextCursor, "subscription", id.String())
	}
	return web.Show("webhooks/subscription", nameOf(s), p), nil
}

// test sends a test message and leads to its delivery, where the answer appears.
func (r *Room) test(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := uuid.Parse(q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, web.NoPage()
	}
	var started webhooks.TestStarted
	err = q.Change(ctx, "testWebhookSubscription", func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		started, err = r.Webhooks.SendTest(ctx, tx, q.Caller, id, nil)
		return web.Changed{Entity: id.String(), After: started}, err
	})
	return web.Go(q.Path("/webhooks/deliveries/" + started.DeliveryID.String() + "?done=test")), err
}
