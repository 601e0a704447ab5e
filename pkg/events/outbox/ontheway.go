package outbox

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/topics"
)

// An event that a receiver has may be on its way to the log: what asks for it by its id finds it in the outbox.

// NotLoggedYet is the position of an event that is still in the outbox: behind all others.
const NotLoggedYet = math.MaxInt64

// idReach is how far the position of a row may be from the time in its event's id. Both are taken in one transaction.
const idReach = 2 * time.Minute

const onTheWay = ` FROM unnest($1::INT4[], $2::UUID[], $3::UUID[], $4::BIGINT[], $5::BIGINT[]) AS u(b, c, i, low, high) CROSS JOIN LATERAL (
 SELECT o.company_id, o.id, o.event, o.agg_type, o.agg_id, o.agg_version, o.payload, o.created_at, o.request_id, o.traceparent FROM outbox AS o
 WHERE o.bucket = u.b AND o.pos >= u.low AND o.pos <= u.high AND o.id = u.i AND o.company_id = u.c AND o.topic = '` + topics.Events + `' LIMIT 1) AS x`

const (
	sqlSelectOnTheWay       = `SELECT x.company_id, x.id, x.event, x.agg_type, x.agg_id, x.agg_version, x.payload, x.created_at` + onTheWay
	sqlSelectOriginOnTheWay = `SELECT x.request_id, x.traceparent` + onTheWay
)

// EventKey names an event.
type EventKey struct {
	Company tenant.ID
	ID      uuid.UUID
}

// onTheWayArgs are the arguments of the statements.
func onTheWayArgs(keys []EventKey) []any {
	n := len(keys)
	buckets, low, high := make([]int32, n), make([]int64, n), make([]int64, n)
	companies, ids := make([]tenant.ID, n), make([]uuid.UUID, n)
	for i, k := range keys {
		at := record.TimeOf(k.ID)
		buckets[i], companies[i], ids[i] = Bucket(k.Company), k.Company, k.ID
		low[i], high[i] = at.Add(-idReach).UnixMicro(), at.Add(idReach).UnixMicro()
	}
	return []any{buckets, companies, ids, low, high}
}

// OnTheWay returns those of the events that are in the outbox, with their bodies as they are stored. One that it does not return
// may have entered the log meanwhile.
func OnTheWay(ctx context.Context, q db.Querier, keys []EventKey) ([]CompanyEntry, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := q.Query(ctx, sqlSelectOnTheWay, onTheWayArgs(keys)...)
	if err != nil {
		return nil, fmt.Errorf("look for events in the outbox: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e CompanyEntry, err error) {
		e.Seq = NotLoggedYet
		return e, row.Scan(&e.Company, &e.ID, &e.Event, &e.AggType, &e.AggID, &e.AggVersion, &e.Body, &e.OccurredAt)
	})
	if err != nil {
		return nil, fmt.Errorf("look for events in the outbox: %w", err)
	}
	return found, nil
}
