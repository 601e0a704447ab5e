package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// maxRows bounds the rows of one statement.
const maxRows = 1000

const deliveries = db.Table("deliveries")

var sqlInsertDeliveries = deliveries.Insert(`(company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT u.c, u.s, u.i, u.e, u.n, 0, 0, u.at, $7, false, $8, $8
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::TIMESTAMPTZ[]) AS u(c, s, i, e, n, at)`)

// sqlInsertOrdered is for batches with deliveries to ordered subscriptions.
var sqlInsertOrdered = deliveries.Insert(`(company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at, entity_id, entity_version)
SELECT u.c, u.s, u.i, u.e, u.n, 0, 0, u.at, $7, false, $8, $8, u.r, u.v
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::TIMESTAMPTZ[], $9::UUID[], $10::BIGINT[]) AS u(c, s, i, e, n, at, r, v)`)

// sqlInsertMissing is for batches of which some rows exist. Such batches are rare, and looking for a conflict before each
// row costs a record of the log more.
var sqlInsertMissing = sqlInsertOrdered.OnConflict("(company_id, subscription_id, id) DO NOTHING")

var errExists = errors.New("some deliveries exist")

const sqlSelectDeliveryStates = `SELECT d.id, d.state, d.attempt, d.next_attempt_at IS NULL
FROM deliveries AS d JOIN unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i`

// NewDelivery is one event on its way to one subscription.
type NewDelivery struct {
	DeliveryKey
	EventID uuid.UUID
	Event   string
	Held    bool       // waits in the database and is not sent
	Entity  *uuid.UUID // the record, if the subscription is ordered
	Version *int64     // of the record after the change
	Known   bool       // set by [Insert]: it was there before and needs no record
}

// Insert writes the rows that are not there yet. Of the others it marks those as known that a sender has seen, that are
// held, or that are over; the rest has to be sent.
func Insert(ctx context.Context, d *db.DB, deliveries []*NewDelivery, now, expires time.Time) error {
	// All routers lock in the same order.
	sorted := slices.SortedFunc(slices.Values(deliveries), func(a, b *NewDelivery) int { return a.Compare(b.DeliveryKey) })
	for chunk := range slices.Chunk(sorted, maxRows) {
		c := newColumns(chunk, now)
		err := d.RunTx(ctx, "router.deliveries", func(_ context.Context, tx *db.Tx) error {
			insert, args := sqlInsertDeliveries, c.args(now, expires)
			if c.ordered {
				insert, args = sqlInsertOrdered, c.orderedArgs(now, expires)
			}
			tx.Queue(insert, args...).OnConstraint(primaryKey, errExists)
			return nil
		}, db.ReadCommitted(), db.Repeatable())
		if errors.Is(err, errExists) {
			err = d.RunTx(ctx, "router.repeated", func(ctx context.Context, tx *db.Tx) error {
				return c.insertMissing(ctx, tx, now, expires)
			}, db.ReadCommitted(), db.Repeatable())
		}
		if err != nil {
			return fmt.Errorf("insert deliveries: %w", err)
		}
	}
	return nil
}

const primaryKey = "deliveries_pkey"

// newDeliveries are rows to be inserted, by column.
type newDeliveries struct {
	companies, subscriptions, ids, events []uuid.UUID
	names                                 []string
	next                                  []*time.Time
	entities                              []*uuid.UUID
	versions                              []*int64
	ordered                               bool // some have an entity
	byID                                  map[uuid.UUID]*NewDelivery
}

// newColumns marks the repeats within the rows as known and leaves them out.
func newColumns(rows []*NewDelivery, now time.Time) *newDeliveries {
	c := &newDeliveries{byID: make(map[uuid.UUID]*NewDelivery, len(rows))}
	keys := make([]DeliveryKey, 0, len(rows))
	for _, v := range rows {
		if c.byID[v.ID] != nil {
			v.Known = true // the same event twice in a batch
			continue
		}
		v.Known, c.byID[v.ID] = false, v
		at := &now
		if v.Held {
			at = nil
		}
		c.entities, c.versions, c.ordered = append(c.entities, v.Entity), append(c.versions, v.Version), c.ordered || v.Entity != nil
		keys, c.events, c.names, c.next = append(keys, v.DeliveryKey), append(c.events, v.EventID), append(c.names, v.Event), append(c.next, at)
	}
	c.companies, c.subscriptions, c.ids = columns(keys)
	return c
}

func (c *newDeliveries) args(now, expires time.Time) []any {
	return []any{c.companies, c.subscriptions, c.ids, c.events, c.names, c.next, expires, now}
}

func (c *newDeliveries) orderedArgs(now, expires time.Time) []any {
	return append(c.args(now, expires), c.entities, c.versions)
}

func (c *newDeliveries) insertMissing(ctx context.Context, tx *db.Tx, now, expires time.Time) error {
	// Before the insert: afterwards, rows of this transaction would look like those of another router.
	rows, err := tx.Query(ctx, sqlSelectDeliveryStates, c.companies, c.subscriptions, c.ids)
	if err != nil {
		return err
	}
	var (
		id      uuid.UUID
		state   webhook.State
		attempt int16
		held    bool
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &state, &attempt, &held}, func() error {
		c.byID[id].Known = state != webhook.StatePending || attempt > 0 || held
		return nil
	})
	if err != nil {
		return err
	}
	_, err = tx.Write(ctx, sqlInsertMissing, c.orderedArgs(now, expires)...)
	return err
}
