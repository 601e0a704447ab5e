package webhooks

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/list"
)

const (
	scopeWebhooks = "webhooks"
	scopeEvents   = "events"
)

// Register adds the operations of webhooks and of the event log.
func (s *Service) Register(api *httpapi.API) {
	w := httpapi.Section{Tag: "Webhooks", Scope: scopeWebhooks, Component: component}
	httpapi.Register(api, w.Op(http.MethodGet, "/webhooks/subscriptions", "listWebhookSubscriptions", "List subscriptions", 200), s.httpListSubscriptions)
	httpapi.Register(api, w.Op(http.MethodPost, "/webhooks/subscriptions", "createWebhookSubscription", "Subscribe to events", 201), s.httpCreateSubscription)
	httpapi.Register(api, w.Op(http.MethodGet, "/webhooks/subscriptions/{id}", "getWebhookSubscription", "Read a subscription", 200), s.httpGetSubscription)
	httpapi.Register(api, w.Op(http.MethodPatch, "/webhooks/subscriptions/{id}", "updateWebhookSubscription", "Change, pause or resume a subscription", 200), s.httpUpdateSubscription)
	httpapi.Register(api, w.Op(http.MethodDelete, "/webhooks/subscriptions/{id}", "deleteWebhookSubscription", "Delete a subscription", 204), s.httpDeleteSubscription)
	httpapi.Register(api, w.Op(http.MethodPost, "/webhooks/subscriptions/{id}/rotate-secret", "rotateWebhookSecret", "Give a subscription a new secret", 200), s.httpRotateSecret)
	httpapi.Register(api, w.Op(http.MethodPost, "/webhooks/subscriptions/{id}/test", "testWebhookSubscription", "Send a test message", 202), s.httpSendTest)
	httpapi.Register(api, w.Op(http.MethodGet, "/webhooks/subscriptions/{id}/deliveries", "listWebhookDeliveries", "List the last deliveries of a subscription", 200), s.httpListDeliveries)
	httpapi.Register(api, w.Op(http.MethodGet, "/webhooks/deliveries/{id}", "getWebhookDelivery", "Read a delivery with its attempts", 200), s.httpGetDelivery)
	httpapi.Register(api, w.Op(http.MethodPost, "/webhooks/deliveries/{id}/redeliver", "redeliverWebhook", "Send a delivery once more", 201), s.httpRedeliver)
	httpapi.Register(api, w.Op(http.MethodGet, "/webhooks/event-types", "listWebhookEventTypes", "List every event", 200), s.httpEventTypes)
	e := httpapi.Section{Tag: "Events", Scope: scopeEvents, Component: component}
	read := e.Op(http.MethodGet, "/events", "listEvents", "Read the event log", 200)
	read.Errors = map[int]string{http.StatusGone: "the cursor points before what is kept; re-read the resources and start without a cursor"}
	httpapi.Register(api, read, s.httpListEvents)
	httpapi.Register(api, e.Op(http.MethodGet, "/events/{eventId}", "getEvent", "Read one event", 200), s.httpGetEvent)
}

type listSubscriptionsRequest struct {
	httpapi.Call
	list.Params
	Sort string `query:"sort" enum:"createdAt,updatedAt,name,url"`
}

func (s *Service) httpListSubscriptions(ctx context.Context, in *listSubscriptionsRequest) (*httpapi.Reply[*list.Page[Subscription]], error) {
	return httpapi.Paged(s.Subscriptions(ctx, in.Company, in.Params, in.Sort))
}

type createSubscriptionRequest struct {
	httpapi.Call
	Body SubscriptionInput
}

func (s *Service) httpCreateSubscription(ctx context.Context, in *createSubscriptionRequest) (*httpapi.Reply[SubscriptionWithSecret], error) {
	return mutate(ctx, s, &in.Call, "webhooks.create_subscription", func(ctx context.Context, tx *db.Tx) (SubscriptionWithSecret, error) {
		return s.CreateSubscription(ctx, tx, in.Caller, in.Body)
	})
}

func (s *Service) httpGetSubscription(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[Subscription], error) {
	sub, err := s.Subscription(ctx, in.Company, in.ID)
	return httpapi.OK(sub), err
}

type updateSubscriptionRequest struct {
	httpapi.ByID
	Body SubscriptionPatch
}

func (s *Service) httpUpdateSubscription(ctx context.Context, in *updateSubscriptionRequest) (*httpapi.Reply[Subscription], error) {
	return mutate(ctx, s, &in.Call, "webhooks.update_subscription", func(ctx context.Context, tx *db.Tx) (Subscription, error) {
		return s.UpdateSubscription(ctx, tx, in.Caller, in.ID, in.Body)
	})
}

