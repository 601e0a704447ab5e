package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// NewRow is what the row of a delivery holds from the beginning.
type NewRow struct {
	EventID uuid.UUID
	Event   string
	Expires time.Time
	Created time.Time
}

// sqlUpsertNew stores results with their rows, or in the rows that others have written meanwhile: routers, or the result of another
// attempt. It changes what sqlUpdateDeliveries would change; of an attempt that was made, the duration is known.
var sqlUpsertNew = deliveries.Insert(`(company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at,
 http_code, response_body, error, duration_ms, completed_at, waiting_for, is_test, created_at, updated_at)
SELECT u.c, u.s, u.i, u.e, u.name, u.st, u.a, u.n, u.x, u.code, u.body, u.err, u.ms, u.done, u.waits, false, u.at, $17
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::INT2[], $7::INT2[], $8::TIMESTAMPTZ[], $9::TIMESTAMPTZ[], $10::INT4[], $11::BYTEA[],
 $12::TEXT[], $13::INT4[], $14::TIMESTAMPTZ[], $15::TEXT[], $16::TIMESTAMPTZ[]) AS u(c, s, i, e, name, st, a, n, x, code, body, err, ms, done, waits, at)
ON CONFLICT (company_id, subscription_id, id) DO UPDATE SET state = excluded.state, attempt = GREATEST(deliveries.attempt, excluded.attempt),
 next_attempt_at = excluded.next_attempt_at, http_code = CASE WHEN excluded.duration_ms IS NULL THEN deliveries.http_code ELSE excluded.http_code END,
 response_body = CASE WHEN excluded.duration_ms IS NULL THEN deliveries.response_body ELSE excluded.response_body END,
 error = CASE WHEN excluded.duration_ms IS NULL AND excluded.error IS NULL THEN deliveries.error ELSE excluded.error END,
 duration_ms = COALESCE(excluded.duration_ms, deliveries.duration_ms), completed_at = excluded.completed_at, waiting_for = excluded.waiting_for,
 updated_at = excluded.updated_at
WHERE deliveries.state < 2 AND (excluded.state >= 2 OR deliveries.attempt < excluded.attempt OR excluded.duration_ms IS NULL AND deliveries.attempt = excluded.attempt)`)

// followingColumns are the parts of rows that follow their records, by column.
type followingColumns struct {
	events           []uuid.UUID
	names            []string
	expires, created []time.Time
}

func (c *followingColumns) add(v *NewRow) {
	c.events, c.names = append(c.events, v.EventID), append(c.names, v.Event)
	c.expires, c.created = append(c.expires, v.Expires), append(c.created, v.Created)
}

func upsertNew(tx *db.Tx, results []*Result, now time.Time) {
	if len(results) == 0 {
		return
	}
	c, f := &deliveryColumns{}, &followingColumns{}
	for _, r := range results {
		c.add(r)
		f.add(r.New)
	}
	tx.Queue(sqlUpsertNew, c.companies, c.subscriptions, c.ids, f.events, f.names, c.states, c.attempts, c.next, f.expires,
		c.codes, c.bodies, c.errors, c.durations, c.completed, c.waits, f.created, now)
}

// sqlInsertFollowing finds most rows there: senders have written them with their results.
var sqlInsertFollowing = deliveries.Insert(`(company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT u.c, u.s, u.i, u.e, u.name, 0, 0, u.at, u.x, false, u.at, u.at
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::TIMESTAMPTZ[], $7::TIMESTAMPTZ[]) AS u(c, s, i, e, name, x, at)
ON CONFLICT (company_id, subscription_id, id) DO NOTHING`)

// FollowingRow is the row of a delivery whose record was produced before.
type FollowingRow struct {
	DeliveryKey
	NewRow
}

// InsertFollowing writes the rows of deliveries that no result has written.
func InsertFollowing(ctx context.Context, d *db.DB, rows []*FollowingRow) error {
	sorted := slices.SortedFunc(slices.Values(rows), func(a, b *FollowingRow) int { return a.Compare(b.DeliveryKey) })
	for chunk := range slices.Chunk(sorted, maxRows) {
		f := &followingColumns{}
		keys := make([]DeliveryKey, len(chunk))
		for i, v := range chunk {
			keys[i] = v.DeliveryKey
			f.add(&v.NewRow)
		}
		companies, subscriptions, ids := columns(keys)
		err := d.RunTx(ctx, "router.following", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlInsertFollowing, companies, subscriptions, ids, f.events, f.names, f.expires, f.created)
			return nil
		}, db.ReadCommitted(), db.Repeatable())
		if err != nil {
			return fmt.Errorf("insert deliveries that were sent: %w", err)
		}
	}
	return nil
}
