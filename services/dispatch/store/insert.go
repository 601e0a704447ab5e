package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// maxRows bounds the rows of one statement.
const maxRows = 1000

const sqlInsertDeliveries = `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT u.c, u.s, u.i, u.e, u.n, 0, 0, u.at, $7, false, $8, $8
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::TIMESTAMPTZ[]) AS u(c, s, i, e, n, at)
ON CONFLICT (company_id, subscription_id, id) DO NOTHING RETURNING id`

const sqlSelectDeliveryStates = `SELECT d.id, d.state, d.attempt, d.next_attempt_at IS NULL
FROM deliveries AS d JOIN unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i`

// NewDelivery is one event on its way to one subscription.
type NewDelivery struct {
	DeliveryKey
	EventID uuid.UUID
	Event   string
	Parked  bool // waits in the database and is not sent
	Known   bool // set by [Insert]: it was there before and needs no record
}

// Insert writes the rows that are not there yet. Of the others it marks those as known that a sender has seen, that are
// parked, or that are over; the rest has to be sent.
func Insert(ctx context.Context, d *db.DB, deliveries []*NewDelivery, now, expires time.Time) error {
	// All routers lock in the same order.
	sorted := slices.SortedFunc(slices.Values(deliveries), func(a, b *NewDelivery) int {
		return cmp.Or(a.Subscription.Compare(b.Subscription), slices.Compare(a.ID[:], b.ID[:]))
	})
	for chunk := range slices.Chunk(sorted, maxRows) {
		err := d.RunTx(ctx, "router.deliveries", func(ctx context.Context, tx *db.Tx) error {
			return insert(ctx, tx, chunk, now, expires)
		}, db.ReadCommitted(), db.Repeatable())
		if err != nil {
			return fmt.Errorf("insert deliveries: %w", err)
		}
	}
	return nil
}

func insert(ctx context.Context, tx *db.Tx, chunk []*NewDelivery, now, expires time.Time) error {
	var (
		keys   []DeliveryKey
		events []uuid.UUID
		names  []string
		next   []*time.Time
	)
	byID := make(map[uuid.UUID]*NewDelivery, len(chunk))
	for _, v := range chunk {
		if byID[v.ID] != nil {
			v.Known = true // the same event twice in a batch
			continue
		}
		v.Known, byID[v.ID] = false, v
		keys, events, names = append(keys, v.DeliveryKey), append(events, v.EventID), append(names, v.Event)
		at := &now
		if v.Parked {
			at = nil
		}
		next = append(next, at)
	}
	companies, subs, ids := columns(keys)
	rows, err := tx.Query(ctx, sqlInsertDeliveries, companies, subs, ids, events, names, next, expires, now)
	if err != nil {
		return err
	}
	inserted, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(inserted) == len(ids) {
		return err
	}
	for _, id := range inserted {
		delete(byID, id)
	}
	rows, err = tx.Query(ctx, sqlSelectDeliveryStates, companies, subs, ids)
	if err != nil {
		return err
	}
	var (
		id      uuid.UUID
		state   webhook.State
		attempt int16
		parked  bool
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &state, &attempt, &parked}, func() error {
		if v := byID[id]; v != nil {
			v.Known = state != webhook.StatePending || attempt > 0 || parked
		}
		return nil
	})
	return err
}
