package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const sqlSelectHeads = `SELECT bucket, n FROM event_log_heads ORDER BY bucket`

const sqlSelectActive = `SELECT u.c FROM unnest($1::UUID[], $2::INT8[], $3::INT8[]) AS u(c, low, high)
WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.company_id = u.c AND e.seq > u.low AND e.seq <= u.high)`

const sqlSelectLogged = `SELECT x.company_id, x.id, x.event, x.body, x.occurred_at
FROM unnest($1::UUID[], $2::INT8[], $3::INT8[]) AS u(c, low, high) CROSS JOIN LATERAL (
  SELECT e.company_id, e.id, e.event, e.body, e.occurred_at FROM events AS e
  WHERE e.company_id = u.c AND e.seq > u.low AND e.seq <= u.high ORDER BY e.company_id, e.seq LIMIT $4) AS x`

const sqlSelectCompanyAges = `SELECT c.id, GREATEST(c.updated_at, COALESCE((SELECT max(m.updated_at) FROM company_components AS m WHERE m.company_id = c.id), c.updated_at))
FROM companies AS c WHERE c.id = ANY($1::UUID[])`

// heads are the last positions of the event log, by bucket.
type heads [outbox.Buckets]int64

func selectHeads(ctx context.Context, q db.Querier) (h heads, err error) {
	ends, err := db.Map[int32, int64](ctx, q, sqlSelectHeads)
	if err != nil {
		return h, fmt.Errorf("read ends of the event log: %w", err)
	}
	for bucket, n := range ends {
		h[bucket] = n
	}
	return h, nil
}

// logRange is the part of the event log after low, up to and including high.
type logRange struct{ low, high heads }

// columns lists the bounds of companies for unnest.
func (s *logRange) columns(companies []uuid.UUID) (low, high []int64) {
	for _, c := range companies {
		bucket := outbox.Bucket(tenant.ID(c))
		low, high = append(low, s.low[bucket]), append(high, s.high[bucket])
	}
	return low, high
}

// selectActive reads which of the companies have events in their range.
func selectActive(ctx context.Context, q db.Querier, companies []uuid.UUID, low, high []int64) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, sqlSelectActive, companies, low, high)
	if err != nil {
		return nil, fmt.Errorf("read companies with events: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("read companies with events: %w", err)
	}
	return ids, nil
}

// logged is a published event.
type logged struct {
	company  tenant.ID
	id       uuid.UUID
	event    string
	body     []byte // nil if the stored one cannot be read
	occurred time.Time
}

// open expands the body. One that is damaged or of a later release must not hold up the others: what is to be delivered of
// it is not checked, and the log says so.
func (e *logged) open(ctx context.Context, log *slog.Logger) {
	body, err := compress.Open(e.body)
	if err != nil {
		log.ErrorContext(ctx, "body in the event log not read, deliveries of the event are not checked", "company_id", e.company, "event_id", e.id, "error", err)
	}
	e.body = body
}

// selectLogged reads the first events of each company in its range.
func selectLogged(ctx context.Context, q db.Querier, companies []uuid.UUID, in *logRange, each int, log *slog.Logger) ([]logged, error) {
	low, high := in.columns(companies)
	rows, err := q.Query(ctx, sqlSelectLogged, companies, low, high, each)
	if err != nil {
		return nil, fmt.Errorf("read published events: %w", err)
	}
	events, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (e logged, err error) {
		return e, r.Scan(&e.company, &e.id, &e.event, &e.body, &e.occurred)
	})
	if err != nil {
		return nil, fmt.Errorf("read published events: %w", err)
	}
	for i := range events {
		events[i].open(ctx, log)
	}
	return events, nil
}

// selectCompanyAges reads when each company, or one of its components, was changed last.
func selectCompanyAges(ctx context.Context, q db.Querier, companies []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	ages, err := db.Map[uuid.UUID, time.Time](ctx, q, sqlSelectCompanyAges, companies)
	if err != nil {
		return nil, fmt.Errorf("read last changes of companies: %w", err)
	}
	return ages, nil
}
