package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Result is what happened to a delivery.
type Result struct {
	DeliveryKey
	New       *NewRow // of a delivery whose row may not be written yet; nil of all others
	State     webhook.State
	Attempt   int16 // attempts made so far
	Most      int16 // the row is changed only if its attempt is at most this
	Next      *time.Time
	Completed *time.Time
	Err       *string
	Waiting   *webhook.Waiting // what it waits for when it stays open

	Tried   bool // an attempt was made; what follows describes it
	Started time.Time
	Took    time.Duration
	Code    *int32
	Body    []byte
}

// Succeeded reports whether an attempt ended the delivery well. The row of the delivery describes that attempt completely;
// the history holds the others.
func (r *Result) Succeeded() bool { return r.Tried && r.State == webhook.StateSuccess }

func (r *Result) durationMS() *int32 {
	if !r.Tried {
		return nil
	}
	ms := int32(min(r.Took.Milliseconds(), 1<<30))
	return &ms
}

const deliveryAttempts = db.Table("delivery_attempts")

// sqlUpdateDeliveries changes only what is still open, and only rows whose attempt is not past what the
// result knows of: a repeat, or the late result of a worker that lost its partition, changes nothing.
// "state + 0" keeps planners from the partial index of open rows, of which statistics may say at any time that it is empty:
// the rows are found by their key.
var sqlUpdateDeliveries = deliveries.Update(`SET state = u.st, attempt = GREATEST(deliveries.attempt, u.a), next_attempt_at = u.n,
 http_code = CASE WHEN u.tried THEN u.code ELSE deliveries.http_code END,
 response_body = CASE WHEN u.tried THEN u.body ELSE deliveries.response_body END,
 error = CASE WHEN u.tried OR u.err IS NOT NULL THEN u.err ELSE deliveries.error END,
 duration_ms = CASE WHEN u.tried THEN u.ms ELSE deliveries.duration_ms END,
 completed_at = u.done, waiting_for = u.waits, updated_at = $15
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::INT2[], $5::INT2[], $6::INT2[], $7::TIMESTAMPTZ[], $8::BOOLEAN[], $9::INT4[], $10::BYTEA[], $11::TEXT[], $12::INT4[], $13::TIMESTAMPTZ[], $14::TEXT[])
 AS u(c, s, i, st, a, most, n, tried, code, body, err, ms, done, waits)
WHERE deliveries.company_id = u.c AND deliveries.subscription_id = u.s AND deliveries.id = u.i
 AND deliveries.state + 0 < 2 AND deliveries.attempt <= u.most`)

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
	waits                         []*webhook.Waiting
}

func (c *deliveryColumns) add(r *Result) {
	c.addKey(r)
	c.addAnswer(r)
	c.states = append(c.states, int16(r.State))
	c.most = append(c.most, r.Most)
	c.next = append(c.next, r.Next)
	c.tried = append(c.tried, r.Tried)
	c.errors = append(c.errors, r.Err)
	c.waits = append(c.waits, r.Waiting)
}

func (c *deliveryColumns) addKey(r *Result) {
	c.companies = append(c.companies, uuid.UUID(r.Subscription.Company))
	c.subscriptions = append(c.subscriptions, r.Subscription.ID)
	c.ids = append(c.ids, r.ID)
}

func (c *deliveryColumns) addAnswer(r *Result) {
	c.attempts = append(c.attempts, r.Attempt)
	c.codes = append(c.codes, r.Code)
	c.bodies = append(c.bodies, r.Body)
	c.durations = append(c.durations, r.durationMS())
	c.completed = append(c.completed, r.Completed)
}

// sqlUpdateSucceeded is the same for successes alone, with which most batches are filled: fewer columns to encode and to unpack.
var sqlUpdateSucceeded = deliveries.Update(`SET state = 2, attempt = GREATEST(deliveries.attempt, u.a), next_attempt_at = NULL,
 http_code = u.code, response_body = u.body, error = NULL, duration_ms = u.ms, completed_at = u.done, waiting_for = NULL, updated_at = $9
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::INT2[], $5::INT4[], $6::BYTEA[], $7::INT4[], $8::TIMESTAMPTZ[]) AS u(c, s, i, a, code, body, ms, done)
WHERE deliveries.company_id = u.c AND deliveries.subscription_id = u.s AND deliveries.id = u.i
 AND deliveries.state + 0 < 2`)

