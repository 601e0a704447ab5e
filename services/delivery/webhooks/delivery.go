package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// historySize is how many deliveries of a subscription its history shows.
const historySize = 100

// DeliveryRecord is the sending of one event to one subscription.
type DeliveryRecord struct {
	ID             uuid.UUID        `json:"id" format:"uuid"`
	SubscriptionID uuid.UUID        `json:"subscriptionId" format:"uuid"`
	EventID        uuid.UUID        `json:"eventId" format:"uuid"`
	Event          string           `json:"event"`
	Status         string           `json:"status" enum:"pending,delivering,success,failed"`
	Attempt        int              `json:"attempt" doc:"attempts made so far"`
	MaxAttempts    int              `json:"maxAttempts"`
	NextAttemptAt  *jsontype.Time   `json:"nextAttemptAt" nullable:"true"`
	WaitingFor     *webhook.Waiting `json:"waitingFor" nullable:"true" doc:"what an open delivery waits for"`
	ExpiresAt      *jsontype.Time   `json:"expiresAt" nullable:"true" doc:"no attempt is made after it"`
	HTTPCode       *int             `json:"httpCode" nullable:"true" doc:"of the last attempt"`
	ResponseBody   *string          `json:"responseBody" nullable:"true" doc:"of the last attempt, at most 2 KiB"`
	ErrorMessage   *string          `json:"errorMessage" nullable:"true"`
	DurationMs     *int             `json:"durationMs" nullable:"true" doc:"of the last attempt"`
	IsTest         bool             `json:"isTest"`
	RedeliveryOfID *uuid.UUID       `json:"redeliveryOfId" format:"uuid" nullable:"true"`
	CreatedAt      jsontype.Time    `json:"createdAt"`
	CompletedAt    *jsontype.Time   `json:"completedAt" nullable:"true"`

	redeliveryNo int
	yields       bool             // to what else is sent to the receiver
	gap          time.Duration    // see [webhook.Message]
	waits        *webhook.Waiting // what its sender stored
	payload      []byte           // only where the event log has no body
}

// RecordID is the last segment of the delivery's address.
func (d DeliveryRecord) RecordID() string { return d.ID.String() }

// DeliveryDetail is a delivery with what was sent and what came of it.
type DeliveryDetail struct {
	DeliveryRecord
	Payload  json.RawMessage   `json:"payload" doc:"the envelope; null when the log no longer has it"`
	Attempts []DeliveryAttempt `json:"attempts" doc:"oldest first; of the unsuccessful ones, those among the last 100 of the subscription"`
}

// DeliveryAttempt is one request to the receiver.
type DeliveryAttempt struct {
	Attempt      int           `json:"attempt" doc:"from 1"`
	StartedAt    jsontype.Time `json:"startedAt"`
	HTTPCode     *int          `json:"httpCode" nullable:"true"`
	ErrorMessage *string       `json:"errorMessage" nullable:"true"`
	DurationMs   int           `json:"durationMs"`
}

// successfulAttempt is the attempt that ended the delivery well; its row describes it.
func (d *DeliveryRecord) successfulAttempt() (a DeliveryAttempt, ok bool) {
	if d.Status != webhook.StateSuccess.String() || d.CompletedAt == nil || d.DurationMs == nil {
		return a, false
	}
	began := d.CompletedAt.Std().Add(-time.Duration(*d.DurationMs) * time.Millisecond)
	return DeliveryAttempt{Attempt: d.Attempt, StartedAt: jsontype.Time(began), HTTPCode: d.HTTPCode, DurationMs: *d.DurationMs}, true
}

// DeliveryFilter narrows the history of a subscription.
type DeliveryFilter struct {
	Status string `query:"status" enum:"pending,delivering,success,failed"`
}

