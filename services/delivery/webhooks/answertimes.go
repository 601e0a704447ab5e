package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// AnswerTimes are how long a receiver took for the deliveries that it accepted among its last 1 000.
type AnswerTimes struct {
	Of      int           // deliveries; 0 = there are none
	Median  time.Duration // half of them took no longer
	Slowest time.Duration // 99 of 100 took no longer
}

const maxAnswerTimes = 1000

// sqlSelectAnswerTimes reads the newest deliveries by the primary key.
const sqlSelectAnswerTimes = `SELECT duration_ms FROM (SELECT state, duration_ms FROM deliveries WHERE company_id = $1 AND subscription_id = $2
 ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $3) AS d WHERE state = 2 AND duration_ms IS NOT NULL ORDER BY duration_ms`

// AnswerTimes measures the answers of a receiver of the caller's company.
func (s *Service) AnswerTimes(ctx context.Context, by access.Caller, subscription uuid.UUID) (AnswerTimes, error) {
	took, err := db.Collect(ctx, s.cfg.DB, "read durations of deliveries", pgx.RowTo[int64], sqlSelectAnswerTimes, by.Company, subscription, maxAnswerTimes)
	if err != nil || len(took) == 0 {
		return AnswerTimes{}, err
	}
	// The nearest rank: the first that so many percent do not exceed.
	rank := func(percent int) time.Duration {
		return time.Duration(took[(len(took)*percent+99)/100-1]) * time.Millisecond
	}
	return AnswerTimes{Of: len(took), Median: rank(50), Slowest: rank(99)}, nil
}