// UpsertResults stores results, of which no two may be of the same delivery.
func UpsertResults(tx *db.Tx, results []*Result, now time.Time) {
	var fresh, known []*Result
	for _, r := range results {
		if r.New != nil {
			fresh = append(fresh, r)
		} else {
			known = append(known, r)
		}
	}
	upsertNew(tx, fresh, now)
	update(tx, known, now)
}

func update(tx *db.Tx, results []*Result, now time.Time) {
	if len(results) == 0 {
		return
	}
	c := &deliveryColumns{}
	if !slices.ContainsFunc(results, func(r *Result) bool { return !r.Succeeded() }) {
		for _, r := range results {
			c.addKey(r)
			c.addAnswer(r)
		}
		tx.Queue(sqlUpdateSucceeded, c.companies, c.subscriptions, c.ids, c.attempts, c.codes, c.bodies, c.durations, c.completed, now)
		return
	}
	for _, r := range results {
		c.add(r)
	}
	tx.Queue(sqlUpdateDeliveries, c.companies, c.subscriptions, c.ids, c.states, c.attempts, c.most, c.next, c.tried,
		c.codes, c.bodies, c.errors, c.durations, c.completed, c.waits, now)
}

var sqlUpsertAttempts = deliveryAttempts.Insert(`(company_id, subscription_id, ring, seq, delivery_id, attempt, http_code, error, duration_ms, started_at)
SELECT c, s, r, q, d, a, code, err, ms, at
FROM unnest($1::UUID[], $2::UUID[], $3::INT2[], $4::INT8[], $5::UUID[], $6::INT2[], $7::INT4[], $8::TEXT[], $9::INT4[], $10::TIMESTAMPTZ[])
 AS u(c, s, r, q, d, a, code, err, ms, at)
ON CONFLICT (company_id, subscription_id, ring) DO UPDATE SET seq = excluded.seq, delivery_id = excluded.delivery_id, attempt = excluded.attempt,
 http_code = excluded.http_code, error = excluded.error, duration_ms = excluded.duration_ms, started_at = excluded.started_at
WHERE delivery_attempts.seq <= excluded.seq`)

// HistorySize is how many unsuccessful attempts of a subscription are kept; see docs/reference/limits.md#webhooks.
const HistorySize = 100

// Attempt is a result with its number in the history of its subscription.
type Attempt struct {
	*Result
	Seq int64
}

// attemptColumns are rows of the history, by column.
type attemptColumns struct {
	companies, subscriptions []uuid.UUID
	rings                    []int16
	seqs                     []int64
	deliveries               []uuid.UUID
	attempts                 []int16
	codes                    []*int32
	errors                   []*string
	durations                []*int32
	started                  []time.Time
}

func (c *attemptColumns) add(r *Result, seq int64) {
	c.companies = append(c.companies, uuid.UUID(r.Subscription.Company))
	c.subscriptions = append(c.subscriptions, r.Subscription.ID)
	c.rings = append(c.rings, int16(seq%HistorySize))
	c.seqs = append(c.seqs, seq)
	c.deliveries = append(c.deliveries, r.ID)
	c.attempts = append(c.attempts, r.Attempt)
	c.codes = append(c.codes, r.Code)
	c.errors = append(c.errors, r.Err)
	c.durations = append(c.durations, r.durationMS())
	c.started = append(c.started, r.Started)
}

// UpsertAttempts writes attempts over the oldest ones of their subscriptions.
func UpsertAttempts(tx *db.Tx, attempts []Attempt) {
	if len(attempts) == 0 {
		return
	}
	c := &attemptColumns{}
	for _, a := range attempts {
		c.add(a.Result, a.Seq)
	}
	tx.Queue(sqlUpsertAttempts, c.companies, c.subscriptions, c.rings, c.seqs, c.deliveries, c.attempts, c.codes,
		c.errors, c.durations, c.started)
}

