package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Deliveries is what the API of webhooks changes in the table of deliveries.
type Deliveries struct{}

var sqlInsertRequested = deliveries.InsertRow("company_id", "subscription_id", "id", "event_id", "event", "state", "attempt", "next_attempt_at", "expires_at",
	"is_test", "redelivery_of", "redelivery_no", "payload", "created_at", "updated_at")

// Request inserts a delivery. Its record has to be written to the outbox in the same transaction.
func (Deliveries) Request(tx *db.Tx, d webhook.RequestedDelivery) {
	tx.QueueRow(sqlInsertRequested, d.Subscription.Company, d.Subscription.ID, d.ID, d.EventID, d.Event, webhook.StatePending, 0, d.CreatedAt, d.ExpiresAt,
		d.IsTest, d.RedeliveryOf, d.RedeliveryNo, d.Payload, d.CreatedAt, d.CreatedAt)
}

// sqlMakeDue leaves alone what is due and on its way, and what waits for its turn. Why "state + 0": see sqlUpdateDeliveries.
var sqlMakeDue = deliveries.Update(`SET next_attempt_at = $4, waiting_for = NULL, updated_at = $4
WHERE company_id = $1 AND subscription_id = $2 AND id = $3 AND state + 0 = 0
 AND (next_attempt_at IS NULL OR next_attempt_at > $4 OR waiting_for IS NOT NULL) AND (waiting_for IS NULL OR waiting_for <> '` + string(webhook.WaitsForTurn) + `')
RETURNING attempt, COALESCE(entity_id, '00000000-0000-0000-0000-000000000000')`)

// MakeDue makes a pending delivery due that waits; ok is false for one that does not. Its record has to be written to the outbox in
// the same transaction. The record that it may have on a delay topic finds the attempt made.
func (Deliveries) MakeDue(ctx context.Context, tx *db.Tx, sub webhook.SubscriptionKey, id uuid.UUID, now time.Time) (due webhook.DueDelivery, ok bool, err error) {
	err = tx.ReturningRow(ctx, sqlMakeDue, sub.Company, sub.ID, id, now).Scan(&due.Attempts, &due.Entity)
	if db.IsNoRows(err) {
		return due, false, nil
	}
	if err != nil {
		return due, false, fmt.Errorf("make delivery %s due: %w", id, err)
	}
	return due, true, nil
}

var sqlFailOpen = deliveries.Update(`SET state = 3, error = '` + webhook.SubscriptionDeleted + `', next_attempt_at = NULL, waiting_for = NULL, completed_at = $3, updated_at = $3
WHERE company_id = $1 AND subscription_id = $2 AND state < 2`)

// FailOpen fails the open deliveries of a subscription that is about to be deleted.
func (Deliveries) FailOpen(tx *db.Tx, sub webhook.SubscriptionKey, now time.Time) {
	tx.Queue(sqlFailOpen, sub.Company, sub.ID, now)
}