// Deliveries lists the last 100 deliveries of a subscription, newest first.
func (s *Service) Deliveries(ctx context.Context, by access.Caller, subscription uuid.UUID, f DeliveryFilter) (*list.Page[DeliveryRecord], error) {
	if _, err := table.Get(ctx, s.cfg.DB, by.Company, subscription); err != nil {
		return nil, err
	}
	items, err := s.selectHistory(ctx, by.Company, subscription, f.Status)
	if err != nil {
		return nil, err
	}
	total, page := int64(len(items)), 1
	return &list.Page[DeliveryRecord]{Items: items, Total: &total, Page: &page, PageSize: historySize}, nil
}

// Delivery reads one delivery with its payload, also of a subscription that is gone.
func (s *Service) Delivery(ctx context.Context, by access.Caller, id uuid.UUID) (DeliveryDetail, error) {
	d, err := s.selectDelivery(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return DeliveryDetail{}, err
	}
	if err := s.mayReadPayload(ctx, by, d); err != nil {
		return DeliveryDetail{}, err
	}
	detail := DeliveryDetail{DeliveryRecord: d}
	if detail.Attempts, err = selectAttempts(ctx, s.cfg.DB, by.Company, d); err != nil {
		return detail, err
	}
	detail.Payload, err = body(ctx, s.cfg.DB, by.Company, d)
	if errors.Is(err, outbox.ErrNotLogged) {
		err = nil
	}
	return detail, err
}

// mayReadPayload refuses a caller who may not read what the subscription carries or, when it is gone, the event itself.
func (s *Service) mayReadPayload(ctx context.Context, by access.Caller, d DeliveryRecord) error {
	sub, err := table.Get(ctx, s.cfg.DB, by.Company, d.SubscriptionID)
	switch {
	case err == nil:
		return mayRead(by, sub, "read its deliveries")
	case !apierr.Is(err, "WEBHOOK_SUBSCRIPTION_NOT_FOUND"):
		return err
	case d.IsTest:
		return nil // it carries nothing
	}
	return refuseWithout(by, "the delivery carries an event that this token may not read: read it", []string{s.scopeOf(d.Event) + ":read"})
}

// body gives the frozen bytes of a delivery.
func body(ctx context.Context, q db.Querier, company tenant.ID, d DeliveryRecord) ([]byte, error) {
	if d.payload != nil {
		return d.payload, nil
	}
	entry, err := outbox.LogEvent(ctx, q, company, d.EventID)
	return entry.Body, err
}

// TestStarted names the delivery of a test message.
type TestStarted struct {
	DeliveryID uuid.UUID `json:"deliveryId" format:"uuid"`
}

// SubscriptionTestInput is the body of a test; it may be left out.
type SubscriptionTestInput struct {
	Event string `json:"event,omitempty" minLength:"1" maxLength:"100" doc:"name that the message shows; default webhook.test"`
}

// SendTest sends a test message to a subscription, whatever its events and filter. It names the given event, or
// webhook.test, and carries nothing but {"test": true}. It is signed like any other, so the caller must be able to read
// what the subscription carries.
func (s *Service) SendTest(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in *SubscriptionTestInput) (TestStarted, error) {
	name := tested.Name
	if in != nil && in.Event != "" {
		name = in.Event
	}
	if err := s.checkEvent("event", name); err != nil {
		return TestStarted{}, err
	}
	sub, err := table.Get(ctx, tx, by.Company, id)
	if err != nil {
		return TestStarted{}, err
	}
	if err := by.Expect(sub.Version); err != nil {
		return TestStarted{}, err
	}
	if err := mayRead(by, sub, "send a test"); err != nil {
		return TestStarted{}, err
	}
	data, err := json.Marshal(testData{Test: true})
	if err != nil {
		return TestStarted{}, fmt.Errorf("write test message: %w", err)
	}
	now, eventID := tx.Now(), record.NewID()
	frozen, err := event.Envelope{
		Event: name, CompanyID: by.Company, OccurredAt: now, ActorID: by.Actor.String(), Data: data, EventID: eventID.String(),
	}.Freeze()
	if err != nil {
		return TestStarted{}, err
	}
	d := s.newDelivery(sub.ID, eventID, name, 0, now)
	d.IsTest, d.payload = true, frozen
	s.request(tx, by.Company, d)
	return TestStarted{DeliveryID: d.ID}, send(ctx, tx, by.Company, d, frozen, now)
}

