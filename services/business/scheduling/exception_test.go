package scheduling_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func (k kit) exception(fields ...any) object {
	k.t.Helper()
	return k.post("/scheduling/exceptions", with(object{"name": "Holiday", "dateFrom": "2040-01-03"}, fields...))
}

// outside lists the bookings outside of the hours, by their ids.
func (k kit) outside(query string) []string {
	k.t.Helper()
	var all []struct{ ID string }
	k.Do(k.t, "GET", "/scheduling/bookings/outside-hours?"+query, nil).Decode(&all)
	ids := []string{}
	for _, b := range all {
		ids = append(ids, b.ID)
	}
	return ids
}

// A day off has no slots and takes no bookings, however it is entered; those that it has stay, and are listed.
func TestDaysOff(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r, other := k.resource("slotStepMinutes", 60), k.resource("slotStepMinutes", 60)
	kept := k.book(r, at("10:00"), "durationMinutes", 60).OK(201)
	elsewhere := k.book(other, at("10:00"), "durationMinutes", 60).OK(201)
	cancelled := k.book(r, at("12:00"), "durationMinutes", 60).OK(201)
	k.move(cancelled, "cancelled").OK(200)
	require.Empty(t, k.outside("dateFrom=2040-01-03&dateTo=2040-01-03"))

	e := k.exception("resourceId", r)
	require.Equal(t, "2040-01-03", e["dateTo"], "one day unless more are asked for")
	require.Equal(t, []any{}, e["hours"])
	require.Empty(t, k.slots(r, "2040-01-03"))
	require.Len(t, k.slots(r, "2040-01-04"), 24)
	require.Len(t, k.slots(other, "2040-01-03"), 24)
	k.book(r, at("14:00")).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
	k.book(r, "2040-01-02T23:30:00Z", "durationMinutes", 60).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
	k.Do(t, "PATCH", path(kept), object{"startAt": at("11:00")}).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
	k.Do(t, "PATCH", path(elsewhere), object{"resourceId": r}).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
	k.Do(t, "PATCH", path(kept), object{"note": "agreed by phone"}).OK(200)
	require.Equal(t, []string{kept["id"].(string)}, k.outside("dateFrom=2040-01-03&dateTo=2040-01-03"), "neither cancelled ones nor those of others")
	require.Equal(t, []string{kept["id"].(string)}, k.outside("dateFrom=2039-06-01&dateTo=2040-05-30&resourceId="+r))
	require.Empty(t, k.outside("dateFrom=2040-01-04&dateTo=2040-01-04"))
	require.Empty(t, k.outside("dateFrom=2040-01-03&dateTo=2040-01-03&resourceId="+other))

	// Other hours: the whole booking lies within them.
	ep := "/scheduling/exceptions/" + e["id"].(string)
	k.Do(t, "PATCH", ep, object{"hours": []any{object{"from": "14:00", "to": "16:00"}, object{"from": "09:00", "to": "11:00"}}}).OK(200)
	require.Equal(t, []string{"09:00", "10:00", "14:00", "15:00"}, clocks(k.slots(r, "2040-01-03"), all))
	require.Empty(t, k.outside("dateFrom=2040-01-03&dateTo=2040-01-03"))
	k.book(r, at("15:00"), "durationMinutes", 61).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
	k.book(r, at("15:00"), "durationMinutes", 60).OK(201)

	require.Equal(t, 204, k.Do(t, "DELETE", ep, nil).Status)
	require.Len(t, k.slots(r, "2040-01-03"), 24)
	k.Do(t, "GET", ep, nil).Fault(404, "SCHEDULE_EXCEPTION_NOT_FOUND")
}

