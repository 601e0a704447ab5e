package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

const (
	// A relay that freezes in the transaction must not block its successor for longer than its lease.
	sqlBoundIdle     = `SET LOCAL idle_in_transaction_session_timeout = 5000`
	sqlLockHeads     = `SELECT bucket FROM event_log_heads WHERE bucket = ANY($1::INT4[]) ORDER BY bucket FOR UPDATE`
	sqlAlreadyLogged = `SELECT e.id FROM unnest($1::UUID[], $2::UUID[]) AS u(c, i) JOIN events AS e ON e.company_id = u.c AND e.id = u.i`
)

var (
	// The range of positions bounds the part of the primary key that is scanned. IS TRUE keeps PostgreSQL from a join, which
	// its generic plan would make by comparing each row with each of the others; it looks up a hash table instead.
	sqlDeleteRows = outbox.Delete(`WHERE bucket = ANY($1::INT4[]) AND pos >= $2 AND pos <= $3
AND ((bucket, pos, id) IN (SELECT u.b, u.p, u.i FROM unnest($4::INT4[], $5::BIGINT[], $6::UUID[]) AS u(b, p, i))) IS TRUE RETURNING bucket, pos, id`)
	// The list of buckets, said again for the table, keeps a hash join from reading all heads.
	sqlMoveHeads = eventLogHeads.Update(`SET n = n + u.k FROM unnest($1::INT4[], $2::BIGINT[]) AS u(b, k) WHERE bucket = u.b AND bucket = ANY($1::INT4[])`)
	// The heads were already advanced in this transaction: position = head - back.
	sqlInsertEvents = events.Insert(`(company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at, request_id, traceparent, published_at)
SELECT u.company_id, h.n - u.back, u.id, u.event, u.agg_type, u.agg_id, u.agg_version, u.body, u.occurred_at, u.expires_at, u.request_id, u.traceparent, u.published_at
FROM unnest($1::INT4[], $2::UUID[], $3::BIGINT[], $4::UUID[], $5::TEXT[], $6::TEXT[], $7::UUID[], $8::BIGINT[], $9::BYTEA[], $10::TIMESTAMPTZ[], $11::TIMESTAMPTZ[], $12::TEXT[], $13::TEXT[], $14::TIMESTAMPTZ[])
AS u(b, company_id, back, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at, request_id, traceparent, published_at)
JOIN event_log_heads AS h ON h.bucket = u.b WHERE h.bucket = ANY($1::INT4[])`).Reading(eventLogHeads)
	sqlInsertDead = outboxDead.Insert(`(bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at, error, failed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (bucket, pos, id) DO NOTHING`)
)

// insertBytes limits the bodies of one INSERT; CockroachDB rejects statements above 16 MiB.
const insertBytes = 4 << 20

// complete deletes the rows that Kafka has accepted or rejected and writes the event log, in one transaction for all
// buckets. Only the relay that deletes a row logs it, so that the log has each event once, however many relays published
// it. The heads of the buckets are locked first and in order, so that positions become visible in order and two relays
// cannot deadlock.
func (r *Relay) complete(ctx context.Context, all []decided) error {
	slices.SortFunc(all, func(x, y decided) int { return int(x.bucket() - y.bucket()) })
	ctx, cancel := context.WithTimeout(ctx, maxPassTime)
	defer cancel()
	if err := r.cfg.inject.At(ctx, beforeSettle); err != nil {
		return err
	}
	err := r.completeOnce(ctx, all, false)
	if errors.Is(err, errLogged) {
		// Only events that are published again are in the log already, so the common case does not look for them.
		err = r.completeOnce(ctx, all, true)
	}
	if err != nil {
		return fmt.Errorf("complete %d outbox buckets, the first %d: %w", len(all), all[0].bucket(), err)
	}
	for _, d := range all {
		r.count(ctx, d)
	}
	return nil
}

var errLogged = errors.New("some events are in the log")

func (r *Relay) completeOnce(ctx context.Context, all []decided, republished bool) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return r.db.RunTx(ctx, "outbox.settle", func(ctx context.Context, tx *db.Tx) error {
		if err := deleteRows(ctx, tx, all); err != nil {
			return err
		}
		if err := r.cfg.inject.At(ctx, afterDelete); err != nil {
			return err
		}
		if republished {
			if err := readLogged(ctx, tx, all); err != nil {
				return err
			}
		}
		r.appendLog(tx, all)
		for i := range all {
			all[i].bury(tx, now)
		}
		return nil
	}, db.ReadCommitted(), db.Repeatable()) // a repetition deletes nothing and therefore logs nothing
}

// decided are the rows of a bucket that Kafka accepted or rejected.
type decided struct {
	p *part
	published
	gone   map[place]bool     // those that this transaction deleted
	logged map[uuid.UUID]bool // events that are in the log already
}

// bury queues copies of the rejected rows that this transaction deleted.
func (d *decided) bury(tx *db.Tx, now time.Time) {
	for _, b := range d.batches {
		for _, p := range b.poison {
			if d.gone[d.place(&p.row)] {
				tx.Queue(sqlInsertDead, d.bucket(), p.Pos, p.ID, p.Company, p.Topic, p.Key, p.Event, p.AggType, p.AggID,
					p.AggVersion, p.deadPayload(), p.Traceparent, p.Tracestate, p.CreatedAt, p.reason.Error(), now)
			}
		}
	}
}

