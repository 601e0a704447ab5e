package scheduling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// maxDuration is the longest booking.
const maxDuration = oneDay

// use is the use of a resource, buffers included, by a booking or a hold, or by a deal, which takes the whole resource.
type use struct {
	interval
	whole bool
}

// occupancy is how many places are taken from each instant at which that changes until the next one.
type occupancy []level

type level struct {
	from   time.Time
	places int64
}

// occupancyOf adds up uses. One that takes the whole resource counts as all places that there can be.
func occupancyOf(uses []use) occupancy {
	changes := make(occupancy, 0, 2*len(uses))
	for _, u := range uses {
		if !u.start.Before(u.end) {
			continue
		}
		n := int64(1)
		if u.whole {
			n = math.MaxInt32
		}
		changes = append(changes, level{u.start, n}, level{u.end, -n})
	}
	slices.SortFunc(changes, func(a, b level) int { return a.from.Compare(b.from) })
	levels := changes[:0]
	var places int64
	for i, c := range changes {
		places += c.places
		if i+1 == len(changes) || changes[i+1].from.After(c.from) {
			levels = append(levels, level{c.from, places})
		}
	}
	return levels
}

// most returns the largest number of places, out of all, that are taken at the same instant of the interval.
func (o occupancy) most(during interval, all int32) int32 {
	next, _ := slices.BinarySearchFunc(o, during.start, func(l level, at time.Time) int {
		if l.from.After(at) {
			return 1
		}
		return -1
	})
	var most int64
	for i := max(next-1, 0); i < len(o) && o[i].from.Before(during.end); i++ {
		most = max(most, o[i].places)
	}
	return int32(min(most, int64(all)))
}

// columnsOfUses are those of bookings and holds; venue_uses has times with their buffers.
const columnsOfUses = `start_at - buffer_before_minutes * INTERVAL '1 minute', end_at + buffer_after_minutes * INTERVAL '1 minute', FALSE`

const sqlSelectUses = `SELECT ` + columnsOfUses + ` FROM bookings
WHERE company_id = $1 AND resource_id = $2 AND start_at > $3 AND start_at < $4 AND end_at > $5 AND status IN ('pending', 'confirmed', 'completed') AND id <> $6
UNION ALL SELECT ` + columnsOfUses + ` FROM booking_holds
WHERE company_id = $1 AND resource_id = $2 AND start_at > $3 AND start_at < $4 AND end_at > $5 AND expires_at > $7
UNION ALL SELECT start_at, end_at, TRUE FROM venue_uses WHERE company_id = $1 AND resource_id = $2 AND start_at < $4 AND end_at > $5 AND deal_id <> $6`

// selectUses reads the uses of a resource that overlap the interval, and some around it, except those of one booking or deal. Holds
// count until they expire.
func selectUses(ctx context.Context, q db.Querier, company tenant.ID, resource uuid.UUID, during interval, except uuid.UUID, now time.Time) ([]use, error) {
	first, last := during.start.Add(-maxBuffer), during.end.Add(maxBuffer) // of bookings whose buffers reach into it
	return db.Collect(ctx, q, "select uses of resource", func(row pgx.CollectableRow) (u use, err error) {
		err = row.Scan(&u.start, &u.end, &u.whole)
		return u, err
	}, sqlSelectUses, company, resource, first.Add(-maxDuration-time.Second), last, first, except, now)
}

// checkPlace returns a 409 unless the interval, with its buffers, has a place that the uses leave free.
func (r Resource) checkPlace(uses []use, at interval, around buffer) error {
	if occupancyOf(uses).most(around.around(at), r.ParallelBookings) < r.ParallelBookings {
		return nil
	}
	return r.slotTaken(at, around)
}

func (r Resource) slotTaken(at interval, around buffer) error {
	with := ""
	if around != (buffer{}) {
		with = fmt.Sprintf(", with %d minutes before and %d after", around.before, around.after)
	}
	return apierr.StateConflict("BOOKING_SLOT_TAKEN", "the resource has no free place from %s to %s%s; choose another time or resource",
		at.start.UTC().Format(time.RFC3339), at.end.UTC().Format(time.RFC3339), with).With("resourceId", r.ID)
}

const sqlSelectLaterBookings = `SELECT ` + columnsOfUses + ` FROM bookings
WHERE company_id = $1 AND resource_id = $2 AND start_at > $3 AND end_at > $4 AND status IN ('pending', 'confirmed', 'completed')
UNION ALL SELECT ` + columnsOfUses + ` FROM booking_holds WHERE company_id = $1 AND resource_id = $2 AND start_at > $3 AND end_at > $4 AND expires_at > $5`

// checkFewerPlaces returns a 409 if more bookings than the resource has places overlap now or later.
func (r Resource) checkFewerPlaces(ctx context.Context, q db.Querier, now time.Time) error {
	uses, err := db.Collect(ctx, q, "select later bookings", func(row pgx.CollectableRow) (u use, err error) {
		err = row.Scan(&u.start, &u.end, &u.whole)
		return u, err
	}, sqlSelectLaterBookings, r.CompanyID, r.ID, now.Add(-maxDuration-maxBuffer-time.Second), now.Add(-maxBuffer), now)
	if err != nil {
		return err
	}
	taken := occupancyOf(uses)
	if len(taken) == 0 {
		return nil
	}
	if most := taken.most(interval{now, taken[len(taken)-1].from}, math.MaxInt32); most > r.ParallelBookings {
		return apierr.StateConflict("BOOKING_SLOT_TAKEN", "parallelBookings: %d bookings overlap already; cancel or reschedule them first, or keep at least %d", most, most).
			With("resourceId", r.ID)
	}
	return nil
}
