package scheduling

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const venueUses = db.Table("venue_uses")

var (
	sqlUpsertVenueUse = venueUses.Insert(`(company_id, deal_id, resource_id, start_at, end_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (company_id, deal_id) DO UPDATE SET resource_id = excluded.resource_id, start_at = excluded.start_at, end_at = excluded.end_at`)
	sqlDeleteVenueUse = venueUses.Delete(`WHERE company_id = $1 AND deal_id = $2`)
)

// UseVenue replaces the use of a resource before a change of a deal with that after it; nil = none. A deal takes the whole
// resource, and no booking or other deal may overlap it. The caller has locked the deal, or creates it.
//
// Errors: 404 RESOURCE_NOT_FOUND, 409 RESOURCE_INACTIVE, VENUE_CAPACITY_EXCEEDED, BOOKING_SLOT_TAKEN.
func (s *Service) UseVenue(ctx context.Context, tx *db.Tx, by access.Caller, before, now *trade.VenueUse) error {
	if now == nil {
		if before != nil {
			tx.Queue(sqlDeleteVenueUse, by.Company, before.DealID)
		}
		return nil
	}
	r, err := lockResource(ctx, tx, by.Company, now.ResourceID, "venueResourceId")
	if err != nil {
		return err
	}
	if isNew := before == nil || before.ResourceID != now.ResourceID; isNew && !r.IsActive {
		return apierr.StateConflict("RESOURCE_INACTIVE", "venueResourceId: the resource is not active; activate it or choose another").With("resourceId", r.ID)
	}
	if now.Headcount != nil && r.Capacity != nil && *now.Headcount > *r.Capacity {
		return capacityExceeded("headcount", *now.Headcount, *r.Capacity)
	}
	if now.StartAt == nil || now.EndAt == nil || !now.StartAt.Before(*now.EndAt) {
		tx.Queue(sqlDeleteVenueUse, by.Company, now.DealID)
		return nil
	}
	at, around := interval{*now.StartAt, *now.EndAt}, r.buffer(nil)
	during := around.around(at)
	uses, err := selectUses(ctx, tx, by.Company, r.ID, during, now.DealID, tx.Now())
	if err != nil {
		return err
	}
	if occupancyOf(uses).most(during, 1) > 0 {
		return r.slotTaken(at, around)
	}
	touchResource(tx, by.Company, r.ID)
	tx.Queue(sqlUpsertVenueUse, by.Company, now.DealID, r.ID, during.start, during.end)
	return nil
}
