package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const sqlSelectSubscriptions = `SELECT company_id, id, events, filter, status, exclude_own_events, read_scopes, created_by_id, ordered
FROM webhook_subscriptions WHERE company_id = ANY($1::UUID[]) AND is_active AND status <> 'disabled' ORDER BY company_id, id`

// Subscription is what the router needs of a subscription that is neither inactive nor disabled.
type Subscription struct {
	Company    tenant.ID
	ID         uuid.UUID
	Events     []webhook.EventPattern
	Filter     []byte
	Paused     bool
	ExcludeOwn bool // leave out events of the actor CreatedBy
	Scopes     access.Scopes
	CreatedBy  uuid.UUID
	Ordered    bool // the deliveries of a record wait for each other
}

// SelectSubscriptions reads the subscriptions of companies.
func SelectSubscriptions(ctx context.Context, q db.Querier, companies []uuid.UUID) ([]Subscription, error) {
	rows, err := q.Query(ctx, sqlSelectSubscriptions, companies)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}
	subs, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (s Subscription, err error) {
		var patterns []string
		var status string
		err = r.Scan(&s.Company, &s.ID, &patterns, &s.Filter, &status, &s.ExcludeOwn, &s.Scopes, &s.CreatedBy, &s.Ordered)
		for _, p := range patterns {
			s.Events = append(s.Events, webhook.EventPattern(p))
		}
		s.Paused = status == "paused"
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}
	return subs, nil
}

const sqlSelectChanges = `SELECT company_id, changes FROM webhook_companies WHERE company_id = ANY($1::UUID[])`

// ChangesOfSubscriptions is what records of events say of their company: [SelectChanges] as it is after the event.
var ChangesOfSubscriptions = outbox.Stamp{ //nolint:gochecknoglobals // a constant
	Header: "subscription_changes",
	SQL:    `COALESCE((SELECT w.changes FROM webhook_companies AS w WHERE w.company_id = x.company_id), 0)`,
}

// SelectChanges counts the changes of each company's set of subscriptions; a company that never had one is left out.
func SelectChanges(ctx context.Context, q db.Querier, companies []uuid.UUID) (map[tenant.ID]int64, error) {
	return db.Map[tenant.ID, int64](ctx, q, "count changes of subscriptions", sqlSelectChanges, companies)
}

// sqlSelectSubscribers walks over all companies that ever had a subscription.
const sqlSelectSubscribers = `SELECT company_id FROM webhook_companies WHERE company_id > $1 ORDER BY company_id LIMIT $2`

// SelectSubscribers reads the next companies that ever had a subscription.
func SelectSubscribers(ctx context.Context, q db.Querier, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, sqlSelectSubscribers, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read companies with subscriptions: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("read companies with subscriptions: %w", err)
	}
	return ids, nil
}

const sqlSelectSubscriptionAges = `SELECT id, updated_at FROM webhook_subscriptions WHERE company_id = ANY($1::UUID[])`

// SelectSubscriptionAges reads when each subscription of the companies was changed last.
func SelectSubscriptionAges(ctx context.Context, q db.Querier, companies []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	return db.Map[uuid.UUID, time.Time](ctx, q, "read last changes of subscriptions", sqlSelectSubscriptionAges, companies)
}
