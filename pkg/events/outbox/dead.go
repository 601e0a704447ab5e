package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// DeadRow is a row that Kafka will not take, without its payload.
type DeadRow struct {
	Bucket   int32
	Pos      int64
	ID       uuid.UUID // event id
	Company  tenant.ID
	Topic    string
	Event    string
	Bytes    int32 // of the payload
	Error    string
	FailedAt time.Time
}

const sqlSelectDead = `SELECT bucket, pos, id, company_id, topic, event, length(payload)::INT4, error, failed_at FROM outbox_dead
WHERE (bucket, pos, id) > ($1, $2, $3) AND ($4::UUID IS NULL OR company_id = $4::UUID) AND failed_at <= $5 ORDER BY bucket, pos, id LIMIT $6`

var (
	sqlRestoreDead = outbox.Insert(`(bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at)
SELECT bucket, $4::BIGINT, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at
FROM outbox_dead WHERE bucket = $1 AND pos = $2 AND id = $3`).Reading(outboxDead)
	sqlDeleteDead = outboxDead.Delete(`WHERE bucket = $1 AND pos = $2 AND id = $3`)
)

// DeadFilter selects rows that Kafka will not take.
type DeadFilter struct {
	Company *tenant.ID // nil = of all companies
	Before  time.Time  // they failed by then
}

// DeadRows returns up to limit of the rows behind the one given; the zero row is before all.
func DeadRows(ctx context.Context, q db.Querier, in DeadFilter, after DeadRow, limit int) ([]DeadRow, error) {
	rows, err := q.Query(ctx, sqlSelectDead, after.Bucket, after.Pos, after.ID, in.Company, in.Before, limit)
	if err != nil {
		return nil, fmt.Errorf("read dead rows of the outbox: %w", err)
	}
	dead, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DeadRow])
	if err != nil {
		return nil, fmt.Errorf("read dead rows of the outbox: %w", err)
	}
	return dead, nil
}

// AppendLogged puts a logged event into the outbox again, under its own id. It gets a new position, because relays do not look for
// old ones; the log does not get it again.
func AppendLogged(ctx context.Context, tx *db.Tx, company tenant.ID, e LogEntry, pos int64, now time.Time) error {
	return Append(ctx, tx, company, Message{
		ID: e.ID, Name: e.Event, AggType: e.AggType, AggID: e.AggID, Version: e.AggVersion, Pos: pos,
		Payload: e.Body, CreatedAt: now, // not when it occurred: the age of the outbox tells how long relays need
	})
}

// RestoreDead puts rows back into the outbox, from where they are published under their own ids. They get new positions, because
// relays do not look for old ones.
func RestoreDead(tx *db.Tx, rows []DeadRow) {
	for i, row := range rows {
		tx.Queue(sqlRestoreDead, row.Bucket, row.Pos, row.ID, tx.Now().UnixMicro()+int64(i))
		tx.Signal(row.Bucket)
	}
	DeleteDead(tx, rows)
}

// DeleteDead deletes rows that will never be published.
func DeleteDead(tx *db.Tx, rows []DeadRow) {
	for _, row := range rows {
		tx.Queue(sqlDeleteDead, row.Bucket, row.Pos, row.ID)
	}
}
