package webhooks

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// lookedAt is how many of the last deliveries of a subscription a change token looks at.
const lookedAt = 20

const (
	sqlTokenSubscriptions = `SELECT w.id::TEXT || w.version::TEXT || w.breaker_opens::TEXT || COALESCE(w.breaker_open_until::TEXT, '') || COALESCE(w.last_success_at::TEXT, '')
 || COALESCE(w.last_failure_at::TEXT, '') || COALESCE(w.failing_since::TEXT, '') FROM webhook_subscriptions AS w WHERE w.company_id = $1 AND ($2::UUID IS NULL OR w.id = $2::UUID) ORDER BY w.id`
	sqlTokenLatest = `SELECT id::TEXT || state::TEXT || attempt::TEXT || updated_at::TEXT FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $3`
	sqlTokenAgain = `SELECT id::TEXT || state::TEXT || attempt::TEXT || updated_at::TEXT FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND redelivery_no > 0 ORDER BY company_id DESC, subscription_id DESC, created_at DESC, id DESC LIMIT $3`
	sqlTokenDelivery = `SELECT state::TEXT || attempt::TEXT || updated_at::TEXT || COALESCE(waiting_for, '') FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id = $3`
	sqlTokenEvent = `SELECT d.m FROM (SELECT id AS s FROM webhook_subscriptions WHERE company_id = $1 ORDER BY id) AS w CROSS JOIN LATERAL (
 SELECT id::TEXT || state::TEXT || attempt::TEXT || updated_at::TEXT AS m FROM deliveries WHERE company_id = $1 AND subscription_id = w.s AND id BETWEEN $2 AND $3 AND event_id = $4
 ORDER BY company_id, subscription_id, id LIMIT 10) AS d`
)

// A change token is a text that is another one after a change. It says nothing else, so it needs no scopes; whoever asks for one has
// checked that the caller may see what it is of. Each is one or a few reads by key.

// SubscriptionToken is that of a subscription with its last deliveries.
func (s *Service) SubscriptionToken(ctx context.Context, company tenant.ID, subscription uuid.UUID) (string, error) {
	sum := fnv.New64a()
	for _, read := range []struct {
		sql  string
		args []any
	}{{sqlTokenSubscriptions, []any{company, &subscription}}, {sqlTokenLatest, []any{company, subscription, lookedAt}}, {sqlTokenAgain, []any{company, subscription, lookedAt}}} {
		if err := addRows(ctx, s.cfg.DB, sum.Write, read.sql, read.args...); err != nil {
			return "", err
		}
	}
	return strconv.FormatUint(sum.Sum64(), 36), nil
}

// SubscriptionsToken is that of all subscriptions of a company, without their deliveries.
func (s *Service) SubscriptionsToken(ctx context.Context, company tenant.ID) (string, error) {
	return s.token(ctx, sqlTokenSubscriptions, company, nil)
}

// DeliveryToken is that of one delivery.
func (s *Service) DeliveryToken(ctx context.Context, company tenant.ID, subscription, id uuid.UUID) (string, error) {
	return s.token(ctx, sqlTokenDelivery, company, subscription, id)
}

// EventToken is that of the deliveries of an event.
func (s *Service) EventToken(ctx context.Context, company tenant.ID, event uuid.UUID) (string, error) {
	from, to := idsOf(event)
	return s.token(ctx, sqlTokenEvent, company, from, to, event)
}

func (s *Service) token(ctx context.Context, sql string, args ...any) (string, error) {
	sum := fnv.New64a()
	err := addRows(ctx, s.cfg.DB, sum.Write, sql, args...)
	return strconv.FormatUint(sum.Sum64(), 36), err
}

func addRows(ctx context.Context, q db.Querier, write func([]byte) (int, error), sql string, args ...any) error {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("look for changes: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return fmt.Errorf("look for changes: %w", err)
		}
		_, _ = write([]byte(text + "\n")) // a hash takes everything
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("look for changes: %w", err)
	}
	return nil
}
