package scheduling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// maxDuration is the longest booking.
const maxDuration = oneDay

// use is the use of a resource by a booking, or by a deal, which takes the whole resource.
type use struct {
	interval
	whole bool
}

// taken returns the largest number of places, out of all, that are taken at the same instant of the interval.
func taken(uses []use, during interval, places int32) int32 {
	overlapping := make([]use, 0, len(uses))
	for _, u := range uses {
		if u.overlaps(during) {
			overlapping = append(overlapping, u)
		}
	}
	var most int32
	for _, at := range overlapping { // the number grows only where a use begins
		instant := at.start
		if instant.Before(during.start) {
			instant = during.start
		}
		var n int32
		for _, u := range overlapping {
			if !instant.Before(u.start) && instant.Before(u.end) {
				if u.whole {
					return places
				}
				n++
			}
		}
		most = max(most, n)
	}
	return min(most, places)
}

const sqlSelectUses = `SELECT start_at, end_at, FALSE FROM bookings
WHERE company_id = $1 AND resource_id = $2 AND start_at > $3 AND start_at < $4 AND end_at > $5 AND status IN ('pending', 'confirmed', 'completed') AND id <> $6
UNION ALL SELECT start_at, end_at, TRUE FROM venue_uses WHERE company_id = $1 AND resource_id = $2 AND start_at < $4 AND end_at > $5 AND deal_id <> $6`

// selectUses reads the uses of a resource that overlap the interval, except those of one booking or deal.
func selectUses(ctx context.Context, q db.Querier, company tenant.ID, resource uuid.UUID, during interval, except uuid.UUID) ([]use, error) {
	rows, err := q.Query(ctx, sqlSelectUses, company, resource, during.start.Add(-maxDuration-time.Second), during.end, during.start, except)
	if err != nil {
		return nil, fmt.Errorf("select uses of resource: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (u use, err error) {
		err = row.Scan(&u.start, &u.end, &u.whole)
		return u, err
	})
}

// checkPlace returns a 409 unless the interval has a place that the uses leave free.
func (r Resource) checkPlace(uses []use, during interval) error {
	if taken(uses, during, r.ParallelBookings) < r.ParallelBookings {
		return nil
	}
	return r.slotTaken(during)
}

func (r Resource) slotTaken(during interval) error {
	return apierr.StateConflict("BOOKING_SLOT_TAKEN", "the resource has no free place from %s to %s; choose another time or resource",
		during.start.UTC().Format(time.RFC3339), during.end.UTC().Format(time.RFC3339)).With("resourceId", r.ID)
}

const sqlSelectLaterBookings = `SELECT start_at, end_at FROM bookings
WHERE company_id = $1 AND resource_id = $2 AND start_at > $3 AND end_at > $4 AND status IN ('pending', 'confirmed', 'completed')`

// checkFewerPlaces returns a 409 if more bookings than the resource has places overlap now or later.
func (r Resource) checkFewerPlaces(ctx context.Context, q db.Querier, now time.Time) error {
	rows, err := q.Query(ctx, sqlSelectLaterBookings, r.CompanyID, r.ID, now.Add(-maxDuration-time.Second), now)
	if err != nil {
		return fmt.Errorf("select later bookings: %w", err)
	}
	uses, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u use, err error) {
		err = row.Scan(&u.start, &u.end)
		return u, err
	})
	if err != nil {
		return fmt.Errorf("read later bookings: %w", err)
	}
	if len(uses) == 0 {
		return nil
	}
	last := slices.MaxFunc(uses, func(a, b use) int { return a.end.Compare(b.end) })
	if most := taken(uses, interval{now, last.end}, math.MaxInt32); most > r.ParallelBookings {
		return apierr.StateConflict("BOOKING_SLOT_TAKEN", "parallelBookings: %d bookings overlap already; cancel or reschedule them first, or keep at least %d", most, most).
			With("resourceId", r.ID)
	}
	return nil
}
