package sweeper

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Subscriptions is the owner of the subscriptions.
type Subscriptions interface {
	// Disable disables a subscription, unless it had a success or was enabled since the time given. It reports whether
	// it did.
	Disable(ctx context.Context, company tenant.ID, id uuid.UUID, reason string, since time.Time) (bool, error)
	// RedeliverFailed makes new deliveries of those that failed since the time given and were never sent again. It looks at so
	// many deliveries behind the one named, and returns the last of them, uuid.Max when there are no more.
	RedeliverFailed(ctx context.Context, company tenant.ID, id uuid.UUID, since time.Time, after uuid.UUID, limit int) (last uuid.UUID, made int, err error)
}

// disableEvery is the interval between searches for subscriptions to disable.
const disableEvery = 10 * time.Minute

// disableFailing disables subscriptions whose receivers have failed for days, or have said for a day that they are gone. Their
// events stay in the event log. With DisableAfter 0, it disables none.
func (s *Sweeper) disableFailing(ctx context.Context) error {
	if s.cfg.DisableAfter == 0 {
		return nil
	}
	now := s.now().UTC().Truncate(time.Microsecond)
	since := now.Add(-s.cfg.DisableAfter)
	keys, err := store.SelectFailing(ctx, s.db, since, s.cfg.DisableFailed)
	if err != nil {
		return err
	}
	reason := fmt.Sprintf("no success and at least %d failed deliveries since %s", s.cfg.DisableFailed, since.Format(time.RFC3339))
	for _, key := range keys {
		if err := s.disable(ctx, key, reason, since); err != nil {
			return err
		}
	}
	gone, err := store.SelectGone(ctx, s.db, now)
	if err != nil {
		return err
	}
	for _, g := range gone {
		reason := "it has answered 410 Gone to every attempt since " + g.Since.UTC().Format(time.RFC3339)
		if err := s.disable(ctx, g.Key, reason, now.Add(-store.GoneAfter)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sweeper) disable(ctx context.Context, key webhook.SubscriptionKey, reason string, since time.Time) error {
	disabled, err := s.cfg.Subscriptions.Disable(ctx, key.Company, key.ID, reason, since)
	if err != nil || !disabled {
		return err
	}
	subscriptionsDisabled.Inc()
	s.cfg.Log.WarnContext(ctx, "subscription disabled", "company_id", key.Company, "subscription_id", key.ID, "reason", reason)
	return nil
}
