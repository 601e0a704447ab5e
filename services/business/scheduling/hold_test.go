package scheduling_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
)

// hold posts a hold.
func (k kit) hold(resource, start string, fields ...any) *apitest.Response {
	k.t.Helper()
	return k.Do(k.t, "POST", "/scheduling/holds", with(object{"resourceId": resource, "startAt": start}, fields...))
}

func holdPath(h object) string { return "/scheduling/holds/" + h["id"].(string) }

// expire lets all holds of the company end now.
func (k kit) expire() {
	k.t.Helper()
	_, err := dbtest.Open(k.t).Pool().Exec(k.t.Context(), `UPDATE booking_holds SET expires_at = now() - INTERVAL '1 second' WHERE company_id = $1`, k.Principal.Company)
	require.NoError(k.t, err)
}

// A hold keeps its place from everybody else, and a booking takes it over.
func TestHolds(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("bufferAfterMinutes", 15, "slotStepMinutes", 60)
	service := k.service("durationMinutes", 45)
	before := time.Now()
	made := k.hold(r, at("10:00"), "serviceId", service, "headcount", 2)
	h := made.OK(201)
	require.Equal(t, "/api/external/v1"+holdPath(h), made.Header.Get("Location"))
	expires, err := time.Parse(time.RFC3339, h["expiresAt"].(string))
	require.NoError(t, err)
	require.WithinRange(t, expires, before.Add(10*time.Minute-time.Minute), time.Now().Add(10*time.Minute+time.Minute), "ten minutes unless others are asked for")
	require.Equal(t, object{
		"id": h["id"], "companyId": k.Principal.Company.String(), "resourceId": r, "serviceId": service, "startAt": at("10:00"), "endAt": at("10:45"), "durationMinutes": 45.0,
		"headcount": 2.0, "holdMinutes": 10.0, "bufferBeforeMinutes": 0.0, "bufferAfterMinutes": 15.0, "expiresAt": h["expiresAt"], "createdById": k.Principal.Actor.String(),
		"version": 1.0, "createdAt": h["createdAt"], "updatedAt": h["updatedAt"],
	}, h)
	require.Equal(t, h, k.Do(t, "GET", holdPath(h), nil).OK(200))
	require.Contains(t, clocks(k.slots(r, "2040-01-03"), noFree), "10:00")
	k.book(r, at("10:30")).Fault(409, "BOOKING_SLOT_TAKEN")
	k.book(r, at("10:59"), "durationMinutes", 5).Fault(409, "BOOKING_SLOT_TAKEN")
	k.hold(r, at("10:30")).Fault(409, "BOOKING_SLOT_TAKEN")
	requireCode(t, k.use(venue(r, "10:30", "12:00")), "BOOKING_SLOT_TAKEN")

	require.Equal(t, map[string]string{"holdId": "CONFLICT"}, k.book(r, at("11:00"), "serviceId", service, "holdId", h["id"]).Fields())
	require.Equal(t, map[string]string{"holdId": "CONFLICT"}, k.book(k.resource(), at("10:00"), "holdId", h["id"]).Fields())
	require.Equal(t, h, k.Do(t, "GET", holdPath(h), nil).OK(200), "a booking that is refused leaves the hold")
	b := k.book(r, at("10:00"), "serviceId", service, "holdId", h["id"]).OK(201)
	require.NotContains(t, b, "holdId")
	k.Do(t, "GET", holdPath(h), nil).Fault(404, "HOLD_NOT_FOUND")
	k.book(r, at("10:00"), "holdId", h["id"]).Fault(404, "HOLD_NOT_FOUND")
	require.Equal(t, []string{"booking.created", "calendar.event.created"}, k.events().Names(), "a hold raises no events")

	// An upsert redeems as well, and what is released is free at once.
	h = k.hold(r, at("14:00"), "holdMinutes", 60).OK(201)
	k.Do(t, "PUT", "/scheduling/bookings/by-external-id/shop/1", object{"resourceId": r, "startAt": at("14:00"), "customerName": "Bo", "customerPhone": "1", "holdId": h["id"]}).OK(201)
	h = k.hold(r, at("16:00")).OK(201)
	require.Equal(t, 204, k.Do(t, "DELETE", holdPath(h), nil).Status)
	k.Do(t, "DELETE", holdPath(h), nil).Fault(404, "HOLD_NOT_FOUND")
	k.book(r, at("16:00")).OK(201)
}

// An expired hold has no effect, long before its row is deleted.
func TestHoldsExpire(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("slotStepMinutes", 60, "parallelBookings", 2)
	h := k.hold(r, at("10:00")).OK(201)
	k.book(r, at("10:00")).OK(201)
	k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"parallelBookings": 1}).Fault(409, "BOOKING_SLOT_TAKEN")
	var page struct{ Items []object }
	list := func() []object {
		page.Items = nil
		k.Do(t, "GET", "/scheduling/holds?sort=startAt&resourceId="+r, nil).Decode(&page)
		return page.Items
	}
	require.Equal(t, []object{h}, list())
	k.expire()
	require.Empty(t, list())
	k.Do(t, "GET", holdPath(h), nil).Fault(404, "HOLD_NOT_FOUND")
	k.Do(t, "DELETE", holdPath(h), nil).Fault(404, "HOLD_NOT_FOUND")
	k.book(r, at("10:00"), "holdId", h["id"]).Fault(404, "HOLD_NOT_FOUND")
	require.Contains(t, clocks(k.slots(r, "2040-01-03"), free), "10:00")
	var found struct {
		Resources []struct{ Days []struct{ Slots []slot } }
	}
	k.Do(t, "GET", "/scheduling/availability?dateFrom=2040-01-03&dateTo=2040-01-03&resourceIds="+r, nil).Decode(&found)
	require.Len(t, found.Resources[0].Days[0].Slots, 24)
	k.hold(r, at("10:00")).OK(201)
	k.Do(t, "GET", "/scheduling/availability?dateFrom=2040-01-03&dateTo=2040-01-03&resourceIds="+r, nil).Decode(&found)
	require.Len(t, found.Resources[0].Days[0].Slots, 23)
	k.expire()
	k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"parallelBookings": 1}).OK(200)
}

