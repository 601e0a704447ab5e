package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// sqlUpdateDeliveries changes only what is still open, and only rows whose attempt is not past what the
// result knows of: a repeat, or the late result of a worker that lost its partition, changes nothing.
const sqlUpdateDeliveries = `UPDATE deliveries SET state = u.st, attempt = GREATEST(deliveries.attempt, u.a), next_attempt_at = u.n,
 http_code = CASE WHEN u.tried THEN u.code ELSE deliveries.http_code END,
 response_body = CASE WHEN u.tried THEN u.body ELSE deliveries.response_body END,
 error = CASE WHEN u.tried OR u.err IS NOT NULL THEN u.err ELSE deliveries.error END,
 duration_ms = CASE WHEN u.tried THEN u.ms ELSE deliveries.duration_ms END,
 completed_at = u.done, updated_at = $14
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::INT2[], $5::INT2[], $6::INT2[], $7::TIMESTAMPTZ[], $8::BOOLEAN[], $9::INT4[], $10::BYTEA[], $11::TEXT[], $12::INT4[], $13::TIMESTAMPTZ[])
 AS u(c, s, i, st, a, most, n, tried, code, body, err, ms, done)
WHERE deliveries.company_id = u.c AND deliveries.subscription_id = u.s AND deliveries.id = u.i
 AND deliveries.state < 2 AND deliveries.attempt <= u.most`

// deliveryColumns are the rows of one update, by column.
type deliveryColumns struct {
	companies, subscriptions, ids []uuid.UUID
	states, attempts, most        []int16
	next                          []*time.Time
	tried                         []bool
	codes                         []*int32
	bodies                        [][]byte
	errors                        []*string
	durations                     []*int32
	completed                     []*time.Time
}

func (c *deliveryColumns) add(r *result) {
	c.companies = append(c.companies, uuid.UUID(r.key.Company))
	c.subscriptions = append(c.subscriptions, r.key.ID)
	c.ids = append(c.ids, r.delivery)
	c.states = append(c.states, int16(r.state))
	c.attempts = append(c.attempts, r.attempt)
	c.most = append(c.most, r.most)
	c.next = append(c.next, r.next)
	c.tried = append(c.tried, r.tried)
	c.codes = append(c.codes, r.code)
	c.bodies = append(c.bodies, r.body)
	c.errors = append(c.errors, r.err)
	c.durations = append(c.durations, r.durationMS())
	c.completed = append(c.completed, r.completed)
}

func updateDeliveries(tx *db.Tx, c *deliveryColumns, now time.Time) {
	if len(c.ids) == 0 {
		return
	}
	tx.Queue(sqlUpdateDeliveries, c.companies, c.subscriptions, c.ids, c.states, c.attempts, c.most, c.next, c.tried,
		c.codes, c.bodies, c.errors, c.durations, c.completed, now)
}

const sqlUpsertAttempts = `INSERT INTO delivery_attempts (company_id, subscription_id, ring, seq, delivery_id, attempt, http_code, response_body, error, duration_ms, started_at)
SELECT c, s, r, q, d, a, code, body, err, ms, at
FROM unnest($1::UUID[], $2::UUID[], $3::INT2[], $4::INT8[], $5::UUID[], $6::INT2[], $7::INT4[], $8::BYTEA[], $9::TEXT[], $10::INT4[], $11::TIMESTAMPTZ[])
 AS u(c, s, r, q, d, a, code, body, err, ms, at)
ON CONFLICT (company_id, subscription_id, ring) DO UPDATE SET seq = excluded.seq, delivery_id = excluded.delivery_id, attempt = excluded.attempt,
 http_code = excluded.http_code, response_body = excluded.response_body, error = excluded.error, duration_ms = excluded.duration_ms, started_at = excluded.started_at
WHERE delivery_attempts.seq <= excluded.seq`

// ringSize is how many attempts of a subscription are kept (specification, section 6).
const ringSize = 100

// attemptColumns are rows of the history, by column.
type attemptColumns struct {
	companies, subscriptions []uuid.UUID
	rings                    []int16
	seqs                     []int64
	deliveries               []uuid.UUID
	attempts                 []int16
	codes                    []*int32
	bodies                   [][]byte
	errors                   []*string
	durations                []*int32
	started                  []time.Time
}

