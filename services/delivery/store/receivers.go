package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const sqlSelectReceivers = `SELECT w.company_id, w.id, w.url, w.is_active, w.status, w.secret, w.previous_secret, w.previous_until, w.breaker_open_until, w.breaker_opens, w.failing_since, w.gone_since, w.ordered, w.headers, w.max_per_second, w.client_certificate, w.client_key
FROM unnest($1::UUID[], $2::UUID[]) AS u(c, i)
JOIN webhook_subscriptions AS w ON w.company_id = u.c AND w.id = u.i`

// Receiver is what the sender needs of a subscription.
type Receiver struct {
	Key            webhook.SubscriptionKey
	URL            string
	Active         bool
	Secret         webhook.StoredSecret
	PreviousSecret *webhook.StoredSecret
	PreviousUntil  *time.Time
	Breaker        Breaker
	Ordered        bool
	Headers        webhook.StoredHeaders
	Certificate    string // chain in PEM; empty = none
	ClientKey      webhook.StoredKey
	MaxPerSecond   *int32 // requests; nil = as many as the receiver takes
}

// SelectReceivers reads subscriptions; those that are gone are left out.
func SelectReceivers(ctx context.Context, q db.Querier, keys []webhook.SubscriptionKey) ([]Receiver, error) {
	companies, ids := subscriptionColumns(keys)
	rows, err := q.Query(ctx, sqlSelectReceivers, companies, ids)
	if err != nil {
		return nil, fmt.Errorf("read receivers: %w", err)
	}
	receivers, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Receiver, err error) {
		var status string
		var until, failing, gone *time.Time
		err = row.Scan(&r.Key.Company, &r.Key.ID, &r.URL, &r.Active, &status, &r.Secret, &r.PreviousSecret, &r.PreviousUntil, &until, &r.Breaker.Opens, &failing, &gone, &r.Ordered, &r.Headers, &r.MaxPerSecond, &r.Certificate, &r.ClientKey)
		r.Active = r.Active && status == "active"
		if until != nil {
			r.Breaker.Until = *until
		}
		if failing != nil {
			r.Breaker.FailingSince = *failing
		}
		if gone != nil {
			r.Breaker.GoneSince = *gone
		}
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read receivers: %w", err)
	}
	return receivers, nil
}
