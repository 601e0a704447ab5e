package scheduling_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// venue is the use of a resource by a new deal, between two times of the day.
func venue(resource, from, to string) trade.VenueUse {
	start, end := clock(from), clock(to)
	return trade.VenueUse{DealID: uuid.New(), ResourceID: uuid.MustParse(resource), StartAt: &start, EndAt: &end}
}

func clock(text string) time.Time {
	t, err := time.Parse(time.RFC3339, at(text))
	if err != nil {
		panic(err) // a mistake of the test
	}
	return t
}

// use has a new deal use a venue.
func (k kit) use(v trade.VenueUse) error {
	k.t.Helper()
	return k.change(nil, &v)
}

// change changes the use of a deal, in a transaction as deals run it.
func (k kit) change(before, now *trade.VenueUse) error {
	k.t.Helper()
	d := dbtest.Open(k.t)
	return d.RunTx(k.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		return newService(d).UseVenue(ctx, tx, access.Caller{Principal: k.Principal}, before, now)
	})
}

func requireCode(t *testing.T, err error, code string) *apierr.Error {
	t.Helper()
	require.Error(t, err)
	fault, ok := apierr.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, fault.Code)
	return fault
}

func TestDealsTakeTheWholeVenue(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("parallelBookings", 3)
	b := k.book(r, at("10:00"), "durationMinutes", 60).OK(201)
	require.Equal(t, map[string]any{"resourceId": uuid.MustParse(r)}, requireCode(t, k.use(venue(r, "10:59", "12:00")), "BOOKING_SLOT_TAKEN").Meta)
	wedding := venue(r, "11:00", "14:00")
	require.NoError(t, k.use(wedding))
	requireCode(t, k.use(venue(r, "13:59", "15:00")), "BOOKING_SLOT_TAKEN")
	k.book(r, at("13:45")).Fault(409, "BOOKING_SLOT_TAKEN")
	k.Do(t, "PATCH", path(b), object{"durationMinutes": 61}).Fault(409, "BOOKING_SLOT_TAKEN")
	for _, s := range k.slots(r, "2040-01-03") {
		if s.StartAt.Hour() >= 11 && s.StartAt.Hour() < 14 {
			require.Zero(t, s.Remaining)
		}
	}
	k.book(r, at("14:00")).OK(201)
	k.book(k.resource(), at("12:00")).OK(201)

	require.NoError(t, k.change(&wedding, &wedding), "a deal is not in its own way")
	moved := venue(r, "16:00", "18:00")
	moved.DealID = wedding.DealID
	require.NoError(t, k.change(&wedding, &moved))
	k.book(r, at("11:00")).OK(201)
	k.book(r, at("16:30")).Fault(409, "BOOKING_SLOT_TAKEN")

	without := moved
	without.EndAt = nil
	require.NoError(t, k.change(&moved, &without), "without both times it takes nothing")
	k.book(r, at("16:30")).OK(201)
	evening := venue(r, "20:00", "22:00")
	require.NoError(t, k.use(evening))
	require.NoError(t, k.change(&evening, nil))
	require.NoError(t, k.change(nil, nil))
	k.book(r, at("20:00")).OK(201)
	long := venue(r, "23:00", "23:30")
	end := long.StartAt.AddDate(0, 0, 10)
	long.EndAt = &end
	require.NoError(t, k.use(long))
	k.book(r, "2040-01-10T10:00:00Z").Fault(409, "BOOKING_SLOT_TAKEN")
}

func TestVenueRules(t *testing.T) {
	t.Parallel()
	server := newServer(t, dbtest.Open(t))
	k, other := kit{server.Company(), t}, kit{server.Company(), t}
	r, off := k.resource("capacity", 50), k.resource("isActive", false)
	v := venue(noID, "10:00", "11:00")
	require.Equal(t, map[string]any{"field": "venueResourceId", "id": noID}, requireCode(t, k.use(v), "RESOURCE_NOT_FOUND").Meta)
	requireCode(t, other.use(venue(r, "10:00", "11:00")), "RESOURCE_NOT_FOUND")
	requireCode(t, k.use(venue(off, "10:00", "11:00")), "RESOURCE_INACTIVE")
	kept := venue(off, "10:00", "11:00")
	guest := int32(1)
	later := kept
	later.Headcount = &guest
	require.NoError(t, k.change(&kept, &later), "a deal keeps its venue")
	elsewhere := kept
	elsewhere.ResourceID = uuid.MustParse(r)
	requireCode(t, k.change(&elsewhere, &kept), "RESOURCE_INACTIVE")
	for _, times := range []bool{true, false} {
		guests, many := int32(50), int32(51)
		party := venue(r, "10:00", "11:00")
		if !times {
			party.StartAt = nil
		}
		party.Headcount = &many
		require.Equal(t, map[string]any{"capacity": guests, "headcount": many}, requireCode(t, k.use(party), "VENUE_CAPACITY_EXCEEDED").Meta)
		party.Headcount = &guests
		require.NoError(t, k.use(party))
	}
}

// Deals and bookings race for a venue: one gets it.
func TestDealsAndBookingsRace(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	for range 3 {
		r := k.resource("parallelBookings", 5)
		made := make([]bool, racers)
		deals := make([]bool, racers)
		together(racers, func(i int) {
			if i%3 == 0 {
				deals[i] = true
				err := k.use(venue(r, "10:00", "12:00"))
				made[i] = err == nil
				if err != nil {
					requireCode(t, err, "BOOKING_SLOT_TAKEN")
				}
				return
			}
			got := all[i%len(all)].book(r, at("11:00"))
			made[i] = got.Status == 201
			if !made[i] {
				got.Fault(409, "BOOKING_SLOT_TAKEN")
			}
		})
		var byDeal, byBooking int
		for i := range made {
			if made[i] && deals[i] {
				byDeal++
			} else if made[i] {
				byBooking++
			}
		}
		require.True(t, byDeal == 1 && byBooking == 0 || byDeal == 0 && byBooking == 5, "%d deals, %d bookings", byDeal, byBooking)
	}
}
