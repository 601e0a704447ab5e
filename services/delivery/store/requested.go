package store

import (
	"time"

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

var sqlFailOpen = deliveries.Update(`SET state = 3, error = '` + webhook.SubscriptionDeleted + `', next_attempt_at = NULL, waiting_for = NULL, completed_at = $3, updated_at = $3
WHERE company_id = $1 AND subscription_id = $2 AND state < 2`)

// FailOpen fails the open deliveries of a subscription that is about to be deleted.
func (Deliveries) FailOpen(tx *db.Tx, sub webhook.SubscriptionKey, now time.Time) {
	tx.Queue(sqlFailOpen, sub.Company, sub.ID, now)
}