// newEvents lists the events whose rows this transaction deleted and that the log does not have yet.
func (d *decided) newEvents() (events []*row) {
	for _, b := range d.batches {
		for i := range b.decided {
			if m := &b.decided[i]; m.logged() && d.gone[d.place(m)] && !d.logged[m.ID] {
				events = append(events, m)
			}
		}
	}
	return events
}

func (d *decided) bucket() int32 { return d.p.bucket }

// count reports what became of the rows of a bucket.
func (r *Relay) count(ctx context.Context, d decided) {
	for _, e := range d.newEvents() {
		r.quota.Add(e.Company, len(e.Stored), e.CreatedAt.Add(r.cfg.EventRetention))
	}
	repeated.Add(float64(d.rows - len(d.gone)))
	for _, b := range d.batches {
		for _, p := range b.poison {
			deadRows.WithLabelValues(p.Topic).Inc()
			r.log.ErrorContext(ctx, "outbox row moved to outbox_dead", "company_id", p.Company, "event_id", p.ID,
				"event", p.Event, "topic", p.Topic, "bytes", len(p.Payload), "error", p.reason)
		}
	}
}

// place identifies a row.
type place struct {
	Bucket int32
	Pos    int64
	ID     uuid.UUID
}

func (d *decided) place(m *row) place { return place{d.bucket(), m.Pos, m.ID} }

var errHeads = errors.New("event_log_heads lacks rows for some of the buckets: run the migrations")

// deleteRows locks the heads and deletes the rows, in one round trip.
func deleteRows(ctx context.Context, tx *db.Tx, all []decided) error {
	tx.QueueRead(sqlBoundIdle)
	buckets := make([]int32, len(all))
	for i := range all {
		buckets[i] = all[i].bucket()
	}
	tx.QueueRead(sqlLockHeads, buckets).Expect(int64(len(buckets)), errHeads)
	for _, some := range together(all, tx.Now()) {
		some.queue(tx)
	}
	if err := tx.Flush(ctx); err != nil {
		return fmt.Errorf("delete published rows of buckets %v: %w", buckets, err)
	}
	return nil
}

// logged reports whether the row goes into the event log. A damaged one would fail every reader.
func (m *row) logged() bool { return m.Topic == topics.Events && m.corrupt == nil }

// readLogged finds out which events are in the log already. The locks of the heads keep others from adding them meanwhile.
func readLogged(ctx context.Context, tx *db.Tx, all []decided) error {
	for i := range all {
		var companies, ids []uuid.UUID
		for _, e := range all[i].newEvents() {
			companies, ids = append(companies, uuid.UUID(e.Company)), append(ids, e.ID)
		}
		rows, err := tx.Query(ctx, sqlAlreadyLogged, companies, ids)
		if err != nil {
			return fmt.Errorf("read which events are in the log: %w", err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return fmt.Errorf("read which events are in the log: %w", err)
		}
		all[i].logged = make(map[uuid.UUID]bool, len(found))
		for _, id := range found {
			all[i].logged[id] = true
		}
	}
	return nil
}

// appendLog queues the log entries of the events whose rows this transaction deleted.
func (r *Relay) appendLog(tx *db.Tx, all []decided) {
	var c columns
	var buckets []int32
	var counts []int64
	var inserts []columns
	for _, d := range all {
		events := d.newEvents()
		if len(events) == 0 {
			continue
		}
		buckets, counts = append(buckets, d.bucket()), append(counts, int64(len(events)))
		for i, e := range events {
			c.add(d.bucket(), e, int64(len(events)-1-i), e.CreatedAt.Add(r.cfg.EventRetention))
			if c.bytes >= insertBytes {
				inserts, c = append(inserts, c), columns{}
			}
		}
	}
	if len(buckets) == 0 {
		return
	}
	tx.Queue(sqlMoveHeads, buckets, counts)
	if len(c.id) > 0 {
		inserts = append(inserts, c)
	}
	for _, c := range inserts {
		tx.Queue(sqlInsertEvents, c.bucket, c.company, c.back, c.id, c.event, c.aggType, c.aggID, c.version, c.body, c.occurred, c.expires, c.request, c.trace, c.published).
			OnConstraint("events_pkey", errLogged).OnConstraint("events_id_key", errLogged)
	}
}

// columns are the arguments of one INSERT into the event log.
type columns struct {
	bucket    []int32
	company   []tenant.ID
	back      []int64
	id        []uuid.UUID
	event     []string
	aggType   []string
	aggID     []uuid.UUID
	version   []int64
	body      [][]byte
	occurred  []time.Time
	expires   []time.Time
	request   []string
	trace     []string
	published []time.Time
	bytes     int
}

func (c *columns) add(bucket int32, e *row, back int64, expires time.Time) {
	c.bucket = append(c.bucket, bucket)
	c.company = append(c.company, e.Company)
	c.back = append(c.back, back)
	c.id = append(c.id, e.ID)
	c.event = append(c.event, e.Event)
	c.aggType = append(c.aggType, e.AggType)
	c.aggID = append(c.aggID, e.AggID)
	c.version = append(c.version, e.AggVersion)
	c.body = append(c.body, e.Stored)
	c.occurred = append(c.occurred, e.CreatedAt)
	c.expires = append(c.expires, expires)
	c.request = append(c.request, e.RequestID)
	c.trace = append(c.trace, e.Traceparent)
	c.published = append(c.published, e.answered)
	c.bytes += len(e.Stored)
}
