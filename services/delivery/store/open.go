package store

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// sqlSelectOpen reads the open deliveries of all companies that need the sweeper, oldest first within a subscription.
//
// One that waits for others of its record needs the sweeper only once these are over.
const sqlSelectOpen = `SELECT company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, entity_id, updated_at, COALESCE(waiting_for, '')
FROM deliveries AS d
WHERE state < 2 AND (company_id, subscription_id, id) > ($1, $2, $3)
 AND (expires_at <= $4 OR next_attempt_at < $5 OR (next_attempt_at IS NULL AND state = 0 AND updated_at <= $6
  AND (entity_id IS NULL OR waiting_for IS NULL OR waiting_for <> '` + string(webhook.WaitsForTurn) + `' OR NOT EXISTS (SELECT 1 FROM deliveries AS b
   WHERE b.company_id = d.company_id AND b.subscription_id = d.subscription_id AND b.entity_id = d.entity_id AND b.entity_id IS NOT NULL AND b.completed_at IS NULL
    AND (b.entity_version, b.event_id) < (d.entity_version, d.event_id)))))
ORDER BY company_id, subscription_id, id LIMIT $7`

// sqlRelease takes attempts, of all companies, from senders that died: the attempt counts, and the delivery is held.
var sqlRelease = deliveries.Update(`SET state = 0, next_attempt_at = NULL, waiting_for = NULL
WHERE state = 1 AND updated_at < $1 AND (company_id, subscription_id, id) IN (
 SELECT company_id, subscription_id, id FROM deliveries WHERE state = 1 AND updated_at < $1 ORDER BY company_id, subscription_id, id LIMIT 1000)`)

const sqlSelectReceiverStates = `SELECT w.company_id, w.id, w.is_active, w.status, w.breaker_open_until, w.breaker_opens
FROM unnest($1::UUID[], $2::UUID[]) AS u(c, s) JOIN webhook_subscriptions AS w ON w.company_id = u.c AND w.id = u.s`

const sqlSelectBodies = `SELECT d.id, COALESCE(d.payload, e.body)
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
JOIN deliveries AS d ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i
LEFT JOIN events AS e ON e.company_id = d.company_id AND e.id = d.event_id`

// sqlReopen leaves alone what its sender has changed since: it may be held again. Why "state + 0": see sqlUpdateDeliveries.
var sqlReopen = deliveries.Update(`SET next_attempt_at = $5, waiting_for = NULL, updated_at = $5
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::TIMESTAMPTZ[]) AS u(c, s, i, at)
WHERE deliveries.company_id = u.c AND deliveries.subscription_id = u.s AND deliveries.id = u.i
 AND deliveries.state + 0 = 0 AND deliveries.updated_at = u.at`)

var sqlCloseFailed = deliveries.Update(`SET state = 3, error = u.err, next_attempt_at = NULL, waiting_for = NULL, completed_at = $6, updated_at = $6
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::INT2[], $5::TEXT[]) AS u(c, s, i, a, err)
WHERE deliveries.company_id = u.c AND deliveries.subscription_id = u.s AND deliveries.id = u.i
 AND deliveries.state + 0 < 2 AND deliveries.attempt = u.a`)

// sqlSelectOldest looks at the first open delivery of each subscription.
const sqlSelectOldest = `SELECT CASE WHEN w.is_active AND w.status = 'active' AND w.breaker_opens = 0 AND (w.last_failure_at IS NULL OR w.last_success_at >= w.last_failure_at)
  THEN 'healthy' ELSE 'blocked' END AS tier, min(x.created_at)
FROM webhook_subscriptions AS w CROSS JOIN LATERAL (
  SELECT d.created_at FROM deliveries AS d WHERE d.company_id = w.company_id AND d.subscription_id = w.id AND d.state < 2
  ORDER BY d.company_id, d.subscription_id, d.id LIMIT 1) AS x
GROUP BY tier`

// OpenDelivery is a delivery that is not over.
type OpenDelivery struct {
	DeliveryKey
	EventID   uuid.UUID
	Event     string
	State     webhook.State
	Attempt   int16
	Next      *time.Time // nil = held
	Expires   time.Time
	IsTest    bool
	CreatedAt time.Time
	Entity    *uuid.UUID // its record, if its subscription is ordered
	UpdatedAt time.Time
	Waiting   webhook.Waiting // empty unless something keeps it
}

