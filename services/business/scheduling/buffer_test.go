package scheduling_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

// The time before and after a booking is kept free of others, wherever they come from; those of a service come before those of the resource.
func TestBuffers(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("slotStepMinutes", 60, "bufferBeforeMinutes", 10, "bufferAfterMinutes", 20)
	b := k.book(r, at("10:00"), "durationMinutes", 60).OK(201)
	require.Equal(t, []any{10.0, 20.0, at("10:00"), at("11:00")}, []any{b["bufferBeforeMinutes"], b["bufferAfterMinutes"], b["startAt"], b["endAt"]})
	k.book(r, at("11:29"), "durationMinutes", 30).Fault(409, "BOOKING_SLOT_TAKEN")
	k.book(r, at("09:00"), "durationMinutes", 31).Fault(409, "BOOKING_SLOT_TAKEN")
	k.book(r, at("09:00"), "durationMinutes", 30).OK(201)
	k.book(r, at("11:30"), "durationMinutes", 30).OK(201)
	require.NotContains(t, clocks(k.slots(r, "2040-01-03"), free), "08:00")
	require.Contains(t, clocks(k.slots(r, "2040-01-03"), free), "07:00")
	require.Contains(t, clocks(k.slots(r, "2040-01-03", "stepMinutes", "30"), free), "07:30")
	require.Contains(t, clocks(k.slots(r, "2040-01-03", "stepMinutes", "30"), free), "12:30")

	none, long := k.service("bufferBeforeMinutes", 0, "bufferAfterMinutes", 0, "durationMinutes", 30), k.service("bufferAfterMinutes", 60, "durationMinutes", 30)
	k.book(r, at("12:20"), "serviceId", none).OK(201)
	k.book(r, at("12:50"), "serviceId", none).OK(201)
	got := k.book(r, at("14:00"), "serviceId", long).OK(201)
	require.Equal(t, []any{10.0, 60.0}, []any{got["bufferBeforeMinutes"], got["bufferAfterMinutes"]})
	k.book(r, at("15:29"), "serviceId", none).Fault(409, "BOOKING_SLOT_TAKEN")
	k.book(r, at("15:30"), "serviceId", none).OK(201)

	// A booking keeps its buffers until it is moved, and another service brings its own.
	k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"bufferBeforeMinutes": 0, "bufferAfterMinutes": 0}).OK(200)
	k.book(r, at("11:05"), "durationMinutes", 5).Fault(409, "BOOKING_SLOT_TAKEN")
	k.Do(t, "PATCH", path(got), object{"serviceId": none}).OK(200)
	k.book(r, at("14:30"), "durationMinutes", 60).OK(201)
	k.Do(t, "PATCH", path(got), object{"serviceId": long}).Fault(409, "BOOKING_SLOT_TAKEN")
	moved := k.Do(t, "PATCH", path(b), object{"startAt": at("18:00")}).OK(200)
	require.Equal(t, []any{0.0, 0.0}, []any{moved["bufferBeforeMinutes"], moved["bufferAfterMinutes"]})

	// They may lie outside of the hours, and reach across midnight.
	night := k.resource("bufferBeforeMinutes", 120, "bufferAfterMinutes", 480, "workingHours", []any{object{"weekday": 2, "from": "09:00", "to": "24:00"}, object{"weekday": 3, "from": "00:00", "to": "24:00"}})
	k.book(night, at("09:00"), "durationMinutes", 30).OK(201)
	k.book(night, at("23:30"), "durationMinutes", 30).OK(201)
	k.book(night, "2040-01-04T09:59:00Z", "durationMinutes", 30).Fault(409, "BOOKING_SLOT_TAKEN")
	k.book(night, "2040-01-04T10:00:00Z", "durationMinutes", 30).OK(201)
	require.Equal(t, map[string]string{"bufferBeforeMinutes": "MIN", "bufferAfterMinutes": "MAX"},
		k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"bufferBeforeMinutes": -1, "bufferAfterMinutes": 481}).Fields())
}

// Deals take a venue with the buffers of the resource.
func TestBuffersOfVenues(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("bufferBeforeMinutes", 30, "bufferAfterMinutes", 60)
	require.NoError(t, k.use(venue(r, "10:00", "12:00")))
	requireCode(t, k.use(venue(r, "13:00", "14:00")), "BOOKING_SLOT_TAKEN")
	require.NoError(t, k.use(venue(r, "13:30", "14:00")))
	k.book(r, at("15:00"), "durationMinutes", 60).Fault(409, "BOOKING_SLOT_TAKEN")
	k.book(r, at("15:30"), "durationMinutes", 60).OK(201)
	requireCode(t, k.use(venue(r, "17:45", "18:00")), "BOOKING_SLOT_TAKEN")
	require.NoError(t, k.use(venue(r, "18:00", "19:00")))
}

// Of bookings that would only touch each other's buffers, one gets in, however many come at once.
func TestBuffersRace(t *testing.T) {
	t.Parallel()
	all := rivals(t)
	k := all[0]
	r := k.resource("bufferAfterMinutes", 30)
	got := make([]*apitest.Response, racers)
	together(racers, func(i int) {
		got[i] = all[i%len(all)].book(r, day.Add(time.Duration(i%3)*15*time.Minute).Format(time.RFC3339), "durationMinutes", 5)
	})
	counts := statuses(got)
	require.Equal(t, map[string]int{"201": 1, "409 BOOKING_SLOT_TAKEN": racers - 1}, counts)
}
