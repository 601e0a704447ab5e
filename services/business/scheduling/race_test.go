package scheduling_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const racers = 24

// rivals are callers of one company on several servers, which share nothing but the database.
func rivals(t *testing.T) []kit {
	t.Helper()
	first := newServer(t, dbtest.Open(t)).Company()
	all := []kit{{first, t}}
	for range 2 {
		d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		all = append(all, kit{newServer(t, d).Caller(first.Principal.Company), t})
	}
	return all
}

func TestLastPlace(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	for _, places := range []int{1, 3} {
		r := k.resource("parallelBookings", places)
		got := make([]*apitest.Response, racers)
		together(racers, func(i int) {
			got[i] = all[i%len(all)].book(r, day.Add(time.Duration(i%3)*5*time.Minute).Format(time.RFC3339), "durationMinutes", 30)
		})
		require.Equal(t, map[string]int{"201": places, "409 BOOKING_SLOT_TAKEN": racers - places}, statuses(got))
	}
	requireNumbers(t, k, 4)
}

// requireNumbers requires that the bookings of the company have the numbers from 1 to n.
func requireNumbers(t *testing.T, k kit, n int) {
	t.Helper()
	var page struct{ Items []struct{ Number int } }
	k.Do(t, "GET", "/scheduling/bookings?sort=number&pageSize=200", nil).Decode(&page)
	require.Len(t, page.Items, n)
	for i, b := range page.Items {
		require.Equal(t, i+1, b.Number)
	}
}

// Bookings that move to one place, new ones and a corrected no-show race for it: one gets it.
func TestMovesRaceForAPlace(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	wanted := k.resource()
	absent := k.book(wanted, at("10:00")).OK(201)
	k.move(absent, "no_show").OK(200)
	var waiting []object
	for range 8 {
		waiting = append(waiting, k.book(k.resource(), at("10:00")).OK(201))
	}
	got := make([]*apitest.Response, racers)
	together(racers, func(i int) {
		c := all[i%len(all)]
		switch {
		case i < 8:
			got[i] = c.Do(t, "PATCH", path(waiting[i]), object{"resourceId": wanted, "startAt": at("10:10")})
		case i == 8:
			got[i] = c.move(absent, "completed")
		default:
			got[i] = c.book(wanted, at("10:15"))
		}
	})
	counts := statuses(got)
	require.Equal(t, 1, counts["200"]+counts["201"], "%v", counts)
	require.Equal(t, racers-1, counts["409 BOOKING_SLOT_TAKEN"], "%v", counts)
}

// Two bookings change places with many others at once: nobody waits for ever.
func TestBookingsMoveAroundWithoutDeadlocks(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	resources := []string{k.resource("parallelBookings", 10), k.resource("parallelBookings", 10), k.resource("parallelBookings", 10)}
	var made []object
	for i := range 6 {
		made = append(made, k.book(resources[i%3], at("10:00")).OK(201))
	}
	got := make([]*apitest.Response, racers)
	together(racers, func(i int) {
		got[i] = all[i%len(all)].Do(t, "PATCH", path(made[i%6]), object{"resourceId": resources[(i/2)%3], "startAt": at(fmt.Sprintf("10:%02d", i))})
	})
	require.Equal(t, map[string]int{"200": racers}, statuses(got))
}

// Of several moves of one booking to the same status, one happens.
func TestMovesOfOneBookingRace(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	for _, to := range []string{"confirmed", "completed", "no_show", "cancelled"} {
		b := k.book(k.resource(), at("10:00")).OK(201)
		n := len(k.eventNames())
		got := make([]*apitest.Response, 9)
		together(len(got), func(i int) { got[i] = all[i%len(all)].move(b, to) })
		require.Equal(t, map[string]int{"200": 1, "409 BOOKING_STATUS_TRANSITION_INVALID": len(got) - 1}, statuses(got))
		names := k.eventNames()[n:]
		want := []string{"booking." + to, "booking.status_changed"}
		if to == "cancelled" {
			want = append(want, "calendar.event.deleted")
		}
		slices.Sort(names)
		require.Equal(t, want, names)
	}
}

func (k kit) eventNames() (names []string) {
	k.t.Helper()
	for _, e := range apitest.RaisedBy(k.t, dbtest.Open(k.t), k.Principal.Company) {
		if e.Data["customerPhone"] != nil && e.Data["resourceName"] != nil || e.Data["bookingId"] != nil {
			names = append(names, e.Name)
		}
	}
	return names
}

// While a place is taken and freed again and again, places are never lowered below what is taken.
func TestPlacesAndBookingsRace(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	r := k.resource("parallelBookings", 2)
	got := make([]*apitest.Response, racers)
	together(racers, func(i int) {
		c := all[i%len(all)]
		if i%4 == 0 {
			got[i] = c.Do(t, "PATCH", "/scheduling/resources/"+r, object{"parallelBookings": 1})
		} else {
			got[i] = c.book(r, at("10:00"))
		}
	})
	counts := statuses(got)
	require.Zero(t, counts["503 SERVICE_UNAVAILABLE"])
	places := k.Do(t, "GET", "/scheduling/resources/"+r, nil).OK(200)["parallelBookings"].(float64)
	require.EqualValues(t, places, counts["201"], "%v", counts)
}
