package scheduling_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

type slot struct {
	StartAt, EndAt time.Time
	Free           bool
	Remaining      int
	ResourceID     string
}

// slots reads the slots of a day; query holds more parameters.
func (k kit) slots(resource, date string, query ...string) (all []slot) {
	k.t.Helper()
	v := url.Values{"resourceId": {resource}, "date": {date}}
	for i := 0; i < len(query); i += 2 {
		v.Set(query[i], query[i+1])
	}
	got := k.Do(k.t, "GET", "/scheduling/bookings/slots?"+v.Encode(), nil)
	require.Equal(k.t, 200, got.Status, "%s", got.Body)
	got.Decode(&all)
	require.NotNil(k.t, all, "an array, also if it is empty")
	return all
}

func clocks(all []slot, keep func(slot) bool) (out []string) {
	for _, s := range all {
		if keep(s) {
			out = append(out, s.StartAt.Format("15:04"))
		}
	}
	return out
}

func all(slot) bool      { return true }
func free(s slot) bool   { return s.Free }
func noFree(s slot) bool { return !s.Free }

func TestSlots(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("timeZone", "Europe/Berlin", "slotStepMinutes", 60, "parallelBookings", 2, "workingHours", []any{
		object{"weekday": 2, "from": "14:00", "to": "16:30"}, object{"weekday": 2, "from": "09:00", "to": "11:00"},
	})
	raw := k.Do(t, "GET", "/scheduling/bookings/slots?resourceId="+r+"&date=2040-01-03", nil)
	var first []object
	raw.Decode(&first)
	require.Equal(t, object{"startAt": at("08:00"), "endAt": at("09:00"), "free": true, "remaining": 2.0, "resourceId": r}, first[0])
	require.Equal(t, []string{"08:00", "09:00", "13:00", "14:00"}, clocks(k.slots(r, "2040-01-03"), all))
	require.Empty(t, k.slots(r, "2040-01-04"), "a day off")

	k.book(r, at("08:45"), "durationMinutes", 30).OK(201)
	k.book(r, at("08:00"), "durationMinutes", 60).OK(201)
	k.book(r, at("09:15"), "durationMinutes", 45).OK(201)
	slots := k.slots(r, "2040-01-03")
	require.Equal(t, []string{"09:00", "13:00", "14:00"}, clocks(slots, free), "two bookings one after the other leave a place")
	require.Equal(t, []int{0, 1, 2, 2}, []int{slots[0].Remaining, slots[1].Remaining, slots[2].Remaining, slots[3].Remaining})

	half, none, hidden := k.service("durationMinutes", 30), k.service(), k.service("status", "hidden")
	require.Len(t, k.slots(r, "2040-01-03", "serviceId", half), 9)
	require.Len(t, k.slots(r, "2040-01-03", "serviceId", none), 4, "a service without a duration has the step of the resource")
	require.Empty(t, k.slots(r, "2040-01-03", "serviceId", hidden), "a hidden service cannot be booked")
	k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"serviceIds": []any{half}}).OK(200)
	require.Empty(t, k.slots(r, "2040-01-03", "serviceId", none), "a service that the resource does not provide")
	require.Len(t, k.slots(r, "2040-01-03"), 4)
	k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"isActive": false}).OK(200)
	require.Empty(t, k.slots(r, "2040-01-03"))

	require.Empty(t, clocks(k.slots(k.resource(), "2020-01-03"), free), "the past")
	today := k.resource("slotStepMinutes", 5)
	now := time.Now().UTC()
	for _, s := range k.slots(today, now.Format(time.DateOnly)) {
		if s.StartAt.Before(now) || s.StartAt.After(now.Add(time.Minute)) {
			require.Equal(t, s.StartAt.After(now), s.Free)
		}
	}
}

