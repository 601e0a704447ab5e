package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// sqlSelectRecovered reads, of all companies, receivers that are back from an outage and take deliveries.
const sqlSelectRecovered = `SELECT company_id, id, recovered_from, auto_redeliver FROM webhook_subscriptions
WHERE recovered_from IS NOT NULL AND is_active AND status = 'active' AND breaker_opens = 0 AND (company_id, id) > ($1, $2)
ORDER BY company_id, id LIMIT $3`

// Recovered is a receiver that is back from an outage.
type Recovered struct {
	Key           webhook.SubscriptionKey
	DownSince     time.Time // when the outage began
	AutoRedeliver bool      // what failed meanwhile is sent again
}

// SelectRecovered reads the next receivers behind a key that are back from an outage.
func SelectRecovered(ctx context.Context, q db.Querier, after webhook.SubscriptionKey, limit int) ([]Recovered, error) {
	rows, err := q.Query(ctx, sqlSelectRecovered, after.Company, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("read recovered receivers: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Recovered, err error) {
		return r, row.Scan(&r.Key.Company, &r.Key.ID, &r.DownSince, &r.AutoRedeliver)
	})
	if err != nil {
		return nil, fmt.Errorf("read recovered receivers: %w", err)
	}
	return found, nil
}

const webhookSubscriptions = db.Table("webhook_subscriptions")

// sqlReleaseKept holds deliveries that kept their last attempt. Why "state + 0": see sqlUpdateDeliveries; the subquery is to
// use the index of open rows.
var sqlReleaseKept = deliveries.Update(`SET next_attempt_at = NULL, waiting_for = NULL, updated_at = $4
WHERE company_id = $1 AND subscription_id = $2 AND state + 0 = 0 AND id IN (
 SELECT id FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND state < 2 AND state = 0 AND attempt = $3 AND next_attempt_at > $4
 ORDER BY company_id, subscription_id, id LIMIT 1000)`)

// ReleaseKept holds deliveries that have made so many attempts and wait for a later time, at most 1 000; the next pass of the
// sweeper injects them. It returns how many.
func ReleaseKept(ctx context.Context, d *db.DB, key webhook.SubscriptionKey, attempts int, now time.Time) (n int64, err error) {
	err = d.RunTx(ctx, "sweeper.release_kept", func(ctx context.Context, tx *db.Tx) error {
		tag, err := tx.Write(ctx, sqlReleaseKept, key.Company, key.ID, attempts, now)
		n = tag.RowsAffected()
		return err
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return 0, fmt.Errorf("release kept deliveries: %w", err)
	}
	return n, nil
}

var sqlClearRecovered = webhookSubscriptions.Update(`SET recovered_from = NULL WHERE company_id = $1 AND id = $2 AND recovered_from = $3`)

// ClearRecovered notes that everything that waited for a receiver is on its way.
func ClearRecovered(ctx context.Context, d *db.DB, r Recovered) error {
	err := d.RunTx(ctx, "sweeper.clear_recovered", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlClearRecovered, r.Key.Company, r.Key.ID, r.DownSince)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("clear recovered receiver: %w", err)
	}
	return nil
}
