package dispatch

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// sqlSelectOpen walks over the open deliveries of all companies, oldest first within a subscription,
// and stops at those that need the sweeper.
const sqlSelectOpen = `SELECT company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at
FROM deliveries
WHERE state < 2 AND (company_id, subscription_id, id) > ($1, $2, $3)
 AND (expires_at <= $4 OR next_attempt_at < $5 OR (next_attempt_at IS NULL AND state = 0 AND updated_at <= $6))
ORDER BY company_id, subscription_id, id LIMIT $7`

// sqlRelease takes attempts, of all companies, from workers that died: the attempt counts, the delivery waits in the database.
const sqlRelease = `UPDATE deliveries SET state = 0, next_attempt_at = NULL
WHERE state = 1 AND updated_at < $1 AND (company_id, subscription_id, id) IN (
 SELECT company_id, subscription_id, id FROM deliveries WHERE state = 1 AND updated_at < $1 ORDER BY company_id, subscription_id, id LIMIT 1000)`

const sqlSelectBlocked = `SELECT w.company_id, w.id, w.is_active, w.status, w.breaker_open_until, w.breaker_opens
FROM unnest($1::UUID[], $2::UUID[]) AS u(c, s) JOIN webhook_subscriptions AS w ON w.company_id = u.c AND w.id = u.s`

const sqlSelectBodies = `SELECT d.id, COALESCE(d.payload, e.body)
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
JOIN deliveries AS d ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i
LEFT JOIN events AS e ON e.company_id = d.company_id AND e.id = d.event_id`

const sqlReopen = `UPDATE deliveries SET next_attempt_at = $5, updated_at = $5
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::INT2[]) AS u(c, s, i, a)
WHERE deliveries.company_id = u.c AND deliveries.subscription_id = u.s AND deliveries.id = u.i
 AND deliveries.state = 0 AND deliveries.attempt = u.a`

const sqlCloseFailed = `UPDATE deliveries SET state = 3, error = u.err, next_attempt_at = NULL, completed_at = $6, updated_at = $6
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::INT2[], $5::TEXT[]) AS u(c, s, i, a, err)
WHERE deliveries.company_id = u.c AND deliveries.subscription_id = u.s AND deliveries.id = u.i
 AND deliveries.state < 2 AND deliveries.attempt = u.a`

// sqlSelectOldest looks at the first open delivery of each subscription.
const sqlSelectOldest = `SELECT CASE WHEN w.is_active AND w.status = 'active' AND w.breaker_opens = 0 AND (w.last_failure_at IS NULL OR w.last_success_at >= w.last_failure_at)
  THEN 'healthy' ELSE 'blocked' END AS tier, min(x.created_at)
FROM webhook_subscriptions AS w CROSS JOIN LATERAL (
  SELECT d.created_at FROM deliveries AS d WHERE d.company_id = w.company_id AND d.subscription_id = w.id AND d.state < 2
  ORDER BY d.company_id, d.subscription_id, d.id LIMIT 1) AS x
GROUP BY tier`

// openDelivery is a row that the sweeper looks at.
type openDelivery struct {
	key       webhook.SubscriptionKey
	id        uuid.UUID
	eventID   uuid.UUID
	event     string
	state     webhook.State
	attempt   int16
	next      *time.Time
	expires   time.Time
	isTest    bool
	createdAt time.Time
	updatedAt time.Time
}

// gate is what the sweeper knows of a receiver.
type gate struct {
	takes        bool      // active and not paused
	cooldownEnds time.Time // of its breaker; zero when that is closed
	coolingDown  bool      // the breaker is not closed
}

// cutoffs are the moments before which a row needs the sweeper.
type cutoffs struct{ now, overdue, parked, abandoned time.Time }

// cursor is a place in the order of all deliveries.
type cursor struct {
	key webhook.SubscriptionKey
	id  uuid.UUID
}

func selectOpen(ctx context.Context, q db.Querier, after cursor, at cutoffs, limit int) ([]*openDelivery, error) {
	rows, err := q.Query(ctx, sqlSelectOpen, after.key.Company, after.key.ID, after.id, at.now, at.overdue, at.parked, limit)
	if err != nil {
		return nil, fmt.Errorf("read open deliveries: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (*openDelivery, error) {
		v := &openDelivery{}
		return v, r.Scan(&v.key.Company, &v.key.ID, &v.id, &v.eventID, &v.event, &v.state, &v.attempt, &v.next,
			&v.expires, &v.isTest, &v.createdAt, &v.updatedAt)
	})
	if err != nil {
		return nil, fmt.Errorf("read open deliveries: %w", err)
	}
	return found, nil
}

