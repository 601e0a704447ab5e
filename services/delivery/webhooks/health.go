package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// SubscriptionHealth is what the platform knows of a receiver.
type SubscriptionHealth struct {
	Status           string         `json:"status" enum:"unknown,healthy,slow,failing,resting" doc:"unknown: nothing was sent yet; slow: takes more than a second to answer; failing: the last attempt failed; resting: failed so often in a row that it gets only single attempts"`
	FailingSince     *jsontype.Time `json:"failingSince" nullable:"true" doc:"first failed attempt since the last success, once that is a minute ago"`
	CircuitOpenUntil *jsontype.Time `json:"restingUntil" nullable:"true" doc:"no attempt is made before it"`
	AverageMs        *int           `json:"averageMs" nullable:"true" doc:"duration of the attempts that arrived among the last 50 deliveries"`
	LastError        *ReceiverError `json:"lastError"`
}

// ReceiverError is an attempt that failed.
type ReceiverError struct {
	At           jsontype.Time `json:"at"`
	DeliveryID   uuid.UUID     `json:"deliveryId" format:"uuid"`
	Attempt      int           `json:"attempt"`
	HTTPCode     *int          `json:"httpCode" nullable:"true"`
	ErrorMessage *string       `json:"errorMessage" nullable:"true"`
}

// Health of receivers.
const (
	healthUnknown     = "unknown"
	healthHealthy     = "healthy"
	healthSlow        = "slow"
	healthFailing     = "failing"
	healthCircuitOpen = "resting"
)

// sqlSelectHealth looks at the last 50 deliveries of each subscription, and at its attempts, of which at most 100 are kept.
const sqlSelectHealth = `SELECT u.s, x.ms, f.started_at, f.delivery_id, f.attempt, f.http_code, f.error FROM unnest($2::UUID[]) AS u(s)
LEFT JOIN LATERAL (SELECT avg(d.duration_ms)::INT4 AS ms FROM (
  SELECT state, duration_ms FROM deliveries WHERE company_id = $1 AND subscription_id = u.s ORDER BY company_id DESC, subscription_id DESC, id DESC LIMIT 50) AS d
 WHERE d.state = 2) AS x ON true
LEFT JOIN LATERAL (SELECT started_at, delivery_id, attempt, http_code, error FROM delivery_attempts
 WHERE company_id = $1 AND subscription_id = u.s AND error IS NOT NULL ORDER BY seq DESC LIMIT 1) AS f ON true`

// showHealth sets what is known of the receivers of subscriptions.
func (s *Service) showHealth(ctx context.Context, q db.Querier, company tenant.ID, subs ...*Subscription) error {
	ids, byID := make([]uuid.UUID, len(subs)), make(map[uuid.UUID]*Subscription, len(subs))
	for i, sub := range subs {
		ids[i], byID[sub.ID] = sub.ID, sub
	}
	rows, err := q.Query(ctx, sqlSelectHealth, company, ids)
	if err != nil {
		return fmt.Errorf("read health of receivers: %w", err)
	}
	var (
		id, delivery *uuid.UUID
		ms, attempt  *int
		code         *int
		at           *jsontype.Time
		text         *string
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &ms, &at, &delivery, &attempt, &code, &text}, func() error {
		h := &byID[*id].Health
		h.AverageMs = ms
		if at != nil {
			h.LastError = &ReceiverError{At: *at, DeliveryID: *delivery, Attempt: *attempt, HTTPCode: code, ErrorMessage: text}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read health of receivers: %w", err)
	}
	now := s.cfg.DB.Now()
	for _, sub := range subs {
		sub.Health.Status = sub.health(now)
	}
	return nil
}

// health sums up what the senders stored of the receiver.
func (s *Subscription) health(now time.Time) string {
	h := &s.Health
	h.FailingSince, h.CircuitOpenUntil = s.FailingSince, nil
	if s.BreakerOpens > 0 && s.BreakerOpenUntil != nil && s.BreakerOpenUntil.Std().After(now) {
		h.CircuitOpenUntil = s.BreakerOpenUntil
	}
	switch {
	case s.BreakerOpens > 0:
		return healthCircuitOpen
	case s.FailingSince != nil, s.LastFailureAt != nil && (s.LastSuccessAt == nil || s.LastSuccessAt.Std().Before(s.LastFailureAt.Std())):
		return healthFailing
	case s.LastSuccessAt == nil:
		return healthUnknown
	case h.AverageMs != nil && time.Duration(*h.AverageMs)*time.Millisecond > webhook.SlowAfter:
		return healthSlow
	}
	return healthHealthy
}

const sqlSelectReceiverState = `SELECT id, status, breaker_opens, breaker_open_until FROM webhook_subscriptions WHERE company_id = $1 AND id = ANY($2::UUID[])`

// receiverState is what of a subscription keeps its deliveries.
type receiverState struct {
	ID           uuid.UUID
	Status       string
	BreakerOpens int
	OpenUntil    *jsontype.Time
}

// showWaiting sets what the open ones among deliveries of a company wait for.
func (s *Service) showWaiting(ctx context.Context, q db.Querier, company tenant.ID, all []DeliveryRecord) error {
	var ids []uuid.UUID
	for i := range all {
		if all[i].open() {
			ids = append(ids, all[i].SubscriptionID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	states, err := db.Collect(ctx, q, "read receivers of deliveries", pgx.RowToStructByPos[receiverState], sqlSelectReceiverState, company, ids)
	if err != nil {
		return err
	}
	byID := make(map[uuid.UUID]receiverState, len(states))
	for _, r := range states {
		byID[r.ID] = r
	}
	now := s.cfg.DB.Now()
	for i := range all {
		if d := &all[i]; d.open() {
			d.showWaiting(byID[d.SubscriptionID], now)
		}
	}
	return nil
}

func (d *DeliveryRecord) open() bool {
	return d.Status == webhook.StatePending.String() || d.Status == webhook.StateDelivering.String()
}

// showWaiting sets what an open delivery waits for: what its sender stored, unless that is over.
func (d *DeliveryRecord) showWaiting(r receiverState, now time.Time) {
	w := webhook.WaitsForSender
	due := d.NextAttemptAt != nil && !d.NextAttemptAt.Std().After(now)
	switch {
	case d.Status == webhook.StateDelivering.String():
		w = webhook.WaitsForAnswer
	case r.Status != "" && r.Status != statusActive && !d.IsTest:
		w = webhook.WaitsForResume
	case d.NextAttemptAt == nil && r.BreakerOpens > 0 && r.OpenUntil != nil && r.OpenUntil.Std().After(now):
		w, d.NextAttemptAt = webhook.WaitsForCircuit, r.OpenUntil
	case d.NextAttemptAt == nil && d.waits != nil && !d.waits.HoldsQueue():
		w = *d.waits
	case d.NextAttemptAt == nil:
		w = webhook.WaitsForSweeper
	case d.waits != nil && !due:
		w = *d.waits
	}
	d.WaitingFor = &w
}
