package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Rekeyed counts subscriptions by what became of their secrets.
type Rekeyed struct {
	Key           string `json:"key"`           // the first of the ring
	Subscriptions int    `json:"subscriptions"` // all of them
	Moved         int    `json:"moved"`         // were under another key
	Current       int    `json:"current"`       // needed nothing
	Changed       int    `json:"changed"`       // were changed at the same time, and so are under the first key or for the next run
	Failed        int    `json:"failed"`        // cannot be decrypted, left unchanged
}

// storedSecrets are the columns that hold secrets.
type storedSecrets struct {
	Company  tenant.ID
	ID       uuid.UUID
	Current  webhook.StoredSecret
	Previous *webhook.StoredSecret
	Until    *time.Time
	Headers  webhook.StoredHeaders
	Key      webhook.StoredKey
}

const sqlSelectSecrets = `SELECT company_id, id, secret, previous_secret, previous_until, headers, client_key FROM webhook_subscriptions
WHERE (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`

var sqlUpdateSecrets = webhookSubscriptions.Update(`SET secret = $3, previous_secret = $4, previous_until = $5, headers = $6, client_key = $7
WHERE company_id = $1 AND id = $2 AND secret = $8 AND previous_secret IS NOT DISTINCT FROM $9 AND headers = $10 AND client_key = $11`)

// Rekey brings the secrets of all companies, extra headers and client keys among them, under the first key of the ring, and forgets previous ones whose time is over.
// It works in small batches and needs no downtime. An interrupted run can be repeated.
func (s *Service) Rekey(ctx context.Context, batch int, log *slog.Logger) (sum Rekeyed, err error) {
	if sum.Key, err = s.cfg.Keys.Primary(); err != nil {
		return sum, err
	}
	var last storedSecrets
	for {
		page, err := db.Collect(ctx, s.cfg.DB, "select secrets", pgx.RowToStructByPos[storedSecrets], sqlSelectSecrets, last.Company, last.ID, batch)
		if err != nil {
			return sum, err
		}
		for _, row := range page {
			if err := s.rekey(ctx, row, &sum, log); err != nil {
				return sum, err
			}
		}
		if len(page) < batch {
			return sum, nil
		}
		last = page[len(page)-1]
		log.InfoContext(ctx, "rekey in progress", "subscriptions", sum.Subscriptions, "moved", sum.Moved, "failed", sum.Failed)
	}
}

func (s *Service) rekey(ctx context.Context, was storedSecrets, sum *Rekeyed, log *slog.Logger) error {
	sum.Subscriptions++
	now, err := s.reseal(was)
	switch {
	case err != nil:
		sum.Failed++
		log.ErrorContext(ctx, "secret not decrypted, left unchanged", "company_id", was.Company, "subscription_id", was.ID, "error", err)
		return nil
	case now == was:
		sum.Current++
		return nil
	}
	var stored bool
	err = s.cfg.DB.RunTx(ctx, "webhooks.rekey", func(ctx context.Context, tx *db.Tx) error {
		tag, err := tx.Write(ctx, sqlUpdateSecrets, was.Company, was.ID, now.Current, now.Previous, now.Until, now.Headers, now.Key, was.Current, was.Previous, was.Headers, was.Key)
		stored = tag.RowsAffected() == 1
		return err
	}, db.ReadCommitted())
	switch {
	case err != nil:
		return fmt.Errorf("store secret of subscription %s: %w", was.ID, err)
	case !stored:
		sum.Changed++
	default:
		sum.Moved++
	}
	return nil
}

// reseal gives the columns as they should be; what needs no change keeps even its pointers.
func (s *Service) reseal(v storedSecrets) (storedSecrets, error) {
	var err error
	if v.Headers, err = v.Headers.Reseal(s.cfg.Keys, v.Company, v.ID); err != nil {
		return v, err
	}
	if v.Key, err = v.Key.Reseal(s.cfg.Keys, v.Company, v.ID); err != nil {
		return v, err
	}
	if v.Current, err = v.Current.Reseal(s.cfg.Keys, v.Company, v.ID); err != nil || v.Previous == nil {
		return v, err
	}
	if v.Until == nil || v.Until.Before(s.cfg.DB.Now()) {
		v.Previous, v.Until = nil, nil
		return v, nil
	}
	previous, err := v.Previous.Reseal(s.cfg.Keys, v.Company, v.ID)
	if previous != *v.Previous {
		v.Previous = &previous
	}
	return v, err
}
