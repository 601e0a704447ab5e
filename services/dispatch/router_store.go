package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// insertChunk bounds the rows of one statement.
const insertChunk = 1000

const sqlInsertDeliveries = `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT u.c, u.s, u.i, u.e, u.n, 0, 0, u.at, $7, false, $8, $8
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::TIMESTAMPTZ[]) AS u(c, s, i, e, n, at)
ON CONFLICT (company_id, subscription_id, id) DO NOTHING RETURNING id`

const sqlSelectDeliveryStates = `SELECT d.id, d.state, d.attempt, d.next_attempt_at IS NULL
FROM deliveries AS d JOIN unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i`

// delivery is one event on its way to one subscription.
type delivery struct {
	event  *incoming
	sub    *subscription
	id     uuid.UUID
	parked bool // waits in the database: not sent
	known  bool // was there before, and needs no record any more
}

// insertDeliveries writes the rows that are not there yet. Of those that are, it marks as known the ones that a
// sender has seen, that wait in the database, or that are over: what is left has to be sent.
func insertDeliveries(ctx context.Context, d *db.DB, deliveries []*delivery, now, expires time.Time) error {
	// All routers lock in the same order.
	sorted := slices.SortedFunc(slices.Values(deliveries), func(a, b *delivery) int {
		if c := slices.Compare(a.event.company[:], b.event.company[:]); c != 0 {
			return c
		}
		if c := slices.Compare(a.sub.id[:], b.sub.id[:]); c != 0 {
			return c
		}
		return slices.Compare(a.id[:], b.id[:])
	})
	for chunk := range slices.Chunk(sorted, insertChunk) {
		err := d.RunTx(ctx, "router.deliveries", func(ctx context.Context, tx *db.Tx) error {
			return insertChunkOf(ctx, tx, chunk, now, expires)
		}, db.ReadCommitted(), db.Repeatable())
		if err != nil {
			return fmt.Errorf("insert deliveries: %w", err)
		}
	}
	return nil
}

func insertChunkOf(ctx context.Context, tx *db.Tx, chunk []*delivery, now, expires time.Time) error {
	var companies, subs, ids, events []uuid.UUID
	var names []string
	var next []*time.Time
	byID := make(map[uuid.UUID]*delivery, len(chunk))
	for _, v := range chunk {
		if byID[v.id] != nil {
			v.known = true // the same event twice in a batch
			continue
		}
		v.known, byID[v.id] = false, v
		companies, subs, ids = append(companies, uuid.UUID(v.event.company)), append(subs, v.sub.id), append(ids, v.id)
		events, names = append(events, v.event.id), append(names, v.event.kind.Name)
		at := &now
		if v.parked {
			at = nil
		}
		next = append(next, at)
	}
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
	var id uuid.UUID
	var state webhook.State
	var attempt int16
	var parked bool
	_, err = pgx.ForEachRow(rows, []any{&id, &state, &attempt, &parked}, func() error {
		if v := byID[id]; v != nil {
			v.known = state != webhook.StatePending || attempt > 0 || parked
		}
		return nil
	})
	return err
}
