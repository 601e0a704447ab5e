package job

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Query selects jobs of all companies, for operators. Without a company, Failed decides: the failed ones, or those that have not ended.
type Query struct {
	Company *tenant.ID // all jobs of this one, whatever has become of them
	Failed  bool
	Limit   int
}

const (
	foundColumns     = "company_id, id, type, status, done, total, summary::TEXT, error, created_at, updated_at, ended_at"
	sqlSelectAllOpen = "SELECT " + foundColumns + " FROM jobs WHERE ended_at IS NULL ORDER BY created_at, id LIMIT $1"
	sqlSelectFailed  = "SELECT " + foundColumns + " FROM jobs WHERE status = 'failed' ORDER BY created_at DESC, id LIMIT $1"
	sqlSelectOf      = "SELECT " + foundColumns + " FROM jobs WHERE company_id = $2 ORDER BY id DESC LIMIT $1"
)

// Search lists jobs: those that have not ended with the oldest first, others with the newest first. Where results are is left out.
func Search(ctx context.Context, q db.Querier, in Query) ([]Record, error) {
	sql, args := sqlSelectAllOpen, []any{in.Limit}
	switch {
	case in.Company != nil:
		sql, args = sqlSelectOf, append(args, *in.Company)
	case in.Failed:
		sql = sqlSelectFailed
	}
	return db.Collect(ctx, q, "select jobs", scanFound, sql, args...)
}

func scanFound(row pgx.CollectableRow) (r Record, err error) {
	var (
		total   int64
		failure []byte
	)
	if err := row.Scan(&r.CompanyID, &r.ID, &r.Type, &r.Status, &r.Processed, &total, &r.Summary, &failure, &r.CreatedAt, &r.UpdatedAt, &r.CompletedAt); err != nil {
		return r, err
	}
	r.count(total)
	if failure != nil {
		err = json.Unmarshal(failure, &r.Error)
	}
	return r, err
}
