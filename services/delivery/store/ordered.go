package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
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

// sqlSelectNextHeld reads the first open deliveries of the record of each delivery.
const sqlSelectNextHeld = `SELECT u.i, n.company_id, n.subscription_id, n.id, n.event_id, n.event, n.state, n.attempt, n.next_attempt_at, n.expires_at, n.is_test, n.created_at, n.entity_id, n.updated_at, COALESCE(n.waiting_for, '')
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
JOIN deliveries AS d ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i
CROSS JOIN LATERAL (
 SELECT company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, entity_id, updated_at, waiting_for, entity_version FROM deliveries AS b
 WHERE b.company_id = d.company_id AND b.subscription_id = d.subscription_id AND b.entity_id = d.entity_id AND b.entity_id IS NOT NULL AND b.completed_at IS NULL
 ORDER BY b.entity_version NULLS LAST, b.event_id LIMIT $4) AS n
ORDER BY u.i, n.entity_version NULLS LAST, n.event_id`

// SelectNextHeld reads the deliveries whose turn it is at the records of those given, one that has ended or waits itself: of each
// record its first open ones, at most so many and each once, as far as they wait for their turn in the database.
func SelectNextHeld(ctx context.Context, q db.Querier, keys []DeliveryKey, most int) ([]*OpenDelivery, error) {
	companies, subscriptions, ids := columns(keys)
	rows, err := q.Query(ctx, sqlSelectNextHeld, companies, subscriptions, ids, most)
	if err != nil {
		return nil, fmt.Errorf("read next deliveries of records: %w", err)
	}
	defer rows.Close()
	var next []*OpenDelivery
	var of, before uuid.UUID
	waits, found := false, map[uuid.UUID]bool{}
	for rows.Next() {
		v := &OpenDelivery{}
		if err := rows.Scan(append([]any{&of}, v.fields()...)...); err != nil {
			return nil, fmt.Errorf("read next deliveries of records: %w", err)
		}
		if of != before {
			before, waits = of, true
		}
		if waits = waits && v.Held(); waits && !found[v.ID] {
			found[v.ID] = true
			next = append(next, v)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read next deliveries of records: %w", err)
	}
	return next, nil
}

var sqlUnhold = deliveries.Update(`SET entity_id = NULL, waiting_for = NULL
WHERE company_id = $1 AND subscription_id = $2 AND entity_id IS NOT NULL AND completed_at IS NULL`)

// Unhold lets the open deliveries of a subscription that is no longer ordered go.
func (Deliveries) Unhold(tx *db.Tx, sub webhook.SubscriptionKey) {
	tx.Queue(sqlUnhold, sub.Company, sub.ID)
}

var sqlSkip = deliveries.Update(`SET state = 3, error = '` + webhook.Skipped + `', next_attempt_at = NULL, waiting_for = NULL, completed_at = $4, updated_at = $4
WHERE company_id = $1 AND subscription_id = $2 AND id = $3 AND state + 0 < 2`)

// Skip gives up an open delivery.
func (Deliveries) Skip(tx *db.Tx, sub webhook.SubscriptionKey, id uuid.UUID, now time.Time) {
	tx.Queue(sqlSkip, sub.Company, sub.ID, id, now)
}
