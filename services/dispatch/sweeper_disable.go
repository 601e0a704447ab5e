package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// sqlSelectFailing finds receivers that had no success since $1 and were not enabled by hand, over all companies, and whose failed deliveries since
// then number at least $3. Delivery ids sort by age: those from $2 on may have failed since $1.
const sqlSelectFailing = `SELECT w.company_id, w.id FROM webhook_subscriptions AS w
WHERE w.is_active AND w.status = 'active' AND w.last_failure_at >= $1 AND COALESCE(w.last_success_at, w.created_at) < $1 AND COALESCE(w.enabled_at, w.created_at) < $1
 AND (
  SELECT count(*) FROM deliveries AS d
  WHERE d.company_id = w.company_id AND d.subscription_id = w.id AND d.id >= $2 AND d.state = 3 AND d.completed_at >= $1 AND NOT d.is_test) >= $3
ORDER BY w.company_id, w.id LIMIT 1000`

// Subscriptions is the owner of the subscriptions.
type Subscriptions interface {
	// Disable takes a subscription out of service, unless it had a success or was enabled since the moment given. It
	// reports whether it did.
	Disable(ctx context.Context, company tenant.ID, id uuid.UUID, reason string, since time.Time) (bool, error)
}

// oldestID is the smallest delivery id of a moment.
func oldestID(at time.Time) uuid.UUID {
	var id uuid.UUID
	for i, ms := 0, at.UnixMilli(); i < 6; i++ {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}

// disableFailing takes receivers out of service that nobody has looked after for days. Their events stay in
// the event log.
func (s *Sweeper) disableFailing(ctx context.Context) error {
	now := s.now().UTC().Truncate(time.Microsecond)
	since := now.Add(-s.cfg.DisableAfter)
	rows, err := s.db.Query(ctx, sqlSelectFailing, since, oldestID(since.Add(-48*time.Hour)), s.cfg.DisableFailed)
	if err != nil {
		return fmt.Errorf("read failing receivers: %w", err)
	}
	keys, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (key webhook.SubscriptionKey, err error) {
		return key, r.Scan(&key.Company, &key.ID)
	})
	if err != nil {
		return fmt.Errorf("read failing receivers: %w", err)
	}
	for _, key := range keys {
		if err := s.disable(ctx, key, since); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sweeper) disable(ctx context.Context, key webhook.SubscriptionKey, since time.Time) error {
	reason := fmt.Sprintf("no success and at least %d failed deliveries since %s", s.cfg.DisableFailed, since.Format(time.RFC3339))
	disabled, err := s.cfg.Subscriptions.Disable(ctx, key.Company, key.ID, reason, since)
	if err != nil || !disabled {
		return err
	}
	subscriptionsDisabled.Inc()
	s.cfg.Log.WarnContext(ctx, "subscription disabled", "company_id", key.Company, "subscription_id", key.ID, "reason", reason)
	return nil
}
