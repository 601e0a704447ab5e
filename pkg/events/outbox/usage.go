package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const sqlMeasureLog = `SELECT count(*), COALESCE(sum(octet_length(body)), 0)::BIGINT FROM events WHERE company_id = $1 AND id >= $2 AND id < $3`

// MeasureLog counts the events of a company that were raised from one time to before another, and the bytes that the log stores
// of them. Callers keep the time short: it looks at each event.
func MeasureLog(ctx context.Context, q db.Querier, company tenant.ID, from, to time.Time) (events, bytes int64, err error) {
	low, _ := record.IDsBetween(from, from)
	high, _ := record.IDsBetween(to, to)
	if err := q.QueryRow(ctx, sqlMeasureLog, company, low, high).Scan(&events, &bytes); err != nil {
		return 0, 0, fmt.Errorf("measure event log: %w", err)
	}
	return events, bytes, nil
}
