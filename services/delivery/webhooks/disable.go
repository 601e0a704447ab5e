package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

var sqlDisable = webhookSubscriptions.Update(`SET status = 'disabled', disabled_reason = $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND id = $2 AND status = 'active' AND COALESCE(last_success_at, created_at) < $6 AND COALESCE(enabled_at, created_at) < $6`)

// Disable takes a subscription out of service whose receiver fails, unless it had a success or was enabled since the
// moment given. Its events stay in the event log, and its owners are told. It reports whether it did.
func (s *Service) Disable(ctx context.Context, company tenant.ID, id uuid.UUID, reason string, since time.Time) (disabled bool, err error) {
	err = s.cfg.DB.RunTx(ctx, "sweeper.disable", func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		tag, err := tx.Write(ctx, sqlDisable, company, id, reason, now.UnixMicro(), now, since)
		if disabled = err == nil && tag.RowsAffected() == 1; !disabled {
			return err
		}
		sub, err := table.Get(ctx, tx, company, id)
		if err != nil {
			return err
		}
		if err := announce(ctx, tx, sub, "disabled"); err != nil {
			return err
		}
		return s.tellDisabled(ctx, tx, sub)
	})
	if err != nil {
		return false, fmt.Errorf("disable subscription %s: %w", id, err)
	}
	return disabled, nil
}