// OverdueAt reports whether the delivery has had a record in Kafka that was due at the time given.
func (v *OpenDelivery) OverdueAt(at time.Time) bool {
	return v.State == webhook.StatePending && v.Next != nil && v.Next.Before(at)
}

// Held reports whether the delivery waits, without a record in Kafka, for earlier ones of its record.
func (v *OpenDelivery) Held() bool {
	return v.State == webhook.StatePending && v.Next == nil && v.Waiting == webhook.WaitsForTurn
}

func scanOpen(r pgx.CollectableRow) (*OpenDelivery, error) {
	v := &OpenDelivery{}
	return v, r.Scan(v.fields()...)
}

func (v *OpenDelivery) fields() []any {
	return []any{
		&v.Subscription.Company, &v.Subscription.ID, &v.ID, &v.EventID, &v.Event, &v.State, &v.Attempt, &v.Next,
		&v.Expires, &v.IsTest, &v.CreatedAt, &v.Entity, &v.UpdatedAt, &v.Waiting,
	}
}

// Message asks for the next attempt now, in a trace of its own.
func (v *OpenDelivery) Message(body []byte) *webhook.Message {
	m := &webhook.Message{
		Company: v.Subscription.Company, DeliveryID: v.ID, SubscriptionID: v.Subscription.ID, Event: v.Event, EventID: v.EventID,
		Attempt: int(v.Attempt) + 1, Postponements: 1, ExpiresAt: v.Expires, CommittedAt: v.CreatedAt, IsTest: v.IsTest, Body: body,
	}
	if v.Entity != nil {
		m.Entity = *v.Entity
	}
	return m
}

// Cutoffs are the moments before which an open delivery needs the sweeper.
type Cutoffs struct {
	Now     time.Time // its time to live is over
	Overdue time.Time // it was due in Kafka
	Held    time.Time // it was held
}

// First is in front of all deliveries of a subscription, [Last] behind them.
func First(key webhook.SubscriptionKey) DeliveryKey { return DeliveryKey{Subscription: key} }

// Last is behind all deliveries of a subscription.
func Last(key webhook.SubscriptionKey) DeliveryKey {
	return DeliveryKey{Subscription: key, ID: uuid.Max}
}

