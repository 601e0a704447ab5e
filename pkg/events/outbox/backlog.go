package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Backlog is what is in the outbox: what waits to be published and, for a moment, what was.
type Backlog struct {
	Rows   int64
	Oldest *time.Time // when the oldest row was written; nil = there are none
	Dead   int64      // rows that Kafka will not take; they are not among the others
}

const (
	sqlSelectBacklog  = `SELECT count(*), min(created_at), (SELECT count(*) FROM outbox_dead) FROM outbox`
	sqlMeasureBacklog = `SELECT count(*), CAST(COALESCE(extract(epoch FROM now() - min(created_at)), 0) AS FLOAT8) FROM outbox`
	sqlCountPublished = `SELECT CAST(COALESCE(sum(n), 0) AS INT8) FROM event_log_heads`
	sqlPublished      = `SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE bucket = $1 AND company_id = $2)`
	sqlHolds          = `SELECT EXISTS (SELECT 1 FROM unnest($1::INT4[]) AS u(b)
WHERE EXISTS (SELECT 1 FROM outbox WHERE outbox.bucket = u.b AND outbox.pos <= $2))`
	sqlCountUnpublished = `SELECT (SELECT count(*) FROM outbox WHERE topic = $1 AND created_at >= $2 AND created_at <= $3 AND ($4::UUID IS NULL OR company_id = $4::UUID))
 + (SELECT count(*) FROM outbox_dead WHERE topic = $1 AND created_at >= $2 AND created_at <= $3 AND ($4::UUID IS NULL OR company_id = $4::UUID))`
)

// ReadBacklog counts the rows of all companies.
func ReadBacklog(ctx context.Context, q db.Querier) (b Backlog, err error) {
	if err = q.QueryRow(ctx, sqlSelectBacklog).Scan(&b.Rows, &b.Oldest, &b.Dead); err != nil {
		return b, fmt.Errorf("read backlog of the outbox: %w", err)
	}
	return b, nil
}

// MeasureBacklog counts the rows of all companies, with the age of the oldest in seconds, by the clock of the database. They are counted
// because statistics are far off for a table that is constantly filled and emptied.
func MeasureBacklog(ctx context.Context, q db.Querier) (rows int64, age float64, err error) {
	if err = q.QueryRow(ctx, sqlMeasureBacklog).Scan(&rows, &age); err != nil {
		return 0, 0, fmt.Errorf("count the outbox: %w", err)
	}
	return rows, age, nil
}

// CountPublished counts the events that were ever published, of all companies. A restore of the database sets the count back.
func CountPublished(ctx context.Context, q db.Querier) (n int64, err error) {
	if err = q.QueryRow(ctx, sqlCountPublished).Scan(&n); err != nil {
		return 0, fmt.Errorf("count published events: %w", err)
	}
	return n, nil
}

// Published reports whether Kafka has all messages of a company, and the log all of its events.
func Published(ctx context.Context, q db.Querier, company tenant.ID) (published bool, err error) {
	if err = q.QueryRow(ctx, sqlPublished, Bucket(company), company).Scan(&published); err != nil {
		return false, fmt.Errorf("look for unpublished messages of a company: %w", err)
	}
	return published, nil
}

// Holds reports whether rows of the buckets up to a position wait for a relay.
func Holds(ctx context.Context, q db.Querier, buckets []int32, pos int64) (holds bool, err error) {
	if err = q.QueryRow(ctx, sqlHolds, buckets, pos).Scan(&holds); err != nil {
		return false, fmt.Errorf("look for rows in the outbox: %w", err)
	}
	return holds, nil
}

// CountUnpublished counts the messages for a topic that were written from one time to another, both inclusive, and that are in the outbox
// or that Kafka will not take; a nil company means all of them.
func CountUnpublished(ctx context.Context, q db.Querier, topic string, from, to time.Time, company *tenant.ID) (n int64, err error) {
	if err = q.QueryRow(ctx, sqlCountUnpublished, topic, from, to, company).Scan(&n); err != nil {
		return 0, fmt.Errorf("count unpublished messages: %w", err)
	}
	return n, nil
}
