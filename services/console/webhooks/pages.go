// Package webhooks holds the pages on receivers: which get what is sent to them, which do not, and why.
package webhooks

import (
	"context"
	"embed"
	"io/fs"

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
	Try(ctx context.Context, by access.Caller, in webhooks.SubscriptionFields, limit int) ([]webhooks.Trial, error)
	Mark(ctx context.Context, company tenant.ID, subscription uuid.UUID) (string, error)
	MarkAll(ctx context.Context, company tenant.ID) (string, error)
	MarkDelivery(ctx context.Context, company tenant.ID, subscription, id uuid.UUID) (string, error)
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
		web.Live(web.Webhooks, scope, "/live/webhooks", r.watchAll),
		web.Get(web.Webhooks, scope, "/webhooks/new", r.form),
		web.Post(web.Webhooks, scope, "/webhooks/new", r.create),
		web.Get(web.Webhooks, scope, "/webhooks/deliveries", r.deliveries),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/redeliver", r.redeliverMany),
		web.Get(web.Webhooks, scope, "/webhooks/deliveries/{id}", r.delivery),
		web.Live(web.Webhooks, scope, "/live/deliveries/{id}", r.watchDelivery),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/{id}/redeliver", r.redeliver),
		web.Post(web.Webhooks, scope, "/webhooks/deliveries/{id}/skip", r.skip),
		web.Post(web.Webhooks, scope, "/webhooks/replays/{id}/pause", r.steer("pauseJob")),
		web.Post(web.Webhooks, scope, "/webhooks/replays/{id}/resume", r.steer("resumeJob")),
		web.Post(web.Webhooks, scope, "/webhooks/replays/{id}/cancel", r.steer("cancelJob")),
		web.Get(web.Webhooks, scope, "/webhooks/{id}", r.show),
		web.Live(web.Webhooks, scope, "/live/webhooks/{id}", r.watch),
		web.Live(web.Webhooks, scope, "/live/replays/{id}", r.watchReplays),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/edit", r.update),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/test", r.test),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/pause", r.pause),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/resume", r.resume),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/rotate", r.rotate),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/delete", r.remove),
		web.Post(web.Webhooks, scope, "/webhooks/{id}/replay", r.replay),
	}
}

// all reads the subscriptions of the company, of which there are few.
func (r *Room) all(ctx context.Context, q *web.Request) ([]webhooks.Subscription, error) {
	found, err := web.List[webhooks.Subscription](ctx, q, "listWebhookSubscriptions", webhooks.SubscriptionFilter{Params: list.Params{PageSize: webhooks.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}

// watchAll is what the list of receivers shows.
func (r *Room) watchAll(_ context.Context, q *web.Request) (web.Watched, error) {
	company := q.Caller.Company
	return web.Watched{Key: "webhooks " + company.String(), Mark: func(ctx context.Context) (string, error) { return r.Webhooks.MarkAll(ctx, company) }}, nil
}

// watch is what the page of a subscription shows.
func (r *Room) watch(ctx context.Context, q *web.Request) (web.Watched, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Watched{}, err
	}
	if _, err := web.Call[webhooks.Subscription](ctx, q, "getWebhookSubscription", web.ByID(id)); err != nil {
		return web.Watched{}, err
	}
	return r.watched(q, id), nil
}

func (r *Room) watched(q *web.Request, id uuid.UUID) web.Watched {
	company := q.Caller.Company
	return web.Watched{
		Key: "webhook " + company.String() + " " + id.String(), Mark: func(ctx context.Context) (string, error) { return r.Webhooks.Mark(ctx, company, id) },
	}
}

// watchDelivery is what the page of a delivery shows.
func (r *Room) watchDelivery(ctx context.Context, q *web.Request) (web.Watched, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Watched{}, err
	}
	d, err := web.Call[webhooks.DeliveryDetail](ctx, q, "getWebhookDelivery", web.ByID(id))
	if err != nil {
		return web.Watched{}, err
	}
	return r.watchedDelivery(q, d.DeliveryRecord), nil
}

func (r *Room) watchedDelivery(q *web.Request, d webhooks.DeliveryRecord) web.Watched {
	company := q.Caller.Company
	return web.Watched{
		Key: "delivery " + company.String() + " " + d.ID.String(),
		Mark: func(ctx context.Context) (string, error) {
			return r.Webhooks.MarkDelivery(ctx, company, d.SubscriptionID, d.ID)
		},
	}
}
