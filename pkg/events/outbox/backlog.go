package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Backlog is what Kafka has not acknowledged.
type Backlog struct {
	Rows   int64
	Oldest *time.Time // when the oldest row was written; nil = there are none
	Dead   int64      // rows that Kafka will not take; they are not among the others
}

const (
	sqlSelectBacklog = `SELECT count(*), min(created_at), (SELECT count(*) FROM outbox_dead) FROM outbox`
	sqlPublished     = `SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE bucket = $1 AND company_id = $2)`
)

// ReadBacklog counts the rows of all companies.
func ReadBacklog(ctx context.Context, q db.Querier) (b Backlog, err error) {
	if err = q.QueryRow(ctx, sqlSelectBacklog).Scan(&b.Rows, &b.Oldest, &b.Dead); err != nil {
		return b, fmt.Errorf("read backlog of the outbox: %w", err)
	}
	return b, nil
}

// Published reports whether Kafka has all messages of a company.
func Published(ctx context.Context, q db.Querier, company tenant.ID) (published bool, err error) {
	if err = q.QueryRow(ctx, sqlPublished, Bucket(company), company).Scan(&published); err != nil {
		return false, fmt.Errorf("look for unpublished messages of a company: %w", err)
	}
	return published, nil
}
