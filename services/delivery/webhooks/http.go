package webhooks

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Register adds the operations of webhooks and of the event log.
func (s *Service) Register(api *httpapi.API) {
	// Changes take the locks they need. The dispatcher writes to the same rows all the time: under one snapshot per
	// transaction a change of a busy subscription would be run again and again.
	r := group.On(api, s.cfg.DB, db.ReadCommitted())
	httpapi.List(r, "/webhooks/subscriptions", "listWebhookSubscriptions", "List subscriptions", s.Subscriptions,
		httpapi.Doc("Newest first, with the state of each receiver; secrets are not in it."))
	httpapi.Create(r, "/webhooks/subscriptions", "createWebhookSubscription", "Create a subscription", s.CreateSubscription, showsSecret,
		httpapi.Doc("Events that occur from now on are sent, signed, to `url`; the secret is shown only here and in a repeat with the same idempotency key. "+
			"Fails with `WEBHOOK_LIMIT_REACHED` above the subscriptions that the plan allows, `WEBHOOK_SUBSCRIPTION_EXISTS` for the same url and events, and `AUTH_API_SCOPE_INSUFFICIENT` for events that the token may not read."))
	httpapi.Get(r, "/webhooks/subscriptions/{id}", "getWebhookSubscription", "Read a subscription", s.Subscription,
		httpapi.Doc("Its settings and the health of its receiver; the secret cannot be read again. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`."))
	httpapi.Update(r, "/webhooks/subscriptions/{id}", "updateWebhookSubscription", "Update a subscription", s.UpdateSubscription,
		httpapi.Doc("Fields that are not sent stay; `isActive` pauses and resumes, and brings a disabled subscription back into service. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, `WEBHOOK_SUBSCRIPTION_EXISTS`, and `AUTH_API_SCOPE_INSUFFICIENT` for events that the token may not read."))
	httpapi.Delete(r, "/webhooks/subscriptions/{id}", "deleteWebhookSubscription", "Delete a subscription", s.DeleteSubscription,
		httpapi.Doc("Deliveries that are still open fail, and their history can be read for 30 days. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`."))
	httpapi.CommandWith(r, "/webhooks/subscriptions/{id}/rotate-secret", "rotateWebhookSecret", "Rotate the secret of a subscription", s.RotateSecret, showsSecret,
		httpapi.Doc("Messages carry signatures of the old and the new secret for `overlapHours`, so that a receiver can change over; the new secret is shown only here. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, and with `AUTH_API_SCOPE_INSUFFICIENT` for events that the token may not read."))
	httpapi.CommandWith(r, "/webhooks/subscriptions/{id}/test", "testWebhookSubscription", "Send a test message to a subscription", s.SendTest, httpapi.Answers(http.StatusAccepted),
		httpapi.Doc("Sends a signed message that carries nothing but `{\"test\": true}`, whatever the events and the filter; read the outcome from the delivery in the answer. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, `VALIDATION_ERROR` for an unknown event, and `AUTH_API_SCOPE_INSUFFICIENT` for events that the token may not read."))
	httpapi.Command(r, "/webhooks/subscriptions/{id}/probe", "probeWebhookSubscription", "Send the oldest waiting delivery of a subscription now", s.Probe, httpapi.Answers(http.StatusAccepted),
		httpapi.Doc("Makes the next attempt of the oldest delivery that waits, also through an open circuit, which closes if it succeeds; the answer is that delivery. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, `WEBHOOK_NOTHING_WAITS`, `WEBHOOK_DELIVERY_BLOCKED`, and `AUTH_API_SCOPE_INSUFFICIENT`."))
	httpapi.CommandWith(r, "/webhooks/subscriptions/{id}/replay", "replayWebhookEvents", "Send the events of an interval to a subscription again", s.Replay, httpapi.Answers(http.StatusAccepted),
		httpapi.Doc("Starts a job that sends failed, missed or all events of the log anew, as deliveries of their own; `dryRun` only counts them. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, `JOB_LIMIT_REACHED`, and `AUTH_API_SCOPE_INSUFFICIENT` for events that the token may not read."))
	httpapi.GetWith(r, "/webhooks/subscriptions/{id}/deliveries", "listWebhookDeliveries", "List the deliveries of a subscription", s.Deliveries,
		httpapi.Doc("The last 100, newest first; `status` selects by outcome. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`."))
	httpapi.GetWith(r, "/webhooks/subscriptions/{id}/explain", "explainWebhookDelivery", "Explain what became of an event for a subscription", s.Explain,
		httpapi.Doc("Says whether the event in `eventId` was sent, and if not, which rule of the subscription or which wait is the reason. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, and with `EVENT_NOT_FOUND` for one that is not in the log or that the token may not read."))
	httpapi.GetWith(r, "/webhooks/subscriptions/{id}/skipped", "listSkippedWebhookEvents", "List the events that a subscription did not get", s.Skipped,
		httpapi.Doc("Newest first, each with the reason: the event is not subscribed, the filter does not match, or it was skipped. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, and with `VALIDATION_ERROR` for a cursor of another list."))
	httpapi.Get(r, "/webhooks/subscriptions/{id}/held", "listHeldRecords", "List the records that an ordered subscription holds", s.Held,
		httpapi.Doc("Records whose later deliveries wait for an earlier one, the longest held first, up to 100; a subscription that is not ordered has none. "+
			"Fails with `WEBHOOK_SUBSCRIPTION_NOT_FOUND`."))
	httpapi.View(r, "/events/{eventId}/deliveries", "listEventDeliveries", "Explain what became of an event for each subscription", func(ctx context.Context, in *eventRequest) (*list.Page[Explanation], error) {
		return s.EventDeliveries(ctx, in.Caller, in.EventID)
	},
		httpapi.Doc("One entry per subscription of the company, also of those that the event was not for, with the reason. "+
			"Fails with `EVENT_NOT_FOUND` for one that is not in the log or that the token may not read."))
	httpapi.ReadWith(r, "/webhooks/deliveries", "listDeliveries", "List the deliveries of all subscriptions", s.CompanyDeliveries,
		httpapi.Doc("Newest event first, kept for 30 days after their end; `entityId` finds what was sent about one record. "+
			"Fails with `VALIDATION_ERROR` for a cursor of another list or a filter that does not fit."))
	httpapi.Get(r, "/webhooks/deliveries/{id}", "getWebhookDelivery", "Read a delivery with its attempts", s.Delivery,
		httpapi.Doc("The exact bytes in `payload`, and each attempt with the status and body that the receiver answered. "+
			"Fails with `WEBHOOK_DELIVERY_NOT_FOUND`, and with `AUTH_API_SCOPE_INSUFFICIENT` for events that the token may not read."))
	httpapi.Command(r, "/webhooks/deliveries/{id}/redeliver", "redeliverWebhook", "Send a delivery again", s.Redeliver, httpapi.Answers(http.StatusCreated),
		httpapi.Records("/webhooks/deliveries"),
		httpapi.Doc("Makes a new delivery with the same bytes to where the subscription points now; each request makes one, so send an idempotency key. "+
			"Fails with `WEBHOOK_DELIVERY_NOT_FOUND`, `WEBHOOK_SUBSCRIPTION_NOT_FOUND` if it was deleted, and `AUTH_API_SCOPE_INSUFFICIENT`."))
	httpapi.Command(r, "/webhooks/deliveries/{id}/skip", "skipWebhookDelivery", "Cancel a delivery that holds a record", s.Skip,
		httpapi.Doc("Gives up an open delivery to an ordered subscription, so that the later ones of its record are sent. "+
			"Fails with `WEBHOOK_DELIVERY_NOT_FOUND`, `WEBHOOK_NOT_ORDERED`, or `WEBHOOK_DELIVERY_OVER` if nothing waits for it."))
	httpapi.Command(r, "/webhooks/deliveries/{id}/send-now", "sendWebhookDeliveryNow", "Send a waiting delivery now", s.SendNow, httpapi.Answers(http.StatusAccepted),
		httpapi.Doc("Makes the attempt that a delivery waits for at once, also through an open circuit; it is one of its attempts. One that is on its way already is answered as it is. "+
			"Fails with `WEBHOOK_DELIVERY_NOT_FOUND`, `WEBHOOK_DELIVERY_OVER`, `WEBHOOK_DELIVERY_BLOCKED`, and `AUTH_API_SCOPE_INSUFFICIENT`."))
	httpapi.Read(r, "/webhooks/event-types", "listWebhookEventTypes", "List event types", s.EventTypes,
		httpapi.Doc("An array of all names that `events` of a subscription can have, with the scope and component that each needs."))

	read := logGroup.Op(http.MethodGet, "/events", "listEvents", "List the events of the log", http.StatusOK)
	httpapi.Doc("In the order in which they were published, kept for 30 days unless the operator keeps more or fewer; keep `nextCursor`, which is always there, and poll with it. " +
		"Fails with `EVENTS_CURSOR_EXPIRED` for a cursor before what is kept, and with `VALIDATION_ERROR` for the cursor of another company.")(&read)
	read.Errors = map[int]string{http.StatusGone: "the cursor points before what is kept, or was issued before the platform was restored from a backup; get one with start=now, re-read the resources, and go on from it"}
	httpapi.Register(api, read, s.httpListEvents)
	one := logGroup.Op(http.MethodGet, "/events/{eventId}", "getEvent", "Read an event", http.StatusOK)
	httpapi.Doc("The envelope that receivers get; `include=way`, which needs `webhooks:read`, adds how it came to them. " +
		"Fails with `EVENT_NOT_FOUND` for one that is not in the log or that the token may not read.")(&one)
	httpapi.Register(api, one, s.httpGetEvent)
}