// Redeliver sends the bytes of a delivery once more, to where its subscription points now, as a delivery of its own.
func (s *Service) Redeliver(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (DeliveryRecord, error) {
	old, err := s.selectDelivery(ctx, tx, by.Company, id)
	if err != nil {
		return DeliveryRecord{}, err
	}
	// The lock gives each redelivery a number of its own.
	sub, err := table.Lock(ctx, tx, by.Unconditional(), old.SubscriptionID)
	if err != nil {
		return DeliveryRecord{}, err
	}
	if err := mayRead(by, sub, "send its deliveries again"); err != nil {
		return DeliveryRecord{}, err
	}
	frozen, err := body(ctx, tx, by.Company, old)
	if errors.Is(err, outbox.ErrNotLogged) {
		return DeliveryRecord{}, s.notLogged(old.EventID)
	}
	if err != nil {
		return DeliveryRecord{}, err
	}
	number, err := selectLastRedelivery(ctx, tx, by.Company, old)
	if err != nil {
		return DeliveryRecord{}, err
	}
	now := tx.Now()
	d := s.newDelivery(sub.ID, old.EventID, old.Event, number+1, now)
	d.IsTest, d.payload, d.RedeliveryOfID = old.IsTest, old.payload, &old.ID
	s.request(tx, by.Company, d)
	return d, send(ctx, tx, by.Company, d, frozen, now)
}

func (s *Service) newDelivery(subscription, eventID uuid.UUID, name string, redelivery int, now time.Time) DeliveryRecord {
	at, expires, waits := jsontype.At(now), jsontype.At(now.Add(s.cfg.Policy.DeliveryTTL)), webhook.WaitsForSender
	return DeliveryRecord{
		ID: webhook.DeliveryID(eventID, subscription, redelivery), SubscriptionID: subscription, EventID: eventID, Event: name,
		Status: webhook.StatePending.String(), MaxAttempts: s.cfg.Policy.MaxAttempts, NextAttemptAt: &at, WaitingFor: &waits, ExpiresAt: &expires, CreatedAt: at, redeliveryNo: redelivery,
	}
}

func (s *Service) request(tx *db.Tx, company tenant.ID, d DeliveryRecord) {
	s.cfg.Deliveries.Request(tx, webhook.RequestedDelivery{
		Subscription: webhook.SubscriptionKey{Company: company, ID: d.SubscriptionID}, ID: d.ID, EventID: d.EventID, Event: d.Event,
		CreatedAt: d.CreatedAt.Std(), ExpiresAt: d.ExpiresAt.Std(), IsTest: d.IsTest, RedeliveryOf: d.RedeliveryOfID, RedeliveryNo: d.redeliveryNo,
		Payload: d.payload,
	})
}

// send hands a delivery to the senders, in the transaction that writes its row.
func send(ctx context.Context, tx *db.Tx, company tenant.ID, d DeliveryRecord, frozen []byte, now time.Time) error {
	m := webhook.Message{
		Company: company, DeliveryID: d.ID, SubscriptionID: d.SubscriptionID, Event: d.Event, EventID: d.EventID, Attempt: 1,
		ExpiresAt: d.ExpiresAt.Std(), CommittedAt: now, IsTest: d.IsTest, Yields: d.yields, Gap: d.gap, Body: frozen,
	}
	payload, err := m.OutboxPayload()
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, company, outbox.Message{
		ID: d.ID, Topic: topics.Deliveries, Key: d.SubscriptionID.String(), Name: d.Event, AggType: "webhook_delivery", AggID: d.ID,
		Version: 1, Pos: now.UnixMicro(), Payload: payload, CreatedAt: now,
	})
}
