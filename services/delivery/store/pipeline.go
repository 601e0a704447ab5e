package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// sqlSelectWaiting counts the open deliveries of all companies.
const sqlSelectWaiting = `SELECT COALESCE(waiting_for, CASE state WHEN 1 THEN '` + string(webhook.WaitsForAnswer) + `' ELSE '` + string(webhook.WaitsForSender) + `' END) AS waits, count(*), min(created_at)
FROM deliveries WHERE state < 2 GROUP BY waits ORDER BY min(created_at)`

// WaitingCount is how many open deliveries wait for something.
type WaitingCount struct {
	For    string    `json:"waitingFor"`
	Count  int64     `json:"count"`
	Oldest time.Time `json:"oldest"`
}

// SelectWaiting counts what open deliveries wait for, that of the oldest first.
func SelectWaiting(ctx context.Context, q db.Querier) ([]WaitingCount, error) {
	rows, err := q.Query(ctx, sqlSelectWaiting)
	if err != nil {
		return nil, fmt.Errorf("count open deliveries: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[WaitingCount])
	if err != nil {
		return nil, fmt.Errorf("count open deliveries: %w", err)
	}
	return found, nil
}

// sqlSelectOpenCircuits reads, of all companies, the receivers whose circuit breakers are open, the longest failing first.
const sqlSelectOpenCircuits = `SELECT company_id, id, url, breaker_opens, failing_since, breaker_open_until FROM webhook_subscriptions
WHERE breaker_opens > 0 ORDER BY COALESCE(failing_since, breaker_open_until) NULLS LAST, id LIMIT $1`

// OpenCircuit is a receiver whose circuit breaker is open.
type OpenCircuit struct {
	CompanyID      tenant.ID  `json:"companyId"`
	SubscriptionID uuid.UUID  `json:"subscriptionId"`
	URL            string     `json:"url"`
	Opens          int        `json:"opens"`
	FailingSince   *time.Time `json:"failingSince"`
	OpenUntil      *time.Time `json:"openUntil"`
}

// SelectOpenCircuits reads receivers whose circuit breakers are open.
func SelectOpenCircuits(ctx context.Context, q db.Querier, limit int) ([]OpenCircuit, error) {
	rows, err := q.Query(ctx, sqlSelectOpenCircuits, limit)
	if err != nil {
		return nil, fmt.Errorf("read open circuits: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[OpenCircuit])
	if err != nil {
		return nil, fmt.Errorf("read open circuits: %w", err)
	}
	return found, nil
}