const sqlSelectSeqs = `SELECT u.c, u.s, x.seq FROM unnest($1::UUID[], $2::UUID[]) AS u(c, s) CROSS JOIN LATERAL (
  SELECT COALESCE(max(d.seq), 0) AS seq FROM delivery_attempts AS d WHERE d.company_id = u.c AND d.subscription_id = u.s) AS x`

// LastAttempts reads where the history of each subscription ends.
func LastAttempts(ctx context.Context, q db.Querier, keys []webhook.SubscriptionKey) (map[webhook.SubscriptionKey]int64, error) {
	companies, ids := subscriptionColumns(keys)
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

var sqlUpdateLastTimes = webhookSubscriptions.Update(`SET last_success_at = COALESCE(u.ok, webhook_subscriptions.last_success_at),
 last_failure_at = COALESCE(u.bad, webhook_subscriptions.last_failure_at)
FROM unnest($1::UUID[], $2::UUID[], $3::TIMESTAMPTZ[], $4::TIMESTAMPTZ[]) AS u(c, i, ok, bad)
WHERE webhook_subscriptions.company_id = u.c AND webhook_subscriptions.id = u.i`)

// LastTimes are the last success and failure of a receiver; nil leaves what is stored.
type LastTimes struct {
	Key              webhook.SubscriptionKey
	Success, Failure *time.Time
}

// UpdateLastTimes stores them.
func UpdateLastTimes(tx *db.Tx, times []LastTimes) {
	if len(times) == 0 {
		return
	}
	var (
		companies, ids      []uuid.UUID
		successes, failures []*time.Time
	)
	for _, t := range times {
		companies, ids = append(companies, uuid.UUID(t.Key.Company)), append(ids, t.Key.ID)
		successes, failures = append(successes, t.Success), append(failures, t.Failure)
	}
	tx.Queue(sqlUpdateLastTimes, companies, ids, successes, failures)
}

// Breaker is the circuit breaker of a receiver.
type Breaker struct {
	Opens         int       // cooldowns in a row; 0 = closed
	Until         time.Time // end of the cooldown; zero = closed
	FailingSince  time.Time // first failed attempt since the last success; zero when that is short ago
	GoneSince     time.Time // first attempt answered 410 since one that ended otherwise; zero when that is short ago
	RecoveredFrom time.Time // after the first success of a receiver that was down: when that began
}

// sqlUpdateBreaker keeps the beginning of an earlier outage that the sweeper has not dealt with.
var sqlUpdateBreaker = webhookSubscriptions.Update(`SET breaker_open_until = $3, breaker_opens = $4, failing_since = $5,
 recovered_from = COALESCE(recovered_from, $6), gone_since = $7 WHERE company_id = $1 AND id = $2`)

// UpdateBreakers stores breakers that have changed.
func UpdateBreakers(tx *db.Tx, changes map[webhook.SubscriptionKey]Breaker) {
	for key, c := range changes {
		tx.Queue(sqlUpdateBreaker, key.Company, key.ID, nullTime(c.Until), c.Opens, nullTime(c.FailingSince), nullTime(c.RecoveredFrom), nullTime(c.GoneSince))
	}
}

// nullTime is nil for the zero time. The database keeps microseconds.
func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Microsecond)
	return &t
}

const sqlSelectProgress = `SELECT d.id, d.state, d.attempt, d.entity_id IS NOT NULL
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[]) AS u(c, s, i)
JOIN deliveries AS d ON d.company_id = u.c AND d.subscription_id = u.s AND d.id = u.i`

// Progress is how far a delivery is.
type Progress struct {
	State   webhook.State
	Attempt int16
	Ordered bool // others may wait for it
}

// SelectProgress reads deliveries by their ids; those that are not there are left out.
func SelectProgress(ctx context.Context, q db.Querier, keys []DeliveryKey) (map[uuid.UUID]Progress, error) {
	companies, subscriptions, ids := columns(keys)
	rows, err := q.Query(ctx, sqlSelectProgress, companies, subscriptions, ids)
	if err != nil {
		return nil, fmt.Errorf("read progress of deliveries: %w", err)
	}
	found := make(map[uuid.UUID]Progress, len(keys))
	var (
		id uuid.UUID
		p  Progress
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &p.State, &p.Attempt, &p.Ordered}, func() error {
		found[id] = p
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read progress of deliveries: %w", err)
	}
	return found, nil
}
