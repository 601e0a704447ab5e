package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// The deliveries of a record to an ordered subscription have its id and its version after the change. Events of one change have
// the same version; their ids tell their order. Statements about them ask for completed_at, not for the state, so that
// planners do not read all open deliveries of the subscription.

const sqlSelectTurn = `SELECT d.state, EXISTS (SELECT 1 FROM deliveries AS b WHERE b.company_id = d.company_id AND b.subscription_id = d.subscription_id
 AND b.entity_id = d.entity_id AND b.entity_id IS NOT NULL AND b.completed_at IS NULL AND (b.entity_version, b.event_id) < (d.entity_version, d.event_id))
FROM deliveries AS d WHERE d.company_id = $1 AND d.subscription_id = $2 AND d.id = $3`

// Turn is whether a delivery to an ordered subscription may be sent.
type Turn struct {
	Over    bool // it has ended, by somebody who skipped it
	Blocked bool // an earlier one of its record is open
}

// SelectTurn reads whether a delivery may be sent.
func SelectTurn(ctx context.Context, q db.Querier, key DeliveryKey) (t Turn, err error) {
	var state webhook.State
	err = q.QueryRow(ctx, sqlSelectTurn, key.Subscription.Company, key.Subscription.ID, key.ID).Scan(&state, &t.Blocked)
	if db.IsNoRows(err) {
		return t, nil // made before the database was restored
	}
	if err != nil {
		return t, fmt.Errorf("read turn of delivery %s: %w", key.ID, err)
	}
	t.Over = !state.Open()
	return t, nil
}

// sqlSelectNextHeld reads the first open delivery of a record, if it waits for its turn in the database.
const sqlSelectNextHeld = `SELECT n.company_id, n.subscription_id, n.id, n.event_id, n.event, n.state, n.attempt, n.next_attempt_at, n.expires_at, n.is_test, n.created_at, n.entity_id
FROM deliveries AS d CROSS JOIN LATERAL (
 SELECT company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, entity_id, waiting_for FROM deliveries AS b
 WHERE b.company_id = d.company_id AND b.subscription_id = d.subscription_id AND b.entity_id = d.entity_id AND b.entity_id IS NOT NULL AND b.completed_at IS NULL
 ORDER BY b.entity_version NULLS LAST, b.event_id LIMIT 1) AS n
WHERE d.company_id = $1 AND d.subscription_id = $2 AND d.id = $3 AND n.state = 0 AND n.next_attempt_at IS NULL AND n.waiting_for = 'record'`

// SelectNextHeld reads the delivery whose turn it is after one of the same record has ended; nil if none waits for that.
func SelectNextHeld(ctx context.Context, q db.Querier, ended DeliveryKey) (*OpenDelivery, error) {
	rows, err := q.Query(ctx, sqlSelectNextHeld, ended.Subscription.Company, ended.Subscription.ID, ended.ID)
	if err != nil {
		return nil, fmt.Errorf("read next delivery of a record: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanOpen)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read next delivery of a record: %w", err)
	case len(found) == 0:
		return nil, nil //nolint:nilnil // none waits
	}
	return found[0], nil
}

var sqlUnhold = deliveries.Update(`SET entity_id = NULL, waiting_for = NULL
WHERE company_id = $1 AND subscription_id = $2 AND entity_id IS NOT NULL AND completed_at IS NULL`)

// Unhold lets the open deliveries of a subscription that is no longer ordered go.
func (Deliveries) Unhold(tx *db.Tx, sub webhook.SubscriptionKey) {
	tx.Queue(sqlUnhold, sub.Company, sub.ID)
}

var sqlSkip = deliveries.Update(`SET state = 3, error = 'skipped', next_attempt_at = NULL, waiting_for = NULL, completed_at = $4, updated_at = $4
WHERE company_id = $1 AND subscription_id = $2 AND id = $3 AND state + 0 < 2`)

// Skip gives up an open delivery.
func (Deliveries) Skip(tx *db.Tx, sub webhook.SubscriptionKey, id uuid.UUID, now time.Time) {
	tx.Queue(sqlSkip, sub.Company, sub.ID, id, now)
}
