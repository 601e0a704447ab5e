package deals

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// MaxSummed is how many deals of a stage a board adds up.
const MaxSummed = 2000

// StagePeriod is the deals of a stage that entered it from From, and before To; zero = whenever.
type StagePeriod struct {
	ID       uuid.UUID
	From, To time.Time
}

// bounds are the values of board_order, in microseconds, from which and before which deals count.
func (p StagePeriod) bounds() (from, to int64) {
	to = math.MaxInt64
	if !p.From.IsZero() {
		from = p.From.UnixMicro()
	}
	if !p.To.IsZero() {
		to = p.To.UnixMicro()
	}
	return from, to
}

// StageSum is what the deals of a stage add up to. A stage that has more than [MaxSummed] deals has Many and no sum.
type StageSum struct {
	Count int64
	Total money.Amount
	Many  bool
}

// The largest amount times the largest number of deals exceeds a BIGINT.
const sqlSumStage = `SELECT count(*), LEAST(COALESCE(sum(d.total), 0), 9007199254740991)::BIGINT FROM (
SELECT total FROM deals WHERE company_id = $1 AND stage_id = $2 AND board_order >= $3 AND board_order < $4 LIMIT $5) AS d`

// StageSums adds up the deals of stages, in their order.
func (s *Service) StageSums(ctx context.Context, by access.Caller, stages []StagePeriod) ([]StageSum, error) {
	out := make([]StageSum, len(stages))
	reads := make([]batchloader.Read, len(stages))
	for i, of := range stages {
		from, to := of.bounds()
		reads[i] = func(ctx context.Context, q db.Querier) error {
			if err := q.QueryRow(ctx, sqlSumStage, by.Company, of.ID, from, to, MaxSummed+1).Scan(&out[i].Count, &out[i].Total); err != nil {
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