func (s *Service) httpDeleteSubscription(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[httpapi.None], error) {
	return mutate(ctx, s, &in.Call, "webhooks.delete_subscription", func(ctx context.Context, tx *db.Tx) (httpapi.None, error) {
		return httpapi.None{}, s.DeleteSubscription(ctx, tx, in.Caller, in.ID)
	})
}

// RotateSecretInput is the body of a rotation; it may be left out.
type RotateSecretInput struct {
	OverlapHours int `json:"overlapHours,omitempty" minimum:"0" maximum:"72" doc:"how long requests are signed with the old secret too"`
}

type rotateSecretRequest struct {
	httpapi.ByID
	Body *RotateSecretInput
}

func (s *Service) httpRotateSecret(ctx context.Context, in *rotateSecretRequest) (*httpapi.Reply[SubscriptionWithSecret], error) {
	hours := 0
	if in.Body != nil {
		hours = in.Body.OverlapHours
	}
	return mutate(ctx, s, &in.Call, "webhooks.rotate_secret", func(ctx context.Context, tx *db.Tx) (SubscriptionWithSecret, error) {
		return s.RotateSecret(ctx, tx, in.Caller, in.ID, hours)
	})
}

// SubscriptionTestInput is the body of a test; it may be left out.
type SubscriptionTestInput struct {
	Event string `json:"event,omitempty" minLength:"1" maxLength:"100" doc:"name that the message shows; default webhook.test"`
}

type sendTestRequest struct {
	httpapi.ByID
	Body *SubscriptionTestInput
}

func (s *Service) httpSendTest(ctx context.Context, in *sendTestRequest) (*httpapi.Reply[TestStarted], error) {
	name := ""
	if in.Body != nil {
		name = in.Body.Event
	}
	return mutate(ctx, s, &in.Call, "webhooks.test", func(ctx context.Context, tx *db.Tx) (TestStarted, error) {
		return s.SendTest(ctx, tx, in.Caller, in.ID, name)
	})
}

type listDeliveriesRequest struct {
	httpapi.ByID
	Status string `query:"status" enum:"pending,delivering,success,failed"`
}

func (s *Service) httpListDeliveries(ctx context.Context, in *listDeliveriesRequest) (*httpapi.Reply[*list.Page[DeliveryRecord]], error) {
	page, err := s.Deliveries(ctx, in.Company, in.ID, in.Status)
	return httpapi.OK(page), err
}

func (s *Service) httpGetDelivery(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[DeliveryDetail], error) {
	d, err := s.Delivery(ctx, in.Caller, in.ID)
	return httpapi.OK(d), err
}

func (s *Service) httpRedeliver(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[DeliveryRecord], error) {
	return mutate(ctx, s, &in.Call, "webhooks.redeliver", func(ctx context.Context, tx *db.Tx) (DeliveryRecord, error) {
		return s.Redeliver(ctx, tx, in.Caller, in.ID)
	})
}

type eventTypesRequest struct{ httpapi.Call }

func (s *Service) httpEventTypes(context.Context, *eventTypesRequest) (*httpapi.Reply[[]EventType], error) {
	return httpapi.OK(s.EventTypes()), nil
}

type listEventsRequest struct {
	httpapi.Call
	Cursor   string     `query:"cursor" maxLength:"200" doc:"nextCursor of the page before; none = from the oldest event"`
	Limit    int        `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Events   []string   `query:"events" maxItems:"100" doc:"comma list of names and prefixes such as order.*"`
	DateFrom *list.From `query:"dateFrom" doc:"earliest occurredAt"`
	DateTo   *list.To   `query:"dateTo" doc:"latest occurredAt"`
	EntityID *uuid.UUID `query:"entityId" format:"uuid" doc:"the record that the events are about"`
}

func (s *Service) httpListEvents(ctx context.Context, in *listEventsRequest) (*httpapi.Reply[EventPage], error) {
	q := LogQuery{Cursor: in.Cursor, Limit: in.Limit, Events: in.Events}
	if in.DateFrom != nil {
		q.From = time.Time(*in.DateFrom)
	}
	if in.DateTo != nil {
		q.To = time.Time(*in.DateTo)
	}
	if in.EntityID != nil {
		q.EntityID = *in.EntityID
	}
	page, err := s.Log(ctx, in.Caller, q)
	return httpapi.Written[EventPage](page), err
}

type getEventRequest struct {
	httpapi.Call
	EventID uuid.UUID `path:"eventId" format:"uuid"`
}

func (s *Service) httpGetEvent(ctx context.Context, in *getEventRequest) (*httpapi.Reply[EventEnvelope], error) {
	body, err := s.LoggedEvent(ctx, in.Caller, in.EventID)
	return httpapi.Written[EventEnvelope](body), err
}