func TestSlotParameters(t *testing.T) {
	t.Parallel()
	server := newServer(t, dbtest.Open(t))
	k, other := kit{server.Company(), t}, kit{server.Company(), t}
	r := k.resource()
	get := func(k kit, query string) *apitest.Response {
		return k.Do(t, "GET", "/scheduling/bookings/slots"+query, nil)
	}
	require.Equal(t, map[string]string{"resourceId": "REQUIRED", "date": "REQUIRED"}, get(k, "").Fields())
	require.Equal(t, map[string]string{"resourceId": "FORMAT", "date": "FORMAT", "serviceId": "FORMAT"}, get(k, "?resourceId=x&date=2040-02-30&serviceId=x").Fields())
	require.Equal(t, map[string]string{"date": "FORMAT"}, get(k, "?resourceId="+r+"&date=2040-01-03T00:00:00Z").Fields())
	get(other, "?date=2040-01-03&resourceId="+r).Fault(404, "RESOURCE_NOT_FOUND")
	get(k, "?date=2040-01-03&resourceId="+r+"&serviceId="+noID).Fault(404, "SERVICE_NOT_FOUND")
}

// On days on which clocks change, bookings fit the slots as on others.
func TestSlotsOnDaysOfClockChanges(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("timeZone", "Europe/Berlin", "slotStepMinutes", 60)
	for date, n := range map[string]int{"2041-03-31": 23, "2041-10-27": 25, "2041-06-01": 24} {
		slots := k.slots(r, date)
		require.Len(t, slots, n, date)
		for i, s := range slots {
			require.True(t, s.Free)
			if i > 0 {
				require.Equal(t, slots[i-1].EndAt, s.StartAt, "the day has no gaps and nothing twice")
			}
			k.book(r, s.StartAt.Format(time.RFC3339)).OK(201)
		}
		require.Empty(t, clocks(k.slots(r, date), free))
	}
	// The night hours are one hour shorter in spring.
	night := k.resource("timeZone", "Europe/Berlin", "workingHours", []any{object{"weekday": 7, "from": "01:00", "to": "04:00"}})
	k.book(night, "2041-03-31T01:00:00+01:00", "durationMinutes", 120).OK(201)
	k.book(night, "2041-04-07T01:00:00+02:00", "durationMinutes", 180).OK(201)
	k.book(night, "2041-10-27T01:00:00+02:00", "durationMinutes", 240).OK(201)
	k.book(night, "2041-03-31T03:00:00+02:00", "durationMinutes", 61).Fault(409, "BOOKING_OUTSIDE_WORKING_HOURS")
}

// booked is a booking as the model knows it.
type booked struct {
	id         string
	start, end time.Time
	buffer     buffer
	status     string
}

// buffer is what is kept free before and after a booking.
type buffer struct{ before, after int }

func (b buffer) around(from, to time.Time) (time.Time, time.Time) {
	return from.Add(-time.Duration(b.before) * time.Minute), to.Add(time.Duration(b.after) * time.Minute)
}

func anyBuffer(rt *rapid.T) buffer {
	minutes := rapid.SampledFrom([]int{0, 0, 15, 20, 90})
	return buffer{minutes.Draw(rt, "before"), minutes.Draw(rt, "after")}
}

func (b buffer) fields() []any {
	return []any{"bufferBeforeMinutes", b.before, "bufferAfterMinutes", b.after}
}

// diary is a resource with its bookings.
type diary struct {
	kit

	resource string
	places   int
	buffer   buffer
	bookings []booked
}