func (c *attemptColumns) add(r *result, seq int64) {
	c.companies = append(c.companies, uuid.UUID(r.key.Company))
	c.subscriptions = append(c.subscriptions, r.key.ID)
	c.rings = append(c.rings, int16(seq%ringSize))
	c.seqs = append(c.seqs, seq)
	c.deliveries = append(c.deliveries, r.delivery)
	c.attempts = append(c.attempts, r.attempt)
	c.codes = append(c.codes, r.code)
	c.bodies = append(c.bodies, r.body)
	c.errors = append(c.errors, r.err)
	c.durations = append(c.durations, r.durationMS())
	c.started = append(c.started, r.started)
}

func upsertAttempts(tx *db.Tx, c *attemptColumns) {
	if len(c.seqs) == 0 {
		return
	}
	tx.Queue(sqlUpsertAttempts, c.companies, c.subscriptions, c.rings, c.seqs, c.deliveries, c.attempts, c.codes,
		c.bodies, c.errors, c.durations, c.started)
}

const sqlSelectSeqs = `SELECT d.company_id, d.subscription_id, max(d.seq)
FROM unnest($1::UUID[], $2::UUID[]) AS u(c, s)
JOIN delivery_attempts AS d ON d.company_id = u.c AND d.subscription_id = u.s
GROUP BY d.company_id, d.subscription_id`

// selectSeqs reads where the history of each subscription ends.
func selectSeqs(ctx context.Context, q db.Querier, keys []webhook.SubscriptionKey) (map[webhook.SubscriptionKey]int64, error) {
	companies, ids := make([]uuid.UUID, len(keys)), make([]uuid.UUID, len(keys))
	for i, k := range keys {
		companies[i], ids[i] = uuid.UUID(k.Company), k.ID
	}
	rows, err := q.Query(ctx, sqlSelectSeqs, companies, ids)
	if err != nil {
		return nil, fmt.Errorf("read ends of attempt histories: %w", err)
	}
	found := map[webhook.SubscriptionKey]int64{}
	var (
		key webhook.SubscriptionKey
		seq int64
	)
	_, err = pgx.ForEachRow(rows, []any{&key.Company, &key.ID, &seq}, func() error {
		found[key] = seq
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read ends of attempt histories: %w", err)
	}
	return found, nil
}

const sqlUpdateLastTimes = `UPDATE webhook_subscriptions SET last_success_at = COALESCE(u.ok, webhook_subscriptions.last_success_at),
 last_failure_at = COALESCE(u.bad, webhook_subscriptions.last_failure_at)
FROM unnest($1::UUID[], $2::UUID[], $3::TIMESTAMPTZ[], $4::TIMESTAMPTZ[]) AS u(c, i, ok, bad)
WHERE webhook_subscriptions.company_id = u.c AND webhook_subscriptions.id = u.i`

const sqlUpdateBreaker = `UPDATE webhook_subscriptions SET breaker_open_until = $3, breaker_opens = $4 WHERE company_id = $1 AND id = $2`

func updateBreakers(tx *db.Tx, changes map[webhook.SubscriptionKey]breakerChange) {
	for key, c := range changes {
		var until *time.Time
		if c.open {
			until = &c.until
		}
		tx.Queue(sqlUpdateBreaker, key.Company, key.ID, until, c.opens)
	}
}

const sqlSelectProgress = `SELECT d.id, d.state, d.attempt
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
JOIN deliveries AS d ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i`

// progress is how far a delivery is according to the database.
type progress struct {
	state   webhook.State
	attempt int16
}

// selectProgress reads deliveries by key; the ones that are not there are left out.
func selectProgress(ctx context.Context, q db.Querier, companies []tenant.ID, subscriptions, ids []uuid.UUID) (map[uuid.UUID]progress, error) {
	plain := make([]uuid.UUID, len(companies))
	for i, c := range companies {
		plain[i] = uuid.UUID(c)
	}
	rows, err := q.Query(ctx, sqlSelectProgress, plain, subscriptions, ids)
	if err != nil {
		return nil, fmt.Errorf("read progress of deliveries: %w", err)
	}
	found := make(map[uuid.UUID]progress, len(ids))
	var (
		id uuid.UUID
		p  progress
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &p.state, &p.attempt}, func() error {
		found[id] = p
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read progress of deliveries: %w", err)
	}
	return found, nil
}
