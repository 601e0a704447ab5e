package webhooks

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/list"
)

// Register adds the operations of webhooks and of the event log.
func (s *Service) Register(api *httpapi.API) {
	// Changes take the locks they need. The dispatcher writes to the same rows all the time: under one snapshot per
	// transaction a change of a busy subscription would be run again and again.
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/webhooks/subscriptions", "listWebhookSubscriptions", "List subscriptions", s.Subscriptions)
	httpapi.Create(r, "/webhooks/subscriptions", "createWebhookSubscription", "Create a subscription", s.CreateSubscription, showsSecret)
	httpapi.Get(r, "/webhooks/subscriptions/{id}", "getWebhookSubscription", "Read a subscription", s.Subscription)
	httpapi.Update(r, "/webhooks/subscriptions/{id}", "updateWebhookSubscription", "Update a subscription", s.UpdateSubscription)
	httpapi.Delete(r, "/webhooks/subscriptions/{id}", "deleteWebhookSubscription", "Delete a subscription", s.DeleteSubscription)
	httpapi.CommandWith(r, "/webhooks/subscriptions/{id}/rotate-secret", "rotateWebhookSecret", "Rotate the secret of a subscription", s.RotateSecret, showsSecret)
	httpapi.CommandWith(r, "/webhooks/subscriptions/{id}/test", "testWebhookSubscription", "Send a test message to a subscription", s.SendTest, httpapi.Answers(http.StatusAccepted))
	httpapi.CommandWith(r, "/webhooks/subscriptions/{id}/replay", "replayWebhookEvents", "Send the events of an interval to a subscription again", s.Replay, httpapi.Answers(http.StatusAccepted))
	httpapi.GetWith(r, "/webhooks/subscriptions/{id}/deliveries", "listWebhookDeliveries", "List the deliveries of a subscription", s.Deliveries)
	httpapi.GetWith(r, "/webhooks/subscriptions/{id}/explain", "explainWebhookDelivery", "Explain what became of an event for a subscription", s.Explain)
	httpapi.Get(r, "/webhooks/subscriptions/{id}/held", "listHeldRecords", "List the records that an ordered subscription holds", s.Held)
	httpapi.View(r, "/events/{eventId}/deliveries", "listEventDeliveries", "Explain what became of an event for each subscription", func(ctx context.Context, in *eventRequest) (*list.Page[Explanation], error) {
		return s.EventDeliveries(ctx, in.Caller, in.EventID)
	})
	httpapi.ReadWith(r, "/webhooks/deliveries", "listDeliveries", "List the deliveries of all subscriptions", s.CompanyDeliveries)
	httpapi.Get(r, "/webhooks/deliveries/{id}", "getWebhookDelivery", "Read a delivery with its attempts", s.Delivery)
	httpapi.Command(r, "/webhooks/deliveries/{id}/redeliver", "redeliverWebhook", "Send a delivery again", s.Redeliver, httpapi.Answers(http.StatusCreated),
		httpapi.Records("/webhooks/deliveries"))
	httpapi.Command(r, "/webhooks/deliveries/{id}/skip", "skipWebhookDelivery", "Cancel a delivery that holds a record", s.Skip)
	httpapi.Read(r, "/webhooks/event-types", "listWebhookEventTypes", "List event types", s.EventTypes)

	read := logGroup.Op(http.MethodGet, "/events", "listEvents", "List the events of the log", http.StatusOK)
	read.Errors = map[int]string{http.StatusGone: "the cursor points before what is kept, or was issued before the platform was restored from a backup; get one with start=now, re-read the resources, and go on from it"}
	httpapi.Register(api, read, s.httpListEvents)
	one := logGroup.Op(http.MethodGet, "/events/{eventId}", "getEvent", "Read an event", http.StatusOK)
	httpapi.Register(api, one, s.httpGetEvent)
}

// showsSecret keeps the answer of an operation sealed.
func showsSecret(op *httpapi.Op) { op.Secret = true }

type listEventsRequest struct {
	httpapi.Call
	Cursor string `query:"cursor" maxLength:"200" doc:"nextCursor of the page before; none = from the oldest event"`
	Start  string `query:"start" enum:"oldest,now" default:"oldest" doc:"where to begin without a cursor; now = no events, only a cursor that everything later follows"`
	list.PageLimit
	Events   []string   `query:"events" maxItems:"100" maxLength:"100" pattern:"^(\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*\\.\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+)$" patternDescription:"an event name such as order.created, a prefix such as order.*, or *" doc:"comma list of names and prefixes such as order.*"`
	DateFrom *list.From `query:"dateFrom" doc:"earliest occurredAt"`
	DateTo   *list.To   `query:"dateTo" doc:"latest occurredAt"`
	EntityID *uuid.UUID `query:"entityId" format:"uuid" doc:"the record that the events are about"`
}

func (s *Service) httpListEvents(ctx context.Context, in *listEventsRequest) (*httpapi.Reply[EventPage], error) {
	q := LogQuery{Cursor: in.Cursor, Now: in.Start == "now", Limit: in.Records(), Events: in.Events}
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

type eventRequest struct {
	httpapi.Call
	EventID uuid.UUID `path:"eventId" format:"uuid"`
}

type getEventRequest struct {
	eventRequest
	Include []string `query:"include" enum:"way" maxItems:"10" doc:"way: how the event came to the receivers"`
}

func (s *Service) httpGetEvent(ctx context.Context, in *getEventRequest) (*httpapi.Reply[EventEnvelope], error) {
	read := s.LoggedEvent
	if slices.Contains(in.Include, "way") {
		read = s.EventWithWay
	}
	body, err := read(ctx, in.Caller, in.EventID)
	return httpapi.Written[EventEnvelope](body), err
}