// overlap is the largest number of bookings that take a place at one instant of the interval, all with their buffers, which is
// counted at the first instant of each.
func (c *diary) overlap(from, to time.Time, around buffer, except string) (most int) {
	from, to = around.around(from, to)
	instants := []time.Time{from}
	taken := slices.Clone(c.bookings)
	for i := range taken {
		b := &taken[i]
		if b.start, b.end = b.buffer.around(b.start, b.end); b.start.After(from) && b.start.Before(to) {
			instants = append(instants, b.start)
		}
	}
	for _, at := range instants {
		n := 0
		for _, b := range taken {
			if b.id != except && (b.status == "pending" || b.status == "confirmed" || b.status == "completed" || b.status == "held") && !at.Before(b.start) && at.Before(b.end) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// expect requires the answer that the model gives to a booking of the interval, and reports whether it is possible.
func (c *diary) expect(rt *rapid.T, got *apitest.Response, status int, from, to time.Time, around buffer, except string) bool {
	if c.overlap(from, to, around, except) < c.places {
		require.Equal(rt, status, got.Status, "%s", got.Body)
		return true
	}
	got.Fault(409, "BOOKING_SLOT_TAKEN")
	return false
}

// Random bookings, moves and changes of status and of buffers are answered as the model says: never more than parallelBookings,
// each with its buffers, overlap at any instant, and what slots report as free, and only that, can be booked.
func TestBookingsAgainstModel(t *testing.T) {
	t.Parallel()
	k := setup(t)
	instant := func(rt *rapid.T) time.Time {
		return day.Add(time.Duration(rapid.IntRange(0, 47).Draw(rt, "start")) * 15 * time.Minute)
	}
	length := func(rt *rapid.T) int { return rapid.SampledFrom([]int{5, 15, 30, 45, 60, 180}).Draw(rt, "minutes") }
	allowed := map[string][]string{
		"pending": {"confirmed", "completed", "no_show", "cancelled"}, "confirmed": {"completed", "no_show", "cancelled"}, "completed": {"no_show"}, "no_show": {"completed"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		k.expire() // those of earlier runs, of which a token has a number
		c := &diary{kit: k, places: rapid.IntRange(1, 3).Draw(rt, "places")}
		c.buffer = anyBuffer(rt)
		c.resource = k.resource(append(c.buffer.fields(), "parallelBookings", c.places, "slotStepMinutes", 60)...)
		careful := anyBuffer(rt)
		service := k.service(append(careful.fields(), "durationMinutes", 45)...)
		pick := func(rt *rapid.T) *booked {
			if len(c.bookings) == 0 {
				rt.Skip("no booking yet")
			}
			return &c.bookings[rapid.IntRange(0, len(c.bookings)-1).Draw(rt, "booking")]
		}
		pickBooking := func(rt *rapid.T) *booked {
			b := pick(rt)
			if b.status == "held" || b.status == "released" {
				rt.Skip("no booking")
			}
			return b
		}
		rt.Repeat(map[string]func(*rapid.T){
			"book": func(rt *rapid.T) {
				from, n := instant(rt), length(rt)
				to := from.Add(time.Duration(n) * time.Minute)
				got := k.book(c.resource, from.Format(time.RFC3339), "durationMinutes", n)
				if c.expect(rt, got, 201, from, to, c.buffer, "") {
					c.bookings = append(c.bookings, booked{got.OK(201)["id"].(string), from, to, c.buffer, "pending"})
				}
			},
			"book a service": func(rt *rapid.T) {
				from := instant(rt)
				to := from.Add(45 * time.Minute)
				got := k.book(c.resource, from.Format(time.RFC3339), "serviceId", service)
				if c.expect(rt, got, 201, from, to, careful, "") {
					c.bookings = append(c.bookings, booked{got.OK(201)["id"].(string), from, to, careful, "pending"})
				}
			},
			"hold": func(rt *rapid.T) {
				from, n := instant(rt), length(rt)
				to := from.Add(time.Duration(n) * time.Minute)
				got := k.hold(c.resource, from.Format(time.RFC3339), "durationMinutes", n)
				if c.expect(rt, got, 201, from, to, c.buffer, "") {
					c.bookings = append(c.bookings, booked{got.OK(201)["id"].(string), from, to, c.buffer, "held"})
				}
			},
			"book what is held": func(rt *rapid.T) { // with the buffers of now, which may no longer fit
				b := pick(rt)
				if b.status != "held" {
					rt.Skip("no hold")
				}
				got := k.book(c.resource, b.start.Format(time.RFC3339), "durationMinutes", int(b.end.Sub(b.start).Minutes()), "holdId", b.id)
				if c.expect(rt, got, 201, b.start, b.end, c.buffer, b.id) {
					b.id, b.buffer, b.status = got.OK(201)["id"].(string), c.buffer, "pending"
				}
			},
			"release": func(rt *rapid.T) {
				b := pick(rt)
				if b.status != "held" {
					rt.Skip("no hold")
				}
				require.Equal(rt, 204, k.Do(t, "DELETE", "/scheduling/holds/"+b.id, nil).Status)
				b.status = "released"
			},
			"change the buffers": func(rt *rapid.T) { // those of bookings stay until they are moved
				c.buffer = anyBuffer(rt)
				k.Do(t, "PATCH", "/scheduling/resources/"+c.resource, with(object{}, c.buffer.fields()...)).OK(200)
			},
			"reschedule": func(rt *rapid.T) {
				b, from, n := pickBooking(rt), instant(rt), length(rt)
				to := from.Add(time.Duration(n) * time.Minute)
				around := c.buffer
				if got := k.Do(t, "GET", "/scheduling/bookings/"+b.id, nil).OK(200); got["serviceId"] != nil {
					around = careful
				}
				got := k.Do(t, "PATCH", "/scheduling/bookings/"+b.id, object{"startAt": from, "durationMinutes": n})
				switch {
				case from.Equal(b.start) && to.Equal(b.end):
					got.OK(200)
				case b.status != "pending" && b.status != "confirmed":
					got.Fault(409, "BOOKING_FINALIZED")
				case c.expect(rt, got, 200, from, to, around, b.id):
					b.start, b.end, b.buffer = from, to, around
				}
			},
			"move": func(rt *rapid.T) {
				b, to := pickBooking(rt), rapid.SampledFrom([]string{"confirmed", "completed", "no_show", "cancelled"}).Draw(rt, "to")
				got := k.move(object{"id": b.id}, to)
				switch {
				case !slices.Contains(allowed[b.status], to) && (b.status != "no_show" || to != "completed"):
					got.Fault(409, "BOOKING_STATUS_TRANSITION_INVALID")
				case b.status == "no_show" && !c.expect(rt, got, 200, b.start, b.end, b.buffer, b.id):
				default:
					got.OK(200)
					b.status = to
				}
			},
			"": func(rt *rapid.T) {
				for i, s := range append(k.slots(c.resource, day.Format(time.DateOnly)), k.slots(c.resource, day.Format(time.DateOnly), "serviceId", service, "stepMinutes", "15")...) {
					around := c.buffer
					if i >= 24 {
						around = careful
					}
					most := c.overlap(s.StartAt, s.EndAt, around, "")
					require.LessOrEqual(rt, most, c.places)
					require.Equal(rt, c.places-most, s.Remaining)
					require.Equal(rt, most < c.places, s.Free)
				}
			},
		})
	})
}

// A slot that is reported as free can be booked, whatever the working hours, the time zone and the service.
func TestFreeSlotsCanBeBooked(t *testing.T) {
	t.Parallel()
	k := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		var hours []any
		for weekday := range 7 {
			from := rapid.IntRange(0, 1200).Draw(rt, "from")
			to := rapid.IntRange(from+1, 1440).Draw(rt, "to")
			hours = append(hours, object{"weekday": weekday + 1, "from": fmt.Sprintf("%02d:%02d", from/60, from%60), "to": fmt.Sprintf("%02d:%02d", to/60, to%60)})
		}
		r := k.resource("workingHours", hours, "timeZone", rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}).Draw(rt, "zone"),
			"slotStepMinutes", rapid.IntRange(5, 200).Draw(rt, "step"), "parallelBookings", rapid.IntRange(1, 2).Draw(rt, "places"))
		var query []string
		var fields []any
		if rapid.Bool().Draw(rt, "service") {
			s := k.service("durationMinutes", rapid.IntRange(1, 300).Draw(rt, "duration"))
			query, fields = []string{"serviceId", s}, []any{"serviceId", s}
		}
		date := rapid.SampledFrom([]string{"2041-03-31", "2041-10-27", "2041-04-07", "2041-11-03", "2041-03-10", "2041-06-05"}).Draw(rt, "date")
		for range 4 {
			slots := slices.DeleteFunc(k.slots(r, date, query...), noFree)
			if len(slots) == 0 {
				return
			}
			s := rapid.SampledFrom(slots).Draw(rt, "slot")
			made := k.book(r, s.StartAt.Format(time.RFC3339), fields...).OK(201)
			require.Equal(rt, s.EndAt.Format("2006-01-02T15:04:05.000Z"), made["endAt"])
		}
	})
}
