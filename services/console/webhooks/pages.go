// Package webhooks holds the pages on receivers: which get what is sent to them, which do not, and why.
package webhooks

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

//go:embed *.html
var files embed.FS

// scope is that of the operations of the API on webhooks.
const scope = "webhooks"

// Service knows what the API has no operations for.
type Service interface {
	Activity(ctx context.Context, by access.Caller, subs []uuid.UUID) (map[uuid.UUID]*webhooks.Activity, error)
	Replays(ctx context.Context, by access.Caller, id uuid.UUID) ([]webhooks.StartedReplay, error)
	Shares(ctx context.Context, by access.Caller, id uuid.UUID, limit int) (webhooks.EventShares, error)
	AnswerTimes(ctx context.Context, by access.Caller, subscription uuid.UUID) (webhooks.AnswerTimes, error)
	Preview(ctx context.Context, by access.Caller, in webhooks.SubscriptionFields, limit int) ([]webhooks.Preview, error)
	SubscriptionToken(ctx context.Context, company tenant.ID, subscription uuid.UUID) (string, error)
	SubscriptionsToken(ctx context.Context, company tenant.ID) (string, error)
	DeliveryToken(ctx context.Context, company tenant.ID, subscription, id uuid.UUID) (string, error)
}

// Pages are the pages of the area.
type Pages struct{ Webhooks Service }

// Folder implements [web.Pages].
func (pages *Pages) Folder() web.Folder {
	return web.Folder{Name: "webhooks", Templates: files, Routes: []web.Page{
		web.Get(web.Webhooks, scope, "/webhooks", pages.list),
		web.Live(web.Webhooks, scope, "/live/webhooks", pages.watchAll),
		web.Get(web.Webhooks, scope, "/webhooks/new", pages.form),
		web.Post(web.Webhooks, scope, "/webhooks/new", pages.create),
		web.Get(web.Webhooks, scope, "/webhooks/deliveries", pages.deliveries),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/redeliver", pages.redeliverMany),
		web.Get(web.Webhooks, scope, "/webhooks/deliveries/{id}", pages.delivery),
		web.Live(web.Webhooks, scope, "/live/deliveries/{id}", pages.watchDelivery),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/{id}/redeliver", pages.redeliver),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/{id}/skip", pages.skip),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/{id}/send-now", pages.sendNow),
		web.Post(web.Webhooks, scope, "/webhooks/replays/{id}/pause", pages.steer("pauseJob")),
		web.Post(web.Webhooks, scope, "/webhooks/replays/{id}/resume", pages.steer("resumeJob")),
		web.Post(web.Webhooks, scope, "/webhooks/replays/{id}/cancel", pages.steer("cancelJob")),
		web.Get(web.Webhooks, scope, "/webhooks/{id}", pages.show),
		web.Live(web.Webhooks, scope, "/live/webhooks/{id}", pages.watch),
		web.Live(web.Webhooks, scope, "/live/replays/{id}", pages.watchReplays),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/edit", pages.update),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/test", pages.test),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/probe", pages.probe),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/pause", pages.pause),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/resume", pages.resume),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/rotate", pages.rotate),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/delete", pages.remove),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/replay", pages.replay),
	}}
}

// all reads the subscriptions of the company, of which there are few.
func (pages *Pages) all(ctx context.Context, q *web.Request) ([]webhooks.Subscription, error) {
	found, err := web.List[webhooks.Subscription](ctx, q, "listWebhookSubscriptions", webhooks.SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}

// watchAll is what the list of receivers shows.
func (pages *Pages) watchAll(_ context.Context, q *web.Request) (web.ChangeSource, error) {
	company := q.Caller.Company
	return web.ChangeSource{Key: "webhooks " + company.String(), Token: func(ctx context.Context) (string, error) { return pages.Webhooks.SubscriptionsToken(ctx, company) }}, nil
}

// watch is what the page of a subscription shows.
func (pages *Pages) watch(ctx context.Context, q *web.Request) (web.ChangeSource, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.ChangeSource{}, err
	}
	if _, err := web.Call[webhooks.Subscription](ctx, q, "getWebhookSubscription", web.ByID(id)); err != nil {
		return web.ChangeSource{}, err
	}
	return pages.changes(q, id), nil
}

func (pages *Pages) changes(q *web.Request, id uuid.UUID) web.ChangeSource {
	company := q.Caller.Company
	return web.ChangeSource{
		Key: "webhook " + company.String() + " " + id.String(), Token: func(ctx context.Context) (string, error) { return pages.Webhooks.SubscriptionToken(ctx, company, id) },
	}
}

// watchDelivery is what the page of a delivery shows.
func (pages *Pages) watchDelivery(ctx context.Context, q *web.Request) (web.ChangeSource, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.ChangeSource{}, err
	}
	d, err := web.Call[webhooks.DeliveryDetail](ctx, q, "getWebhookDelivery", web.ByID(id))
	if err != nil {
		return web.ChangeSource{}, err
	}
	return pages.changesDelivery(q, d.DeliveryRecord), nil
}

func (pages *Pages) changesDelivery(q *web.Request, d webhooks.DeliveryRecord) web.ChangeSource {
	company := q.Caller.Company
	return web.ChangeSource{
		Key: "delivery " + company.String() + " " + d.ID.String(),
		Token: func(ctx context.Context) (string, error) {
			return pages.Webhooks.DeliveryToken(ctx, company, d.SubscriptionID, d.ID)
		},
	}
}