// SelectOpen reads the next open deliveries behind a key that need the sweeper.
func SelectOpen(ctx context.Context, q db.Querier, after DeliveryKey, at Cutoffs, limit int) ([]*OpenDelivery, error) {
	rows, err := q.Query(ctx, sqlSelectOpen, after.Subscription.Company, after.Subscription.ID, after.ID, at.Now, at.Overdue, at.Held, limit)
	if err != nil {
		return nil, fmt.Errorf("read open deliveries: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanOpen)
	if err != nil {
		return nil, fmt.Errorf("read open deliveries: %w", err)
	}
	return found, nil
}

// ReceiverState is whether a receiver takes deliveries.
type ReceiverState struct {
	Active      bool      // neither paused nor disabled
	BreakerOpen bool      // or half-open
	OpenUntil   time.Time // end of the cooldown; zero when the breaker is closed
}

// SelectReceiverStates reads the receivers of the deliveries; one that is gone is left out.
func SelectReceiverStates(ctx context.Context, q db.Querier, rows []*OpenDelivery) (map[webhook.SubscriptionKey]ReceiverState, error) {
	var keys []webhook.SubscriptionKey
	for i, v := range rows {
		if i == 0 || v.Subscription != rows[i-1].Subscription {
			keys = append(keys, v.Subscription)
		}
	}
	companies, ids := subscriptionColumns(keys)
	result, err := q.Query(ctx, sqlSelectReceiverStates, companies, ids)
	if err != nil {
		return nil, fmt.Errorf("read receivers of open deliveries: %w", err)
	}
	states := make(map[webhook.SubscriptionKey]ReceiverState, len(ids))
	var (
		key    webhook.SubscriptionKey
		active bool
		status string
		until  *time.Time
		opens  int
	)
	_, err = pgx.ForEachRow(result, []any{&key.Company, &key.ID, &active, &status, &until, &opens}, func() error {
		state := ReceiverState{Active: active && status == "active", BreakerOpen: opens > 0}
		if until != nil {
			state.OpenUntil = *until
		}
		states[key] = state
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read receivers of open deliveries: %w", err)
	}
	return states, nil
}

// openColumns splits rows for unnest.
func openColumns(rows []*OpenDelivery) (companies, subs, ids []uuid.UUID, attempts []int16) {
	keys := make([]DeliveryKey, len(rows))
	attempts = make([]int16, len(rows))
	for i, v := range rows {
		keys[i], attempts[i] = v.DeliveryKey, v.Attempt
	}
	companies, subs, ids = columns(keys)
	return companies, subs, ids, attempts
}

// Body is the frozen body of a delivery, or the error for one that cannot be read, see [compress.Open].
type Body struct {
	Text []byte
	Err  error
}

// SelectBodies reads the bodies by delivery id; one that is gone is left out.
func SelectBodies(ctx context.Context, q db.Querier, rows []*OpenDelivery) (map[uuid.UUID]Body, error) {
	companies, subs, ids, _ := openColumns(rows)
	read := func() (map[uuid.UUID][]byte, error) {
		return db.Map[uuid.UUID, []byte](ctx, q, "read bodies of deliveries", sqlSelectBodies, companies, subs, ids)
	}
	stored, err := read()
	if err != nil {
		return nil, err
	}
	all, err := addOnTheWay(ctx, q, stored, rows)
	if err != nil {
		return nil, err
	}
	if !all { // those that are missing may have entered the log meanwhile
		logged, err := read()
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(logged, func(_ uuid.UUID, packed []byte) bool { return len(packed) == 0 })
		maps.Copy(stored, logged)
	}
	bodies := make(map[uuid.UUID]Body, len(stored))
	for id, packed := range stored {
		if len(packed) > 0 {
			text, err := compress.Open(packed)
			bodies[id] = Body{text, err}
		}
	}
	return bodies, nil
}

// addOnTheWay adds the bodies of events that are published and not in the event log yet. It reports whether no body is missing.
func addOnTheWay(ctx context.Context, q db.Querier, stored map[uuid.UUID][]byte, rows []*OpenDelivery) (all bool, err error) {
	var keys []outbox.EventKey
	missing := map[uuid.UUID][]uuid.UUID{} // deliveries of each event
	for _, v := range rows {
		if packed, ok := stored[v.ID]; ok && len(packed) == 0 {
			keys = append(keys, outbox.EventKey{Company: v.Subscription.Company, ID: v.EventID})
			missing[v.EventID] = append(missing[v.EventID], v.ID)
		}
	}
	waiting, err := outbox.OnTheWay(ctx, q, keys)
	if err != nil {
		return false, fmt.Errorf("read bodies of deliveries: %w", err)
	}
	for _, e := range waiting {
		for _, id := range missing[e.ID] {
			stored[id] = e.Body
		}
		delete(missing, e.ID)
	}
	return len(missing) == 0, nil
}

// ReleaseAbandoned holds deliveries whose sender shows no result since the moment given.
func ReleaseAbandoned(ctx context.Context, d *db.DB, since time.Time) (n int64, err error) {
	err = d.RunTx(ctx, "sweeper.release", func(ctx context.Context, tx *db.Tx) error {
		tag, err := tx.Write(ctx, sqlRelease, since)
		n = tag.RowsAffected()
		return err
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return 0, fmt.Errorf("release abandoned deliveries: %w", err)
	}
	return n, nil
}

// MarkInjected notes that the deliveries have records in Kafka, due now. A delivery that its sender has dealt with meanwhile
// stays as it left it.
func MarkInjected(ctx context.Context, d *db.DB, rows []*OpenDelivery, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	companies, subs, ids, _ := openColumns(rows)
	read := make([]time.Time, len(rows))
	for i, v := range rows {
		read[i] = v.UpdatedAt
	}
	err := d.RunTx(ctx, "sweeper.reopen", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlReopen, companies, subs, ids, read, now)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("mark deliveries as injected: %w", err)
	}
	return nil
}

// CloseFailed closes deliveries as failed, each with its text.
func CloseFailed(ctx context.Context, d *db.DB, rows []*OpenDelivery, texts []string, now time.Time) error {
	companies, subs, ids, attempts := openColumns(rows)
	err := d.RunTx(ctx, "sweeper.close", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlCloseFailed, companies, subs, ids, attempts, texts, now)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("close deliveries: %w", err)
	}
	return nil
}

// SelectOldest gives the creation of the oldest open delivery by tier of its receiver.
func SelectOldest(ctx context.Context, q db.Querier) (map[string]time.Time, error) {
	return db.Map[string, time.Time](ctx, q, "read oldest open deliveries", sqlSelectOldest)
}