func TestFaultsOfHolds(t *testing.T) {
	t.Parallel()
	server := newServer(t, dbtest.Open(t))
	k, other := kit{server.Company(), t}, kit{server.Company(), t}
	r := k.resource("parallelBookings", 1000, "capacity", 2, "workingHours", []any{object{"weekday": 2, "from": "09:00", "to": "18:00"}})
	require.Equal(t, map[string]string{"resourceId": "REQUIRED", "startAt": "REQUIRED"}, k.Do(t, "POST", "/scheduling/holds", object{}).Fields())
	require.Equal(t, map[string]string{"holdMinutes": "MAX", "durationMinutes": "MIN"}, k.hold(r, at("10:00"), "holdMinutes", 61, "durationMinutes", 4).Fields())
	k.hold(noID, at("10:00")).Fault(404, "RESOURCE_NOT_FOUND")
	k.hold(r, at("10:00"), "serviceId", noID).Fault(404, "SERVICE_NOT_FOUND")
	k.hold(r, at("20:00")).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
	k.hold(r, "2020-01-07T10:00:00Z").Fault(409, "BOOKING_IN_PAST")
	k.hold(r, at("10:00"), "headcount", 3).Fault(409, "VENUE_CAPACITY_EXCEEDED")
	h := k.hold(r, at("10:00")).OK(201)
	other.Do(t, "GET", holdPath(h), nil).Fault(404, "HOLD_NOT_FOUND")
	require.Equal(t, map[string]string{"holdId": "FORMAT"}, k.book(r, at("10:00"), "holdId", "x").Fields())
	k.exception("resourceId", r)
	k.hold(r, at("11:00")).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
}

// A token cannot keep a calendar busy for nothing.
func TestHoldsAreBounded(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("parallelBookings", 1000)
	for range 100 {
		k.hold(r, at("10:00")).OK(201)
	}
	require.EqualValues(t, 100, k.hold(r, at("10:00")).Fault(409, "HOLD_LIMIT_REACHED")["meta"].(object)["limit"])
	another := kit{newServer(t, dbtest.Open(t)).Caller(k.Principal.Company), t}
	another.hold(r, at("10:00")).OK(201)
	k.expire()
	k.hold(r, at("10:00")).OK(201)
}

// Holds and bookings race for the last place, and those who redeem one hold for it: one gets it.
func TestHoldsRace(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	r := k.resource()
	got := make([]*apitest.Response, racers)
	together(racers, func(i int) {
		if c := all[i%len(all)]; i%2 == 0 {
			got[i] = c.hold(r, at("10:00"))
		} else {
			got[i] = c.book(r, at("10:10"))
		}
	})
	require.Equal(t, map[string]int{"201": 1, "409 BOOKING_SLOT_TAKEN": racers - 1}, statuses(got))

	h := k.hold(r, at("14:00")).OK(201)
	together(racers, func(i int) {
		if c := all[i%len(all)]; i%4 == 0 {
			got[i] = c.book(r, at("14:00"))
		} else {
			got[i] = c.book(r, at("14:00"), "holdId", h["id"])
		}
	})
	counts := statuses(got)
	require.Equal(t, 1, counts["201"], "%v", counts)
	require.Equal(t, racers*3/4-1, counts["404 HOLD_NOT_FOUND"], "%v", counts)
	require.Equal(t, racers/4, counts["409 BOOKING_SLOT_TAKEN"], "nobody else gets it: %v", counts)
}

// The change token is another one after each change that a calendar shows, and only then.
func TestChangeToken(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("slotStepMinutes", 60)
	service := scheduling.New(scheduling.Config{DB: dbtest.Open(t)})
	seen := map[string]bool{}
	changed := func(what string) {
		t.Helper()
		token, err := service.ChangeToken(t.Context(), k.Principal.Company)
		require.NoError(t, err)
		require.False(t, seen[token], "%s", what)
		again, err := service.ChangeToken(t.Context(), k.Principal.Company)
		require.NoError(t, err)
		require.Equal(t, token, again)
		seen[token] = true
	}
	changed("nothing yet")
	b := k.book(r, at("10:00")).OK(201)
	changed("a booking")
	k.Do(t, "POST", "/scheduling/bookings/"+b["id"].(string)+"/complete", nil).OK(200)
	changed("its status")
	h := k.hold(r, at("12:00")).OK(201)
	changed("a hold")
	require.Equal(t, 204, k.Do(t, "DELETE", holdPath(h), nil).Status)
	token, err := service.ChangeToken(t.Context(), k.Principal.Company)
	require.NoError(t, err)
	require.True(t, seen[token], "as before the hold")
}
