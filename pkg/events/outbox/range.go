package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	sqlSelectLogHeads = `SELECT bucket, n FROM event_log_heads ORDER BY bucket`

	sqlSelectActive = `SELECT u.c FROM unnest($1::UUID[], $2::INT8[], $3::INT8[]) AS u(c, low, high)
WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.company_id = u.c AND e.seq > u.low AND e.seq <= u.high) ORDER BY u.c`

	sqlSelectFirst = `SELECT x.company_id, x.seq, x.id, x.event, x.agg_type, x.agg_id, x.agg_version, x.body, x.occurred_at
FROM unnest($1::UUID[], $2::INT8[], $3::INT8[]) AS u(c, low, high) CROSS JOIN LATERAL (
  SELECT e.company_id, e.seq, e.id, e.event, e.agg_type, e.agg_id, e.agg_version, e.body, e.occurred_at FROM events AS e
  WHERE e.company_id = u.c AND e.seq > u.low AND e.seq <= u.high ORDER BY e.company_id, e.seq LIMIT $4) AS x`
)

// LogHeads are the last positions of the event log, by bucket.
type LogHeads [Buckets]int64

// ReadLogHeads reads where the event log ends.
func ReadLogHeads(ctx context.Context, q db.Querier) (h LogHeads, err error) {
	ends, err := db.Map[int32, int64](ctx, q, "read ends of the event log", sqlSelectLogHeads)
	if err != nil {
		return h, err
	}
	for bucket, n := range ends {
		h[bucket] = n
	}
	return h, nil
}

// LogRange is the part of the event log after Low, up to and including High, over all companies.
type LogRange struct{ Low, High LogHeads }

// columns lists the bounds of companies for unnest.
func (r *LogRange) columns(companies []uuid.UUID) (low, high []int64) {
	for _, c := range companies {
		bucket := Bucket(tenant.ID(c))
		low, high = append(low, r.Low[bucket]), append(high, r.High[bucket])
	}
	return low, high
}

// Active returns those of the companies that have events in the range, in order.
func (r *LogRange) Active(ctx context.Context, q db.Querier, companies []uuid.UUID) ([]uuid.UUID, error) {
	low, high := r.columns(companies)
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

// CompanyEntry is an event of the log of one of several companies.
type CompanyEntry struct {
	Company tenant.ID
	LogEntry
}

// First returns the first events of each company in the range, at most each of them, whether they have expired or not. Bodies are as they
// are stored: package compress opens those that are not damaged.
func (r *LogRange) First(ctx context.Context, q db.Querier, companies []uuid.UUID, each int) ([]CompanyEntry, error) {
	low, high := r.columns(companies)
	return firstBetween(ctx, q, companies, low, high, each)
}

// After is [LogRange.First] for one company, from a position on.
func (r *LogRange) After(ctx context.Context, q db.Querier, company tenant.ID, seq int64, limit int) ([]CompanyEntry, error) {
	bucket := Bucket(company)
	return firstBetween(ctx, q, []uuid.UUID{uuid.UUID(company)}, []int64{max(seq, r.Low[bucket])}, []int64{r.High[bucket]}, limit)
}

func firstBetween(ctx context.Context, q db.Querier, companies []uuid.UUID, low, high []int64, each int) ([]CompanyEntry, error) {
	rows, err := q.Query(ctx, sqlSelectFirst, companies, low, high, each)
	if err != nil {
		return nil, fmt.Errorf("read range of the event log: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e CompanyEntry, err error) {
		return e, row.Scan(&e.Company, &e.Seq, &e.ID, &e.Event, &e.AggType, &e.AggID, &e.AggVersion, &e.Body, &e.OccurredAt)
	})
	if err != nil {
		return nil, fmt.Errorf("read range of the event log: %w", err)
	}
	return found, nil
}
