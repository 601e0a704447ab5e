package sweeper

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const (
	recoverPage   = 100 // receivers back from an outage that are handled per pass
	redeliverPage = 50  // failed deliveries of such a receiver that are redelivered per pass
)

// recoverReceivers sends what waited for receivers that are back from an outage: deliveries that kept their last attempt, and new
// deliveries of what failed meanwhile. A pass handles a part of the receivers, and of each a bounded number of deliveries.
func (s *Sweeper) recoverReceivers(ctx context.Context) error {
	found, err := store.SelectRecovered(ctx, s.db, s.recoveredUpTo, recoverPage)
	if err != nil {
		return err
	}
	s.recoveredUpTo = webhook.SubscriptionKey{}
	if len(found) == recoverPage {
		s.recoveredUpTo = found[len(found)-1].Key
	}
	for _, r := range found {
		if err := s.recoverReceiver(ctx, r); err != nil {
			// The outbox may be full: the other deliveries do not wait for that.
			s.cfg.Log.WarnContext(ctx, "receiver is back, but its deliveries are not sent yet", "company_id", r.Key.Company, "subscription_id", r.Key.ID, "error", err)
		}
	}
	return nil
}

func (s *Sweeper) recoverReceiver(ctx context.Context, r store.Recovered) error {
	now := s.now().UTC().Truncate(time.Microsecond)
	kept, err := store.ReleaseKept(ctx, s.db, r.Key, s.cfg.Policy.MaxAttempts-1, now)
	if err != nil {
		return err
	}
	last, again := s.redelivered[r.Key], 0
	if r.AutoRedeliver && s.cfg.Subscriptions != nil && last != uuid.Max {
		// What failed longer ago than a delivery lives is left to the company: it can replay an interval.
		since := r.DownSince
		if earliest := now.Add(-s.cfg.Policy.DeliveryTTL); since.Before(earliest) {
			since = earliest
		}
		if last, again, err = s.cfg.Subscriptions.RedeliverFailed(ctx, r.Key.Company, r.Key.ID, since, last, redeliverPage); err != nil {
			return err
		}
	} else {
		last = uuid.Max
	}
	s.redelivered[r.Key] = last
	sweeperRecovered.WithLabelValues("kept").Add(float64(kept))
	sweeperRecovered.WithLabelValues("failed").Add(float64(again))
	if kept+int64(again) > 0 {
		s.cfg.Log.InfoContext(ctx, "receiver is back, its deliveries are sent", "company_id", r.Key.Company, "subscription_id", r.Key.ID,
			"down_since", r.DownSince, "kept", kept, "redelivered", again)
	}
	if kept == 0 && last == uuid.Max {
		delete(s.redelivered, r.Key)
		return store.ClearRecovered(ctx, s.db, r)
	}
	return nil // there may be more, which the next pass handles
}
