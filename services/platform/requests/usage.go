package requests

import (
	"context"
	"fmt"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const sqlCountRequests = `SELECT COALESCE(sum(represents), 0)::BIGINT, COALESCE(sum(CASE WHEN status >= 400 THEN represents ELSE 0 END), 0)::BIGINT
FROM api_requests WHERE company_id = $1 AND id >= $2 AND id < $3`

// Count estimates the requests of a company from one time to before another, by what the log has kept of them, and how many of
// them were refused. What is older than [Kept] is no longer there.
func Count(ctx context.Context, q db.Querier, company tenant.ID, from, to time.Time) (n, refused int64, err error) {
	low, _ := record.IDsBetween(from, from)
	high, _ := record.IDsBetween(to, to)
	if err := q.QueryRow(ctx, sqlCountRequests, company, low, high).Scan(&n, &refused); err != nil {
		return 0, 0, fmt.Errorf("count requests: %w", err)
	}
	return n, refused, nil
}
