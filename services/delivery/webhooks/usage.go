package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// DeliveryCount counts deliveries.
type DeliveryCount struct {
	Deliveries int64 `json:"deliveries"`
	Arrived    int64 `json:"arrived"`
	Failed     int64 `json:"failed"`
	Attempts   int64 `json:"attempts"`
}

// Add returns the sum.
func (c DeliveryCount) Add(d DeliveryCount) DeliveryCount {
	return DeliveryCount{c.Deliveries + d.Deliveries, c.Arrived + d.Arrived, c.Failed + d.Failed, c.Attempts + d.Attempts}
}

const sqlCountDeliveries = `SELECT count(*), COALESCE(sum(CASE state WHEN 2 THEN 1 ELSE 0 END), 0)::BIGINT, COALESCE(sum(CASE state WHEN 3 THEN 1 ELSE 0 END), 0)::BIGINT,
 COALESCE(sum(attempt), 0)::BIGINT
FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND id >= $3 AND id < $4`

// CountDeliveries counts the deliveries of a company, by the time of their events, from one time to before another. Callers keep
// the time short: it looks at each delivery.
func (s *Service) CountDeliveries(ctx context.Context, company tenant.ID, subscriptions []uuid.UUID, from, to time.Time) (sum DeliveryCount, err error) {
	low, _ := record.IDsBetween(from, from)
	high, _ := record.IDsBetween(to, to)
	for _, id := range subscriptions {
		var c DeliveryCount
		if err := s.cfg.DB.QueryRow(ctx, sqlCountDeliveries, company, id, low, high).Scan(&c.Deliveries, &c.Arrived, &c.Failed, &c.Attempts); err != nil {
			return sum, fmt.Errorf("count deliveries: %w", err)
		}
		sum = sum.Add(c)
	}
	return sum, nil
}

// Delivered lists the subscriptions of a company that have deliveries, also those that were deleted.
func (s *Service) Delivered(ctx context.Context, company tenant.ID) (ids []uuid.UUID, err error) {
	for sub := uuid.Nil; ; ids = append(ids, sub) {
		err := s.cfg.DB.QueryRow(ctx, sqlSelectNextSubscription, company, sub).Scan(&sub)
		if db.IsNoRows(err) {
			return ids, nil
		}
		if err != nil {
			return nil, fmt.Errorf("select subscriptions with deliveries: %w", err)
		}
	}
}
