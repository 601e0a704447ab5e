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

// sqlSelectFailing finds receivers that had no success since $1 and were not enabled by hand, over all companies, and whose failed deliveries since
// then number at least $3. Delivery ids sort by age: those from $2 on may have failed since $1.
const sqlSelectFailing = `SELECT w.company_id, w.id FROM webhook_subscriptions AS w
WHERE w.is_active AND w.status = 'active' AND w.last_failure_at >= $1 AND COALESCE(w.last_success_at, w.created_at) < $1 AND COALESCE(w.enabled_at, w.created_at) < $1
 AND (
  SELECT count(*) FROM deliveries AS d
  WHERE d.company_id = w.company_id AND d.subscription_id = w.id AND d.id >= $2 AND d.state = 3 AND d.completed_at >= $1 AND NOT d.is_test) >= $3
ORDER BY w.company_id, w.id LIMIT 1000`

// maxAge is above the time between the creation of a delivery and its failure.
const maxAge = 48 * time.Hour

// SelectFailing finds active subscriptions, at most 1 000, that had no success since the moment given, were not enabled
// since, and have at least so many failed deliveries since.
func SelectFailing(ctx context.Context, q db.Querier, since time.Time, failed int) ([]webhook.SubscriptionKey, error) {
	rows, err := q.Query(ctx, sqlSelectFailing, since, firstID(since.Add(-maxAge)), failed)
	if err != nil {
		return nil, fmt.Errorf("read failing receivers: %w", err)
	}
	keys, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (key webhook.SubscriptionKey, err error) {
		return key, r.Scan(&key.Company, &key.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("read failing receivers: %w", err)
	}
	return keys, nil
}

// firstID is the smallest delivery id of a moment.
func firstID(at time.Time) uuid.UUID {
	var id uuid.UUID
	for i, ms := 0, at.UnixMilli(); i < 6; i++ {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}