// selectGates reads the receivers of the rows; one that is gone is left out.
func selectGates(ctx context.Context, q db.Querier, rows []*openDelivery) (map[webhook.SubscriptionKey]gate, error) {
	var companies, ids []uuid.UUID
	for i, v := range rows {
		if i == 0 || v.key != rows[i-1].key {
			companies, ids = append(companies, uuid.UUID(v.key.Company)), append(ids, v.key.ID)
		}
	}
	result, err := q.Query(ctx, sqlSelectBlocked, companies, ids)
	if err != nil {
		return nil, fmt.Errorf("read receivers of open deliveries: %w", err)
	}
	gates := make(map[webhook.SubscriptionKey]gate, len(ids))
	var (
		key    webhook.SubscriptionKey
		active bool
		status string
		until  *time.Time
		opens  int
	)
	_, err = pgx.ForEachRow(result, []any{&key.Company, &key.ID, &active, &status, &until, &opens}, func() error {
		gates[key] = gate{takes: active && status == "active", cooldownEnds: deref(until), coolingDown: opens > 0}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read receivers of open deliveries: %w", err)
	}
	return gates, nil
}

// columns splits keys for unnest.
func columns(rows []*openDelivery) (companies, subs, ids []uuid.UUID, attempts []int16) {
	for _, v := range rows {
		companies, subs, ids = append(companies, uuid.UUID(v.key.Company)), append(subs, v.key.ID), append(ids, v.id)
		attempts = append(attempts, v.attempt)
	}
	return companies, subs, ids, attempts
}

// selectBodies reads the frozen bodies by delivery id; one that is gone is left out.
func selectBodies(ctx context.Context, q db.Querier, rows []*openDelivery) (map[uuid.UUID][]byte, error) {
	companies, subs, ids, _ := columns(rows)
	bodies, err := db.Map[uuid.UUID, []byte](ctx, q, sqlSelectBodies, companies, subs, ids)
	if err != nil {
		return nil, fmt.Errorf("read bodies of deliveries: %w", err)
	}
	maps.DeleteFunc(bodies, func(_ uuid.UUID, body []byte) bool { return len(body) == 0 })
	return bodies, nil
}

// release gives deliveries back whose worker shows no result since the moment given.
func release(ctx context.Context, d *db.DB, before time.Time) (n int64, err error) {
	err = d.RunTx(ctx, "sweeper.release", func(ctx context.Context, tx *db.Tx) error {
		tag, err := tx.Exec(ctx, sqlRelease, before)
		n = tag.RowsAffected()
		return err
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return 0, fmt.Errorf("release abandoned deliveries: %w", err)
	}
	return n, nil
}

// reopen notes when the deliveries were put in again.
func reopen(ctx context.Context, d *db.DB, rows []*openDelivery, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	companies, subs, ids, attempts := columns(rows)
	err := d.RunTx(ctx, "sweeper.reopen", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlReopen, companies, subs, ids, attempts, now)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("reopen deliveries: %w", err)
	}
	return nil
}

func closeFailed(ctx context.Context, d *db.DB, rows []*openDelivery, texts []string, now time.Time) error {
	companies, subs, ids, attempts := columns(rows)
	err := d.RunTx(ctx, "sweeper.close", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlCloseFailed, companies, subs, ids, attempts, texts, now)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return fmt.Errorf("close deliveries: %w", err)
	}
	return nil
}

// selectOldest gives the creation of the oldest open delivery by tier of its receiver.
func selectOldest(ctx context.Context, q db.Querier) (map[string]time.Time, error) {
	oldest, err := db.Map[string, time.Time](ctx, q, sqlSelectOldest)
	if err != nil {
		return nil, fmt.Errorf("read oldest open deliveries: %w", err)
	}
	return oldest, nil
}

var lastID = uuid.UUID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// afterAll is the place behind everything of a receiver.
func afterAll(key webhook.SubscriptionKey) cursor { return cursor{key, lastID} }

// before is the place in front of everything of a receiver.
func before(key webhook.SubscriptionKey) cursor { return cursor{key, uuid.UUID{}} }

// start is the place in front of everything.
func start() cursor { return before(webhook.SubscriptionKey{}) }
