package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// sqlSelectFailedSince reads deliveries that failed at $4 or later, behind an id. Ids sort by the time of their events.
const sqlSelectFailedSince = `SELECT id, event_id, event FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 AND id > $3 AND completed_at >= $4 AND redelivery_no = 0 AND NOT is_test
ORDER BY company_id, subscription_id, id LIMIT $5`

// redeliverGap is between the beginnings of two requests, of which the sweeper makes 50 every five seconds.
const redeliverGap = 50 * time.Millisecond

// maxLife is above the time between an event and the end of its delivery.
const maxLife = 48 * time.Hour

// RedeliverFailed sends deliveries again that failed since the moment given: as new deliveries, as [Service.Redeliver] makes
// them. An event that was sent again before, by whomever, is left out, so each goes out again by itself at most once. It looks
// at so many deliveries behind the one named, and returns the last of them, uuid.Max when there are no more.
func (s *Service) RedeliverFailed(ctx context.Context, company tenant.ID, id uuid.UUID, since time.Time, after uuid.UUID, limit int) (last uuid.UUID, made int, err error) {
	if first, _ := record.IDsBetween(since.Add(-maxLife), since); after == uuid.Nil {
		after = first
	}
	err = s.cfg.DB.RunTx(ctx, "sweeper.redeliver", func(ctx context.Context, tx *db.Tx) error {
		last, made = uuid.Max, 0
		// The lock gives each redelivery a number of its own.
		sub, err := table.Lock(ctx, tx, access.Caller{Principal: &access.Principal{Company: company}}, id)
		if apierr.Is(err, "WEBHOOK_SUBSCRIPTION_NOT_FOUND") {
			return nil
		}
		if err != nil {
			return err
		}
		failed, err := selectFailed(ctx, tx, sqlSelectFailedSince, company, id, after, since, limit)
		if err != nil {
			return err
		}
		if len(failed) == limit {
			last = failed[limit-1].ID
		}
		found, err := failedEvents(ctx, tx, company, failed)
		if err != nil {
			return err
		}
		numbers, _, err := sent(ctx, tx, sub, found)
		if err != nil {
			return err
		}
		for _, e := range found {
			if e.ID == uuid.Nil || numbers[e.ID] > 0 {
				continue
			}
			made++
			if _, err := s.sendLogged(ctx, tx, sub, e, 1, redeliverGap); err != nil {
				return err
			}
		}
		return nil
	}, db.ReadCommitted())
	if err != nil {
		return after, 0, fmt.Errorf("redeliver to subscription %s: %w", id, err)
	}
	return last, made, nil
}

// sendLogged makes a delivery of a logged event, which gives way to what happens now. The requests of a batch begin one after the
// other, with a gap.
func (s *Service) sendLogged(ctx context.Context, tx *db.Tx, sub Subscription, e candidate, number int, gap time.Duration) (uuid.UUID, error) {
	d := s.newDelivery(sub.ID, e.ID, e.Event, number, tx.Now())
	d.RedeliveryOfID, d.yields, d.gap = e.original, true, gap
	s.request(tx, sub.CompanyID, d)
	return d.ID, send(ctx, tx, sub.CompanyID, d, e.Body, tx.Now())
}
