package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/topics"
)

const (
	// A relay that freezes in the transaction must not block its successor for longer than its lease.
	sqlBoundIdle = `SET LOCAL idle_in_transaction_session_timeout = 5000`
	sqlLockHead  = `SELECT n FROM event_log_heads WHERE bucket = $1 FOR UPDATE`
	// The range of positions makes every planner choose the same plan, a scan of that part of the primary key.
	sqlDeleteRows = `DELETE FROM outbox WHERE bucket = $1 AND pos >= $2 AND pos <= $3
AND (pos, id) IN (SELECT u.p, u.i FROM unnest($4::BIGINT[], $5::UUID[]) AS u(p, i)) RETURNING pos, id`
	sqlMoveHead = `UPDATE event_log_heads SET n = n + $2::BIGINT WHERE bucket = $1`
	// The head was already advanced in this transaction: position = head - back.
	sqlInsertEvents = `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
SELECT u.company_id, h.n - u.back, u.id, u.event, u.agg_type, u.agg_id, u.agg_version, u.body, u.occurred_at, u.expires_at
FROM unnest($2::UUID[], $3::BIGINT[], $4::UUID[], $5::TEXT[], $6::TEXT[], $7::UUID[], $8::BIGINT[], $9::BYTEA[], $10::TIMESTAMPTZ[], $11::TIMESTAMPTZ[])
AS u(company_id, back, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at), event_log_heads AS h
WHERE h.bucket = $1
ON CONFLICT DO NOTHING`
	sqlInsertDead = `INSERT INTO outbox_dead (bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at, error, failed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (bucket, pos, id) DO NOTHING`
)

// insertBytes limits the bodies of one INSERT; CockroachDB rejects statements above 16 MiB.
const insertBytes = 4 << 20

// settle deletes the rows that Kafka has accepted or rejected and writes the event log, in one transaction. Only the
// relay that deletes a row logs it, so that the log has each event once, however many relays published it. The head
// of the bucket is locked first, so that positions become visible in order and two relays cannot deadlock.
func (r *Relay) settle(ctx context.Context, b *batch) error {
	if len(b.acked)+len(b.poison) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxTurnTime)
	defer cancel()
	now := time.Now().UTC().Truncate(time.Microsecond)
	all := b.decided()
	var gone map[place]bool
	err := r.db.RunTx(ctx, "outbox.settle", func(ctx context.Context, tx *db.Tx) (err error) {
		if gone, err = deleteRows(ctx, tx, b.bucket, all); err != nil {
			return err
		}
		if err := r.cfg.Inject.At(ctx, afterDelete); err != nil {
			return err
		}
		r.appendLog(tx, b.bucket, all, gone)
		for _, p := range b.poison {
			if gone[p.place()] {
				tx.Queue(sqlInsertDead, b.bucket, p.Pos, p.ID, p.Company, p.Topic, p.Key, p.Event, p.AggType, p.AggID,
					p.AggVersion, p.deadPayload(), p.Traceparent, p.Tracestate, p.CreatedAt, p.reason.Error(), now)
			}
		}
		return nil
	}, db.ReadCommitted(), db.Repeatable()) // a repetition deletes nothing and therefore logs nothing
	if err != nil {
		return fmt.Errorf("settle outbox bucket %d: %w", b.bucket, err)
	}
	for i := range all {
		if all[i].logged() && gone[all[i].place()] {
			r.quota.Add(all[i].Company, len(all[i].Stored), all[i].CreatedAt.Add(r.cfg.EventRetention))
		}
	}
	repeated.Add(float64(len(all) - len(gone)))
	for _, p := range b.poison {
		deadRows.WithLabelValues(p.Topic).Inc()
		r.log.ErrorContext(ctx, "outbox row moved to outbox_dead", "company_id", p.Company, "event_id", p.ID,
			"event", p.Event, "topic", p.Topic, "bytes", len(p.Payload), "error", p.reason)
	}
	return nil
}

// decided lists the acknowledged and the rejected rows by position.
func (b *batch) decided() []row {
	if len(b.poison) == 0 {
		return b.acked
	}
	all := slices.Clone(b.acked)
	for _, p := range b.poison {
		all = append(all, p.row)
	}
	slices.SortStableFunc(all, func(x, y row) int {
		if x.Pos != y.Pos {
			return int(min(max(x.Pos-y.Pos, -1), 1))
		}
		return slices.Compare(x.ID[:], y.ID[:])
	})
	return all
}

// place identifies a row within a bucket.
type place struct {
	Pos int64
	ID  uuid.UUID
}

func (m *row) place() place { return place{m.Pos, m.ID} }

func deleteRows(ctx context.Context, tx *db.Tx, bucket int32, rows []row) (map[place]bool, error) {
	at, ids := make([]int64, len(rows)), make([]uuid.UUID, len(rows))
	for i := range rows {
		at[i], ids[i] = rows[i].Pos, rows[i].ID
	}
	batch := &pgx.Batch{}
	batch.Queue(sqlBoundIdle)
	batch.Queue(sqlLockHead, bucket)
	batch.Queue(sqlDeleteRows, bucket, rows[0].Pos, rows[len(rows)-1].Pos, at, ids)
	res := tx.SendBatch(ctx, batch)
	defer func() { _ = res.Close() }() // it repeats the error of an earlier statement
	if _, err := res.Exec(); err != nil {
		return nil, fmt.Errorf("set idle timeout: %w", err)
	}
	var n int64
	if err := res.QueryRow().Scan(&n); err != nil {
		return nil, fmt.Errorf("lock head of the event log: %w", err)
	}
	deleted, err := res.Query()
	if err != nil {
		return nil, fmt.Errorf("delete published rows: %w", err)
	}
	gone := make(map[place]bool, len(rows))
	list, err := pgx.CollectRows(deleted, pgx.RowToStructByPos[place])
	if err != nil {
		return nil, fmt.Errorf("delete published rows: %w", err)
	}
	for _, at := range list {
		gone[at] = true
	}
	return gone, nil
}

// logged reports whether the row goes into the event log. A damaged one would fail every reader.
func (m *row) logged() bool { return m.Topic == topics.Events && m.corrupt == nil }

// appendLog queues the log entries of the events whose rows this transaction deleted.
func (r *Relay) appendLog(tx *db.Tx, bucket int32, rows []row, gone map[place]bool) {
	var events []*row
	for i := range rows {
		if rows[i].logged() && gone[rows[i].place()] {
			events = append(events, &rows[i])
		}
	}
	if len(events) == 0 {
		return
	}
	tx.Queue(sqlMoveHead, bucket, len(events)).Expect(1, fmt.Errorf("event_log_heads has no row for bucket %d: run the migrations", bucket))
	left := int64(len(events))
	var c columns
	for i, e := range events {
		left--
		c.add(e, left, e.CreatedAt.Add(r.cfg.EventRetention))
		if c.bytes >= insertBytes || i == len(events)-1 {
			tx.Queue(sqlInsertEvents, bucket, c.company, c.back, c.id, c.event, c.aggType, c.aggID, c.version, c.body, c.occurred, c.expires)
			c = columns{}
		}
	}
}

// columns are the arguments of one INSERT into the event log.
type columns struct {
	company  []tenant.ID
	back     []int64
	id       []uuid.UUID
	event    []string
	aggType  []string
	aggID    []uuid.UUID
	version  []int64
	body     [][]byte
	occurred []time.Time
	expires  []time.Time
	bytes    int
}

func (c *columns) add(e *row, back int64, expires time.Time) {
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
	c.bytes += len(e.Stored)
}