// showsSecret keeps the answer of an operation sealed.
func showsSecret(op *httpapi.Op) { op.Secret = true }

type listEventsRequest struct {
	httpapi.Call
	Cursor string `query:"cursor" maxLength:"200" doc:"nextCursor of the page before; none = from the oldest event"`
	Start  string `query:"start" enum:"oldest,now" default:"oldest" doc:"where to begin without a cursor; now = no events, only a cursor that everything later follows"`
	list.PageLimit
	Events     []string   `query:"events" maxItems:"100" maxLength:"100" pattern:"^(\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*\\.\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+)$" patternDescription:"an event name such as order.created, a prefix such as order.*, or *" doc:"comma list of names and prefixes such as order.*"`
	DateFrom   *list.From `query:"dateFrom" doc:"earliest occurredAt"`
	DateTo     *list.To   `query:"dateTo" doc:"latest occurredAt"`
	EntityID   *uuid.UUID `query:"entityId" format:"uuid" doc:"the record that the events are about"`
	ExcludeOwn bool       `query:"excludeOwn" doc:"leave out what the token itself has caused: events whose actorId is that of GET /token"`
	Order      string     `query:"order" enum:"asc,desc" default:"asc" doc:"desc = the latest first; nextCursor then leads to earlier events"`
}

func (s *Service) httpListEvents(ctx context.Context, in *listEventsRequest) (*httpapi.Reply[EventPage], error) {
	q := LogQuery{Cursor: in.Cursor, Now: in.Start == "now", Limit: in.Records(), Events: in.Events, ExcludeOwn: in.ExcludeOwn, Newest: in.Order == "desc"}
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
		read = s.EventWithTimeline
	}
	body, err := read(ctx, in.Caller, in.EventID)
	return httpapi.Written[EventEnvelope](body), err
}
