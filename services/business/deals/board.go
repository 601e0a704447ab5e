package deals

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// MaxSummed is how many deals of a stage a board adds up.
const MaxSummed = 2000

// StageSum is what the deals of a stage add up to. A stage that has more than [MaxSummed] deals has Many and no sum.
type StageSum struct {
	Count int64
	Total money.Amount
	Many  bool
}

// The largest amount times the largest number of deals exceeds a BIGINT.
const sqlSumStage = `SELECT count(*), LEAST(COALESCE(sum(d.total), 0), 9007199254740991)::BIGINT FROM (
SELECT total FROM deals WHERE company_id = $1 AND stage_id = $2 LIMIT $3) AS d`

// StageSums adds up the deals of stages, in their order.
func (s *Service) StageSums(ctx context.Context, by access.Caller, stages []uuid.UUID) ([]StageSum, error) {
	out := make([]StageSum, len(stages))
	reads := make([]batchloader.Read, len(stages))
	for i, id := range stages {
		reads[i] = func(ctx context.Context, q db.Querier) error {
			if err := q.QueryRow(ctx, sqlSumStage, by.Company, id, MaxSummed+1).Scan(&out[i].Count, &out[i].Total); err != nil {
				return fmt.Errorf("sum deals of stage: %w", err)
			}
			if out[i].Count > MaxSummed {
				out[i] = StageSum{Count: MaxSummed, Many: true}
			}
			return nil
		}
	}
	return out, batchloader.Load(ctx, s.cfg.DB, reads...)
}
