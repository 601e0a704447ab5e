package job

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Filter selects jobs of a company. Zero values do not narrow.
type Filter struct {
	Before   uuid.UUID // only those that were started before this one
	Statuses []string
	Type     string // such as export, which is that of export/orders, too
	Since    time.Time
	Limit    int
}

const sqlSelectJobs = `SELECT id, ` + jobColumns + ` FROM jobs
WHERE company_id = $1 AND id < $2 AND ($3::TEXT[] IS NULL OR status = ANY($3::TEXT[])) AND ($4::TEXT = '' OR type = $4::TEXT OR type LIKE $4::TEXT || '/%')
AND ($5::TIMESTAMPTZ IS NULL OR updated_at >= $5::TIMESTAMPTZ) ORDER BY company_id DESC, id DESC LIMIT $6`

// maxLookedAt is how many jobs are looked at for a page of those that the caller may see.
const maxLookedAt = 1000

// List lists the jobs that the caller may see, the latest first, and returns the last one that was looked at, if there may be more.
func List(ctx context.Context, q db.Querier, by access.Caller, f Filter) (found []Found, next *uuid.UUID, err error) {
	before := f.Before
	if before == uuid.Nil {
		before = uuid.Max
	}
	var since *time.Time
	if !f.Since.IsZero() {
		since = &f.Since
	}
	for looked := 0; looked < maxLookedAt; looked += f.Limit + 1 {
		all, err := db.Collect(ctx, q, "select jobs", func(row pgx.CollectableRow) (Found, error) {
			one := Found{Record: Record{CompanyID: by.Company}}
			err := one.scan(row, &one.ID)
			return one, err
		}, sqlSelectJobs, by.Company, before, f.Statuses, f.Type, since, f.Limit+1)
		if err != nil {
			return nil, nil, fmt.Errorf("list jobs: %w", err)
		}
		for i, one := range all {
			if len(found) == f.Limit {
				return found, &before, nil
			}
			before = all[i].ID
			if one.visible(by) {
				found = append(found, one)
			}
		}
		if len(all) <= f.Limit {
			return found, nil, nil
		}
	}
	return found, &before, nil
}
