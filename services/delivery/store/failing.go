package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// sqlSelectFailing finds receivers that had no success since $1 and were not enabled by hand, over all companies, and whose failed deliveries since
// then number at least $3. Delivery ids sort by age: those from $2 on may have failed since $1.
const sqlSelectFailing = `SELECT w.company_id, w.id FROM webhook_subscriptions AS w
WHERE w.is_active AND w.status = 'active' AND w.last_failure_at >= $1 AND COALESCE(w.last_success_at, w.created_at) < $1 AND COALESCE(w.enabled_at, w.created_at) < $1
 AND (
  SELECT count(*) FROM deliveries AS d
  WHERE d.company_id = w.company_id AND d.subscription_id = w.id AND d.id >= $2 AND d.state = 3 AND d.completed_at >= $1 AND NOT d.is_test) >= $3
ORDER BY w.company_id, w.id LIMIT 1000`

// sqlSelectGone finds, over all companies, receivers that have answered all attempts with 410 for a day, from the first to the last. One
// that was enabled by hand begins anew. It counts within an outage only.
const sqlSelectGone = `SELECT company_id, id, gone_since FROM webhook_subscriptions
WHERE failing_since IS NOT NULL AND failing_since <= $1 AND is_active AND status = 'active' AND gone_since >= failing_since
 AND last_failure_at >= GREATEST(gone_since, COALESCE(enabled_at, created_at)) + INTERVAL '24 hours'
ORDER BY company_id, id LIMIT 1000`

// GoneAfter is how long a receiver answers everything with 410 before it is disabled; see docs/reference/limits.md#webhooks.
const GoneAfter = 24 * time.Hour

// Gone is a receiver that answers everything with 410.
type Gone struct {
	Key   webhook.SubscriptionKey
	Since time.Time
}

// SelectGone finds active subscriptions, at most 1 000, whose receivers have answered all attempts with 410 for [GoneAfter].
func SelectGone(ctx context.Context, q db.Querier, now time.Time) ([]Gone, error) {
	rows, err := q.Query(ctx, sqlSelectGone, now.Add(-GoneAfter))
	if err != nil {
		return nil, fmt.Errorf("read gone receivers: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g Gone, err error) {
		return g, row.Scan(&g.Key.Company, &g.Key.ID, &g.Since)
	})
	if err != nil {
		return nil, fmt.Errorf("read gone receivers: %w", err)
	}
	return found, nil
}

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
