package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// SendNow makes the next attempt of a delivery that waits at once, instead of at its time. While the circuit of the receiver is open,
// the attempt is the one request that asks whether it is back. A delivery that is on its way already stays as it is. Errors: 409
// WEBHOOK_DELIVERY_OVER, 409 WEBHOOK_DELIVERY_BLOCKED for one that waits for what no request can hurry.
func (s *Service) SendNow(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (DeliveryRecord, error) {
	d, err := s.selectDelivery(ctx, tx, by.Company, id)
	if err != nil {
		return d, err
	}
	sub, err := table.Get(ctx, tx, by.Company, d.SubscriptionID)
	if err != nil {
		return d, err
	}
	if err := mayRead(by, sub, "send its deliveries"); err != nil {
		return d, err
	}
	return s.hurry(ctx, tx, by.Company, d)
}

// Probe asks the receiver of a subscription now, with the oldest delivery that waits for it: one that has attempts to spare, if there
// is one. Errors: 409 WEBHOOK_NOTHING_WAITS, 409 WEBHOOK_DELIVERY_BLOCKED.
func (s *Service) Probe(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (DeliveryRecord, error) {
	// Of two requests at once, the second finds what the first has sent.
	sub, err := table.Lock(ctx, tx, by, id)
	if err != nil {
		return DeliveryRecord{}, err
	}
	if err := mayRead(by, sub, "ask its receiver"); err != nil {
		return DeliveryRecord{}, err
	}
	var first uuid.UUID
	err = tx.QueryRow(ctx, sqlSelectProbe, by.Company, id, maxProbed, webhook.WaitsForTurn, s.cfg.Policy.MaxAttempts-1).Scan(&first)
	if db.IsNoRows(err) {
		return DeliveryRecord{}, apierr.StateConflict("WEBHOOK_NOTHING_WAITS", "no delivery waits for the receiver; send a test with POST /webhooks/subscriptions/%s/test", id)
	}
	if err != nil {
		return DeliveryRecord{}, fmt.Errorf("select delivery to probe with: %w", err)
	}
	d, err := s.selectDelivery(ctx, tx, by.Company, first)
	if err != nil {
		return d, err
	}
	return s.hurry(ctx, tx, by.Company, d)
}

// maxProbed is how many open deliveries are looked at for one to probe with.
const maxProbed = 1000

// sqlSelectProbe prefers a delivery whose last attempt this would not be.
const sqlSelectProbe = `SELECT id FROM (
 SELECT id, attempt, waiting_for FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND state < 2 AND state = 0
 ORDER BY company_id, subscription_id, id LIMIT $3) AS d
WHERE waiting_for IS NULL OR waiting_for <> $4 ORDER BY attempt >= $5, id LIMIT 1`

// blocked are what a delivery waits for that no request can hurry.
var blocked = []webhook.Waiting{webhook.WaitsForTurn, webhook.WaitsForResume, webhook.WaitsForKey}

// hurry hands an open delivery to the senders, in the transaction that makes it due. One that is due and on its way is left alone, so
// that a second request sends nothing.
func (s *Service) hurry(ctx context.Context, tx *db.Tx, company tenant.ID, d DeliveryRecord) (DeliveryRecord, error) {
	if !d.open() {
		return d, apierr.StateConflict("WEBHOOK_DELIVERY_OVER", "the delivery is over; its status is %s", d.Status).With("status", d.Status)
	}
	if w := *d.WaitingFor; slices.Contains(blocked, w) {
		return d, apierr.StateConflict("WEBHOOK_DELIVERY_BLOCKED", "the delivery cannot be sent now: %s", w.Sentence()).With("waitingFor", w)
	}
	frozen, err := body(ctx, tx, company, d)
	if errors.Is(err, outbox.ErrNotLogged) {
		return d, s.notLogged(d.EventID)
	}
	if err != nil {
		return d, err
	}
	now := tx.Now()
	due, ok, err := s.cfg.Deliveries.MakeDue(ctx, tx, webhook.SubscriptionKey{Company: company, ID: d.SubscriptionID}, d.ID, now)
	if err != nil || !ok {
		return d, err
	}
	if err := sendNext(ctx, tx, company, d, due, frozen, now); err != nil {
		return d, err
	}
	return s.selectDelivery(ctx, tx, company, d.ID)
}

// sendNext asks the senders for the next attempt of a delivery.
func sendNext(ctx context.Context, tx *db.Tx, company tenant.ID, d DeliveryRecord, due webhook.DueDelivery, frozen []byte, now time.Time) error {
	m := webhook.Message{
		Company: company, DeliveryID: d.ID, SubscriptionID: d.SubscriptionID, Event: d.Event, EventID: d.EventID, Entity: due.Entity,
		Attempt: due.Attempts + 1, ExpiresAt: d.ExpiresAt.Std(), IsTest: d.IsTest, Asked: true, Body: frozen,
	}
	payload, err := m.OutboxPayload()
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, company, outbox.Message{
		ID: record.NewID(), Topic: topics.Deliveries, Key: d.SubscriptionID.String(), Name: d.Event, AggType: "webhook_delivery", AggID: d.ID,
		Version: 1, Pos: now.UnixMicro(), Payload: payload, CreatedAt: now,
	})
}

// notLogged says that the body of an event is gone.
func (s *Service) notLogged(event uuid.UUID) error {
	missing := apierr.NotFound("EVENT", event.String())
	missing.Message = fmt.Sprintf("the event log has no event %s: it keeps events for %s", event, span(s.cfg.Policy.EventRetention))
	return missing
}
