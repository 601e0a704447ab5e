package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const deliveryColumns = `id, subscription_id, event_id, event, state, attempt, next_attempt_at, expires_at, http_code, response_body, error,
duration_ms, is_test, redelivery_of, payload, created_at, completed_at, redelivery_no, waiting_for`

func (s *Service) scanDelivery(row pgx.CollectableRow) (d DeliveryRecord, err error) {
	var state webhook.State
	var answer []byte
	err = row.Scan(&d.ID, &d.SubscriptionID, &d.EventID, &d.Event, &state, &d.Attempt, &d.NextAttemptAt, &d.ExpiresAt, &d.HTTPCode,
		&answer, &d.ErrorMessage, &d.DurationMs, &d.IsTest, &d.RedeliveryOfID, &d.payload, &d.CreatedAt, &d.CompletedAt, &d.redeliveryNo, &d.waits)
	if err != nil {
		return d, err
	}
	d.Status, d.MaxAttempts = state.String(), s.cfg.Policy.MaxAttempts
	if answer != nil {
		text := strings.ToValidUTF8(string(answer), "\uFFFD")
		d.ResponseBody = &text
	}
	return d, nil
}

// No index of its own serves these: each delivery would pay twice for it, when it is made and when it is over. A company has
// few subscriptions, so the delivery is looked for below each.
const (
	sqlSelectDelivery = `SELECT ` + deliveryColumns + `
FROM (SELECT company_id AS c, id AS s FROM webhook_subscriptions WHERE company_id = $1) AS w CROSS JOIN LATERAL (
 SELECT ` + deliveryColumns + ` FROM deliveries WHERE company_id = w.c AND subscription_id = w.s AND id = $2
 ORDER BY company_id, subscription_id, id LIMIT 1) AS d`
	sqlSelectDeliveryOf = `SELECT ` + deliveryColumns + ` FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND id = $3`
	// Of a subscription that was deleted the deliveries remain.
	sqlSelectNextSubscription = `SELECT subscription_id FROM deliveries WHERE company_id = $1 AND subscription_id > $2
ORDER BY company_id, subscription_id, id LIMIT 1`
)

func (s *Service) selectDelivery(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (DeliveryRecord, error) {
	d, err := s.oneDelivery(ctx, q, sqlSelectDelivery, company, id)
	for sub := uuid.Nil; db.IsNoRows(err); {
		if err = q.QueryRow(ctx, sqlSelectNextSubscription, company, sub).Scan(&sub); db.IsNoRows(err) {
			return d, apierr.NotFound("WEBHOOK_DELIVERY", id.String())
		}
		if err == nil {
			d, err = s.oneDelivery(ctx, q, sqlSelectDeliveryOf, company, sub, id)
		}
	}
	if err != nil {
		return d, fmt.Errorf("read delivery: %w", err)
	}
	one := []DeliveryRecord{d}
	err = s.showWaiting(ctx, q, company, one)
	return one[0], err
}

func (s *Service) oneDelivery(ctx context.Context, q db.Querier, sql string, args ...any) (DeliveryRecord, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return DeliveryRecord{}, err
	}
	return pgx.CollectExactlyOneRow(rows, s.scanDelivery)
}

// The ids of a subscription's deliveries sort by the time of their events. A redelivery is younger than its event: those are
// read by their own time, and the two lists are merged.
const (
	sqlLatest = `SELECT ` + deliveryColumns + ` FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $3`
	sqlLatestOpen = `SELECT ` + deliveryColumns + ` FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state < 2 AND state = $4 ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $3`
	sqlLatestSuccess = `SELECT ` + deliveryColumns + ` FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 2 ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $3`
	sqlLatestFailed = `SELECT ` + deliveryColumns + ` FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT $3`
	sqlLatestAgain = `SELECT ` + deliveryColumns + ` FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND redelivery_no > 0 AND ($4::INT2 IS NULL OR state = $4::INT2)
ORDER BY company_id DESC, subscription_id DESC, created_at DESC, id DESC LIMIT $3`
)

// latest picks the statement that an index serves.
func latest(state *int16) string {
	switch {
	case state == nil:
		return sqlLatest
	case *state < 2:
		return sqlLatestOpen
	case *state == 2:
		return sqlLatestSuccess
	default:
		return sqlLatestFailed
	}
}

func (s *Service) selectHistory(ctx context.Context, company tenant.ID, subscription uuid.UUID, status string) ([]DeliveryRecord, error) {
	var state *int16
	if i := slices.IndexFunc(webhook.States[:], func(s webhook.State) bool { return s.String() == status }); i >= 0 {
		n := int16(i)
		state = &n
	}
	args := []any{company, subscription, historySize}
	if state != nil && *state < 2 {
		args = append(args, *state)
	}
	all, err := s.collectDeliveries(ctx, s.cfg.DB, company, latest(state), args...)
	if err != nil {
		return nil, err
	}
	again, err := s.collectDeliveries(ctx, s.cfg.DB, company, sqlLatestAgain, company, subscription, historySize, state)
	if err != nil {
		return nil, err
	}
	all = append(all, again...)
	slices.SortFunc(all, func(a, b DeliveryRecord) int {
		return cmp.Or(b.CreatedAt.Std().Compare(a.CreatedAt.Std()), strings.Compare(b.ID.String(), a.ID.String()))
	})
	all = slices.CompactFunc(all, func(a, b DeliveryRecord) bool { return a.ID == b.ID })
	return all[:min(len(all), historySize)], nil
}

func (s *Service) collectDeliveries(ctx context.Context, q db.Querier, company tenant.ID, sql string, args ...any) ([]DeliveryRecord, error) {
	all, err := db.Collect(ctx, q, "select deliveries", s.scanDelivery, sql, args...)
	if err != nil {
		return nil, err
	}
	return all, s.showWaiting(ctx, q, company, all)
}

const sqlSelectAttempts = `SELECT attempt, started_at, http_code, error, duration_ms FROM delivery_attempts
WHERE company_id = $1 AND subscription_id = $2 AND delivery_id = $3 ORDER BY seq`

// selectAttempts reads the attempts that the history still has. It holds the unsuccessful ones; a successful one is the last
// of its delivery, whose row describes it.
func selectAttempts(ctx context.Context, q db.Querier, company tenant.ID, d DeliveryRecord) ([]DeliveryAttempt, error) {
	attempts, err := db.Collect(ctx, q, "select attempts", pgx.RowToStructByPos[DeliveryAttempt], sqlSelectAttempts, company, d.SubscriptionID, d.ID)
	if err != nil {
		return nil, err
	}
	return d.withSuccess(attempts), nil
}

// withSuccess adds the successful attempt to the others.
func (d *DeliveryRecord) withSuccess(attempts []DeliveryAttempt) []DeliveryAttempt {
	if last, ok := d.successfulAttempt(); ok {
		attempts = append(attempts, last)
	}
	if attempts == nil {
		return []DeliveryAttempt{}
	}
	return attempts
}

// The deliveries of one event lie together: their ids begin with its time.
const sqlSelectLastRedelivery = `SELECT COALESCE(max(redelivery_no), 0) FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id BETWEEN $3 AND $4 AND event_id = $5`

func selectLastRedelivery(ctx context.Context, q db.Querier, company tenant.ID, d DeliveryRecord) (n int, err error) {
	from, to := idsOf(d.EventID)
	if err := q.QueryRow(ctx, sqlSelectLastRedelivery, company, d.SubscriptionID, from, to, d.EventID).Scan(&n); err != nil {
		return 0, fmt.Errorf("select last redelivery: %w", err)
	}
	return n, nil
}
