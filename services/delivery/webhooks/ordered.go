package webhooks

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// HeldRecord is a record whose deliveries to an ordered subscription wait for one of them; see docs/reference/events.md#ordered.
type HeldRecord struct {
	EntityID uuid.UUID      `json:"entityId" format:"uuid"`
	Waiting  int            `json:"waiting" doc:"later deliveries of the record that wait"`
	Delivery DeliveryRecord `json:"delivery" doc:"the one that they wait for; held since its createdAt"`
}

const (
	// maxHeld is how many held records are listed.
	maxHeld = 100
	// maxHeldOpen is how many open deliveries are looked at for that.
	maxHeldOpen = 20_000
)

// sqlSelectHeld reads the records of which more than one delivery is open, with the first of these.
const sqlSelectHeld = `SELECT h.id, h.entity_id, h.open - 1 FROM (
 SELECT o.id, o.entity_id, row_number() OVER (PARTITION BY o.entity_id ORDER BY o.entity_version NULLS LAST, o.event_id) AS n, count(*) OVER (PARTITION BY o.entity_id) AS open FROM (
  SELECT id, entity_id, entity_version, event_id FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND entity_id IS NOT NULL AND completed_at IS NULL
  ORDER BY company_id, subscription_id, entity_id NULLS LAST, entity_version NULLS LAST, event_id LIMIT $3) AS o) AS h
WHERE h.n = 1 AND h.open > 1 ORDER BY h.id LIMIT $4`

// Held lists the records that an ordered subscription holds, the longest held first.
func (s *Service) Held(ctx context.Context, by access.Caller, subscription uuid.UUID) (*list.Page[HeldRecord], error) {
	if _, err := table.Get(ctx, s.cfg.DB, by.Company, subscription); err != nil {
		return nil, err
	}
	rows, err := s.cfg.DB.Query(ctx, sqlSelectHeld, by.Company, subscription, maxHeldOpen, maxHeld)
	if err != nil {
		return nil, fmt.Errorf("select held records: %w", err)
	}
	held := []HeldRecord{}
	var wanted []glance
	var one HeldRecord
	_, err = pgx.ForEachRow(rows, []any{&one.Delivery.ID, &one.EntityID, &one.Waiting}, func() error {
		held, wanted = append(held, one), append(wanted, glance{SubscriptionID: subscription, ID: one.Delivery.ID})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("select held records: %w", err)
	}
	deliveries, err := s.selectDeliveries(ctx, by.Company, wanted)
	if err != nil {
		return nil, err
	}
	held = slices.DeleteFunc(held, func(h HeldRecord) bool { // over since
		return !slices.ContainsFunc(deliveries, func(d DeliveryRecord) bool { return d.ID == h.Delivery.ID })
	})
	for i := range held {
		held[i].Delivery = deliveries[slices.IndexFunc(deliveries, func(d DeliveryRecord) bool { return d.ID == held[i].Delivery.ID })]
	}
	total, page := int64(len(held)), 1
	return &list.Page[HeldRecord]{Items: held, Total: &total, Page: &page, PageSize: maxHeld}, nil
}

// Skip gives up an open delivery to an ordered subscription, so that the later ones of its record are sent. Errors: 409
// WEBHOOK_NOT_ORDERED, 409 WEBHOOK_DELIVERY_OVER.
func (s *Service) Skip(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (DeliveryRecord, error) {
	d, err := s.selectDelivery(ctx, tx, by.Company, id)
	if err != nil {
		return d, err
	}
	sub, err := table.Get(ctx, tx, by.Company, d.SubscriptionID)
	if err != nil {
		return d, err
	}
	if err := mayRead(by, sub, "skip its deliveries"); err != nil {
		return d, err
	}
	switch {
	case !sub.Ordered:
		return d, apierr.StateConflict("WEBHOOK_NOT_ORDERED", "the subscription is not ordered: no delivery waits for this one")
	case !d.open():
		return d, apierr.StateConflict("WEBHOOK_DELIVERY_OVER", "the delivery is over; its status is %s", d.Status).With("status", d.Status)
	}
	s.cfg.Deliveries.Skip(tx, webhook.SubscriptionKey{Company: by.Company, ID: sub.ID}, id, tx.Now())
	if err := notify(ctx, tx, sub, "updated"); err != nil { // the sweeper sends the next of the record
		return d, err
	}
	return s.selectDelivery(ctx, tx, by.Company, id)
}