// A holiday is one exception for all; that of a resource comes before it, and of two the later one.
func TestHolidaysOfAll(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r, other := k.resource("slotStepMinutes", 60), k.resource("slotStepMinutes", 60, "timeZone", "Asia/Tokyo")
	k.exception("dateTo", "2040-01-05")
	for _, date := range []string{"2040-01-03", "2040-01-04", "2040-01-05"} {
		require.Empty(t, k.slots(r, date))
		require.Empty(t, k.slots(other, date), "days are those of each resource")
	}
	require.Len(t, k.slots(other, "2040-01-06"), 24)
	k.exception("resourceId", r, "dateFrom", "2040-01-04", "hours", []any{object{"from": "10:00", "to": "12:00"}})
	require.Equal(t, []string{"10:00", "11:00"}, clocks(k.slots(r, "2040-01-04"), all))
	k.exception("dateFrom", "2040-01-04", "name", "Stocktaking")
	require.Len(t, k.slots(r, "2040-01-04"), 2)
	k.exception("resourceId", r, "dateFrom", "2040-01-04", "hours", []any{object{"from": "18:00", "to": "24:00"}})
	require.Len(t, k.slots(r, "2040-01-04"), 6)

	var found struct {
		Resources []struct {
			ResourceID string
			Days       []struct{ Slots []slot }
		}
	}
	k.Do(t, "GET", "/scheduling/availability?dateFrom=2040-01-03&dateTo=2040-01-06&resourceIds="+r+","+other, nil).Decode(&found)
	for _, got := range found.Resources {
		var n []int
		for _, d := range got.Days {
			n = append(n, len(d.Slots))
		}
		want := []int{0, 0, 0, 24}
		if got.ResourceID == r {
			want = []int{0, 6, 0, 24}
		}
		require.Equal(t, want, n)
	}
	var page struct{ Items []struct{ Name string } }
	k.Do(t, "GET", "/scheduling/exceptions?sort=dateFrom&order=asc&dateFrom=2040-01-05&dateTo=2040-01-31&resourceId="+other, nil).Decode(&page)
	require.Len(t, page.Items, 1)
	k.Do(t, "GET", "/scheduling/exceptions?search=stock", nil).Decode(&page)
	require.Equal(t, "Stocktaking", page.Items[0].Name)
	require.Equal(t, map[string]string{"dateFrom": "CONFLICT"}, k.Do(t, "GET", "/scheduling/exceptions?dateFrom=2040-01-05&dateTo=2040-01-04", nil).Fields())
	k.Do(t, "GET", "/scheduling/exceptions?sort=name", nil).Decode(&page)
	require.Len(t, page.Items, 4)
}

func TestFaultsOfExceptions(t *testing.T) {
	t.Parallel()
	k := setup(t)
	post := func(fields ...any) map[string]string {
		return k.Do(t, "POST", "/scheduling/exceptions", with(object{"name": "x", "dateFrom": "2040-01-03"}, fields...)).Fields()
	}
	require.Equal(t, map[string]string{"name": "REQUIRED", "dateFrom": "REQUIRED"}, k.Do(t, "POST", "/scheduling/exceptions", object{}).Fields())
	require.Equal(t, map[string]string{"dateTo": "MIN"}, post("dateTo", "2040-01-02"))
	require.Equal(t, map[string]string{"dateTo": "MAX"}, post("dateTo", "2041-01-03"))
	require.Equal(t, map[string]string{"hours[0].to": "MIN", "hours[2]": "CONFLICT"}, post("hours", []any{
		object{"from": "10:00", "to": "09:00"}, object{"from": "12:00", "to": "14:00"}, object{"from": "13:00", "to": "15:00"},
	}))
	k.Do(t, "POST", "/scheduling/exceptions", object{"name": "x", "dateFrom": "2040-01-03", "resourceId": noID}).Fault(404, "RESOURCE_NOT_FOUND")
	k.exception("dateTo", "2041-01-02")
	require.Equal(t, map[string]string{"dateTo": "MAX"}, k.Do(t, "GET", "/scheduling/bookings/outside-hours?dateFrom=2040-01-03&dateTo=2041-01-04", nil).Fields())
	require.Equal(t, map[string]string{"dateTo": "MAX"}, k.Do(t, "GET", "/scheduling/bookings/outside-hours?dateFrom=2040-01-03&dateTo=2040-01-02", nil).Fields())
	k.Do(t, "GET", "/scheduling/bookings/outside-hours?dateFrom=2040-01-03&dateTo=2040-01-03&resourceId="+noID, nil).Fault(404, "RESOURCE_NOT_FOUND")
}
