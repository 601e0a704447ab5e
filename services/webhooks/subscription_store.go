package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// isActive is a matter of the status alone. The column is_active stays true: the router makes no deliveries for a
// subscription without it, and a paused one has to collect them.
const subscriptionColumns = `company_id, id, name, url, events, filter::TEXT, is_active AND status = 'active', status, disabled_reason,
exclude_own_events, last_success_at, last_failure_at, created_by_id, secret, previous_secret, previous_until, read_scopes, enabled_at,
version, ev_pos, created_at, updated_at`

func subscriptionTargets(s *Subscription) []any {
	return append([]any{
		&s.CompanyID, &s.ID, &s.Name, &s.URL, &s.Events, &s.Filter, &s.IsActive, &s.Status, &s.DisabledReason,
		&s.ExcludeOwnEvents, &s.LastSuccessAt, &s.LastFailureAt, &s.CreatedByID,
		secretColumn{s},
		&s.oldSecret, &s.oldUntil, &s.readScopes, &s.enabledAt,
	}, s.Targets()...)
}

// secretColumn reads the secret together with its hint.
type secretColumn struct{ of *Subscription }

// Scan implements sql.Scanner.
func (c secretColumn) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("scan secret: unexpected %T", v)
	}
	c.of.setSecret(text)
	return nil
}

var subscriptionList = list.Spec{
	From: "webhook_subscriptions", Columns: subscriptionColumns,
	Sorts: map[string]list.Sort{
		"createdAt": {Column: "created_at", Type: "TIMESTAMPTZ"},
		"updatedAt": {Column: "updated_at", Type: "TIMESTAMPTZ"},
		"name":      {Column: "name", Type: "TEXT", Nullable: true},
		"url":       {Column: "url", Type: "TEXT"},
	},
}

const sqlSelectSubscription = `SELECT ` + subscriptionColumns + ` FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`

func selectSubscription(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (Subscription, error) {
	return record.One(q.QueryRow(ctx, sqlSelectSubscription, company, id), subscriptionTargets, "WEBHOOK_SUBSCRIPTION", id)
}

const sqlLockSubscription = sqlSelectSubscription + ` FOR UPDATE`

// lockSubscription reads a subscription and keeps others from changing it until the end of the transaction.
func lockSubscription(ctx context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID) (Subscription, error) {
	return record.One(tx.QueryRow(ctx, sqlLockSubscription, company, id), subscriptionTargets, "WEBHOOK_SUBSCRIPTION", id)
}

const sqlLockCompany = `INSERT INTO webhook_companies (company_id, changes) VALUES ($1, 1)
ON CONFLICT (company_id) DO UPDATE SET changes = webhook_companies.changes + 1`

// lockCompany makes changes of the set of a company's subscriptions follow each other.
func lockCompany(ctx context.Context, tx *db.Tx, company tenant.ID) error {
	if _, err := tx.Exec(ctx, sqlLockCompany, company); err != nil {
		return fmt.Errorf("lock subscriptions of company: %w", err)
	}
	return nil
}

// target is what no two subscriptions of a company share.
type target struct {
	ID     uuid.UUID
	URL    string
	Events []string
}

const sqlSelectTargets = `SELECT id, url, events FROM webhook_subscriptions WHERE company_id = $1`

func selectTargets(ctx context.Context, q db.Querier, company tenant.ID) ([]target, error) {
	rows, err := q.Query(ctx, sqlSelectTargets, company)
	if err != nil {
		return nil, fmt.Errorf("select subscriptions of company: %w", err)
	}
	targets, err := pgx.CollectRows(rows, pgx.RowToStructByPos[target])
	if err != nil {
		return nil, fmt.Errorf("read subscriptions of company: %w", err)
	}
	return targets, nil
}

const sqlInsertSubscription = `INSERT INTO webhook_subscriptions (company_id, id, name, url, events, filter, is_active, status, exclude_own_events,
read_scopes, secret, created_by_id, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, true, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

func insertSubscription(tx *db.Tx, s Subscription) {
	tx.Queue(sqlInsertSubscription, s.CompanyID, s.ID, s.Name, s.URL, s.Events, (*string)(s.Filter), s.Status, s.ExcludeOwnEvents,
		s.readScopes, s.secret, s.CreatedByID, s.Version, s.EvPos, s.CreatedAt, s.UpdatedAt)
}

// The dispatcher writes the breaker and the last times; they are left alone here.
const sqlUpdateSubscription = `UPDATE webhook_subscriptions SET name = $3, url = $4, events = $5, filter = $6, is_active = true, status = $7,
disabled_reason = $8, exclude_own_events = $9, secret = $10, previous_secret = $11, previous_until = $12, enabled_at = $13,
version = $14, ev_pos = $15, updated_at = $16
WHERE company_id = $1 AND id = $2 AND version = $14 - 1`

func updateSubscription(tx *db.Tx, s Subscription) {
	tx.Queue(sqlUpdateSubscription, s.CompanyID, s.ID, s.Name, s.URL, s.Events, (*string)(s.Filter), s.Status,
		s.DisabledReason, s.ExcludeOwnEvents, s.secret, s.oldSecret, s.oldUntil, s.enabledAt,
		s.Version, s.EvPos, s.UpdatedAt).Expect(1, db.ErrStale)
}

const sqlDeleteSubscription = `DELETE FROM webhook_subscriptions WHERE company_id = $1 AND id = $2 AND version = $3`

func deleteSubscription(tx *db.Tx, s Subscription) {
	tx.Queue(sqlDeleteSubscription, s.CompanyID, s.ID, s.Version).Expect(1, db.ErrStale)
}

const sqlFailOpen = `UPDATE deliveries SET state = 3, error = 'subscription deleted', next_attempt_at = NULL, completed_at = $3, updated_at = $3
WHERE company_id = $1 AND subscription_id = $2 AND state < 2`

func failOpenDeliveries(tx *db.Tx, s Subscription, now time.Time) {
	tx.Queue(sqlFailOpen, s.CompanyID, s.ID, now)
}
