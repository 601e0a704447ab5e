package scheduling

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

const (
	sqlUpsertVenueUse = `INSERT INTO venue_uses (company_id, deal_id, resource_id, start_at, end_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (company_id, deal_id) DO UPDATE SET resource_id = excluded.resource_id, start_at = excluded.start_at, end_at = excluded.end_at`
	sqlDeleteVenueUse = `DELETE FROM venue_uses WHERE company_id = $1 AND deal_id = $2`
)

// UseVenue has a deal use a resource, in place of any that it used before. A deal takes the whole resource, and no booking
// or other deal may overlap it. The caller has locked the deal, or creates it.
//
// Errors: 404 RESOURCE_NOT_FOUND, 409 RESOURCE_INACTIVE, VENUE_CAPACITY_EXCEEDED, BOOKING_SLOT_TAKEN.
func (s *Service) UseVenue(ctx context.Context, tx *db.Tx, company tenant.ID, v trade.VenueUse) error {
	r, err := lockResource(ctx, tx, company, v.ResourceID, "venueResourceId")
	if err != nil {
		return err
	}
	if v.IsNew && !r.IsActive {
		return apierr.StateConflict("RESOURCE_INACTIVE", "venueResourceId: the resource is not active; activate it or choose another").With("resourceId", r.ID)
	}
	if v.Headcount != nil && r.Capacity != nil && *v.Headcount > *r.Capacity {
		return capacityExceeded("headcount", *v.Headcount, *r.Capacity)
	}
	if v.StartAt == nil || v.EndAt == nil || !v.StartAt.Before(*v.EndAt) {
		s.ReleaseVenue(tx, company, v.DealID)
		return nil
	}
	during := interval{*v.StartAt, *v.EndAt}
	uses, err := selectUses(ctx, tx, company, r.ID, during, v.DealID)
	if err != nil {
		return err
	}
	if len(uses) > 0 {
		return r.slotTaken(during)
	}
	touchResource(tx, company, r.ID)
	tx.Queue(sqlUpsertVenueUse, company, v.DealID, r.ID, during.start, during.end)
	return nil
}

// ReleaseVenue queues that a deal uses no resource any more.
func (s *Service) ReleaseVenue(tx *db.Tx, company tenant.ID, deal uuid.UUID) {
	tx.Queue(sqlDeleteVenueUse, company, deal)
}
