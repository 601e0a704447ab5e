package scheduling_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestNewBooking(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r, s := k.resource(), k.service("durationMinutes", 45, "priceModel", "per_hour")
	client := k.customer("phone", "+49 30 12345678")
	made := k.book(r, "2040-01-03T10:00:00.1239+01:00", "serviceId", s, "customerEmail", "bo@example.com", "headcount", 3, "note", " n ", "externalId", "web-1", "customerPhone", "+49 30 12345678")
	b := made.OK(201)
	want := object{
		"id": b["id"], "companyId": k.Principal.Company.String(), "number": 1.0, "resourceId": r, "resourceName": "Ann", "serviceId": s, "serviceName": "Haircut",
		"clientId": client, "customerName": "Bo", "customerPhone": "+49 30 12345678", "customerEmail": "bo@example.com", "startAt": "2040-01-03T09:00:00.123Z",
		"endAt": "2040-01-03T09:45:00.123Z", "durationMinutes": 45.0, "bufferBeforeMinutes": 0.0, "bufferAfterMinutes": 0.0, "status": "pending", "headcount": 3.0, "price": 750.0, "note": "n", "source": "api",
		"cancelReason": nil, "externalId": "web-1", "metadata": object{}, "createdById": k.Principal.Actor.String(), "confirmedAt": nil, "completedAt": nil, "cancelledAt": nil, "publicUrl": nil,
		"version": 1.0, "createdAt": b["createdAt"], "updatedAt": b["updatedAt"],
	}
	require.Equal(t, want, b)
	require.Equal(t, "/api/external/v1"+path(b), made.Header.Get("Location"))
	require.Equal(t, b, k.Do(t, "GET", path(b), nil).OK(200))
	names, data := k.since(0)
	require.Equal(t, []string{"booking.created", "calendar.event.created"}, names)
	require.Equal(t, want, data["booking.created"])
	entry := data["calendar.event.created"]
	require.Equal(t, []any{"Haircut: Bo", "booking", b["startAt"], b["endAt"], r, b["id"], nil, client, "pending", false},
		[]any{entry["title"], entry["kind"], entry["startAt"], entry["endAt"], entry["resourceId"], entry["bookingId"], entry["dealId"], entry["clientId"], entry["status"], entry["allDay"]})

	told := k.book(r, at("18:00"), "source", "site", "externalId", "7").OK(201)
	require.Equal(t, told["id"], k.book(r, at("18:00"), "source", "site", "externalId", "7").Fault(409, "BOOKING_EXTERNAL_ID_TAKEN")["meta"].(object)["id"], "not as a slot that is taken")
	require.Equal(t, client, k.book(r, at("11:00"), "customerPhone", "30 123-45678").OK(201)["clientId"], "phone numbers are compared without their spelling")
	plain := k.book(r, at("12:00"), "customerPhone", "unknown").OK(201)
	require.Equal(t, []any{4.0, nil, nil, nil, nil, 30.0, at("12:30")},
		[]any{plain["number"], plain["serviceId"], plain["serviceName"], plain["price"], plain["clientId"], plain["durationMinutes"], plain["endAt"]}, "the step of the resource is the duration")
	long := k.book(r, at("13:00"), "durationMinutes", 90, "serviceId", s, "clientId", client).OK(201)
	require.Equal(t, []any{90.0, 1500.0, client}, []any{long["durationMinutes"], long["price"], long["clientId"]})
	open := k.service("priceModel", "per_minute")
	require.Equal(t, []any{30.0, 30000.0}, []any{k.book(r, at("15:00"), "serviceId", open).OK(201)["durationMinutes"], k.book(r, at("16:00"), "serviceId", open).OK(201)["price"]})
}

func TestBadBookings(t *testing.T) {
	t.Parallel()
	server := newServer(t, dbtest.Open(t))
	k, other := kit{server.Company(), t}, kit{server.Company(), t}
	require.Equal(t, map[string]string{"resourceId": "REQUIRED", "startAt": "REQUIRED", "customerName": "REQUIRED", "customerPhone": "REQUIRED"},
		k.Do(t, "POST", "/scheduling/bookings", `{}`).Fields())
	r := k.resource()
	require.Equal(t, map[string]string{
		"startAt": "FORMAT", "customerName": "LENGTH", "customerPhone": "LENGTH", "customerEmail": "FORMAT", "durationMinutes": "MIN", "headcount": "MIN", "serviceId": "FORMAT",
	}, k.book(r, "tomorrow", "customerName", " ", "customerPhone", "", "customerEmail", "x", "durationMinutes", 4, "headcount", 0, "serviceId", "x").Fields())
	require.Equal(t, map[string]string{"durationMinutes": "MAX"}, k.book(r, at("10:00"), "durationMinutes", 1441).Fields())

	s, bound := k.service(), k.resource("serviceIds", []any{k.service()})
	require.Equal(t, map[string]string{"serviceId": "REQUIRED"}, k.book(bound, at("10:00")).Fields())
	foreign := other.resource()
	for _, row := range []struct {
		got       *apitest.Response
		code      string
		field, id string
	}{
		{k.book(foreign, at("10:00")), "RESOURCE_NOT_FOUND", "resourceId", foreign},
		{k.book(r, at("10:00"), "serviceId", noID), "SERVICE_NOT_FOUND", "serviceId", noID},
		{k.book(r, at("10:00"), "clientId", noID), "CLIENT_NOT_FOUND", "clientId", noID},
	} {
		require.Equal(t, object{"field": row.field, "id": row.id}, row.got.Fault(404, row.code)["meta"])
	}
	archived := k.customer("phone", "gone")
	k.Do(t, "POST", "/clients/"+archived+"/archive", nil).OK(200)
	hidden := k.service("status", "hidden")
	off, small := k.resource("isActive", false), k.resource("capacity", 2)
	day := k.resource("workingHours", []any{object{"weekday": 2, "from": "09:00", "to": "17:00"}}, "timeZone", "Europe/Berlin")
	for _, row := range []struct {
		got  *apitest.Response
		code string
	}{
		{k.book(off, at("10:00")), "RESOURCE_INACTIVE"},
		{k.book(bound, at("10:00"), "serviceId", s), "RESOURCE_SERVICE_MISMATCH"},
		{k.book(r, at("10:00"), "serviceId", hidden), "CATALOG_ITEM_HIDDEN"},
		{k.book(r, at("10:00"), "clientId", archived), "CLIENT_ARCHIVED"},
		{k.book(r, time.Now().Add(-6*time.Minute).Format(time.RFC3339)), "BOOKING_IN_PAST"},
		{k.book(day, at("07:59")), "BOOKING_OUTSIDE_WORKING_HOURS"},
		{k.book(day, at("15:31")), "BOOKING_OUTSIDE_WORKING_HOURS"},
		{k.book(day, "2040-01-04T10:00:00Z"), "BOOKING_OUTSIDE_WORKING_HOURS"},
		{k.book(small, at("10:00"), "headcount", 3), "VENUE_CAPACITY_EXCEEDED"},
	} {
		row.got.Fault(409, row.code)
	}
	require.Empty(t, k.events())
	require.Empty(t, k.Do(t, "GET", "/scheduling/bookings", nil).OK(200)["items"])

	require.Equal(t, 1.0, k.book(day, at("08:00")).OK(201)["number"], "what was refused took no number")
	k.book(day, at("15:30")).OK(201)
	k.book(small, at("10:00"), "headcount", 2).OK(201)
	k.book(r, time.Now().Add(-4*time.Minute).Format(time.RFC3339)).OK(201)
	b := k.book(r, at("10:00")).OK(201)
	for _, call := range []string{"GET ", "PATCH ", "PATCH /status", "POST /confirm", "POST /complete", "POST /no-show", "POST /cancel"} {
		method, rest, _ := strings.Cut(call, " ")
		other.Do(t, method, path(b)+rest, object{"status": "confirmed"}).Fault(404, "BOOKING_NOT_FOUND")
	}
}

func TestSlotTaken(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("parallelBookings", 2)
	a := k.book(r, at("10:00"), "durationMinutes", 60).OK(201)
	k.book(r, at("10:30"), "durationMinutes", 60).OK(201)
	taken := k.book(r, at("10:45"), "durationMinutes", 5).Fault(409, "BOOKING_SLOT_TAKEN")
	require.Equal(t, object{"resourceId": r}, taken["meta"])
	k.book(r, at("09:00"), "durationMinutes", 91).Fault(409, "BOOKING_SLOT_TAKEN")
	k.book(r, at("11:00"), "durationMinutes", 30).OK(201)
	k.book(r, at("09:00"), "durationMinutes", 90).OK(201)
	k.book(r, at("11:00"), "durationMinutes", 5).Fault(409, "BOOKING_SLOT_TAKEN")
	k.move(a, "cancelled").OK(200)
	k.book(r, at("10:30"), "durationMinutes", 30).OK(201)
	k.book(k.resource(), at("10:30")).OK(201)
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s, other := k.service("durationMinutes", 30), k.service("durationMinutes", 60, "name", "Colour", "price", 5000)
	open := k.service("name", "Talk", "priceModel", "per_hour")
	r, second := k.resource(), k.resource("name", "Bob", "capacity", 2)
	bound := k.resource("serviceIds", []any{s})
	b := k.book(r, at("10:00"), "serviceId", s, "customerPhone", "1").OK(201)
	k.book(r, at("12:00")).OK(201)
	n := len(k.events())
	patch := func(fields ...any) *apitest.Response { return k.Do(t, "PATCH", path(b), with(object{}, fields...)) }

	patch("startAt", at("11:45")).Fault(409, "BOOKING_SLOT_TAKEN")
	patch("startAt", "2020-01-01T10:00:00Z").Fault(409, "BOOKING_IN_PAST")
	patch("resourceId", noID).Fault(404, "RESOURCE_NOT_FOUND")
	patch("resourceId", k.resource("isActive", false)).Fault(409, "RESOURCE_INACTIVE")
	patch("resourceId", bound, "serviceId", other).Fault(409, "RESOURCE_SERVICE_MISMATCH")
	require.Equal(t, map[string]string{"serviceId": "REQUIRED"}, patch("resourceId", bound, "serviceId", nil).Fields())
	patch("resourceId", second, "headcount", 3).Fault(409, "VENUE_CAPACITY_EXCEEDED")
	patch("serviceId", noID).Fault(404, "SERVICE_NOT_FOUND")
	patch("durationMinutes", 121).Fault(409, "BOOKING_SLOT_TAKEN")
	patch("startAt", nil, "resourceId", nil, "customerName", nil).Fields()
	k.Do(t, "PATCH", path(b), object{"startAt": at("11:00")}, apitest.Header{"If-Match", `"9"`}).Fault(412, "PRECONDITION_FAILED")
	require.Equal(t, b, k.Do(t, "GET", path(b), nil).OK(200))
	require.Len(t, k.events(), n)

	require.Equal(t, b, patch("startAt", b["startAt"], "durationMinutes", 30, "resourceId", r, "serviceId", s).OK(200), "the same values are no change")
	moved := patch("startAt", at("11:30")).OK(200)
	require.Equal(t, []any{at("11:30"), at("12:00"), 30.0, 1000.0, 2.0}, []any{moved["startAt"], moved["endAt"], moved["durationMinutes"], moved["price"], moved["version"]})
	names, data := k.since(n)
	require.Equal(t, []string{"booking.rescheduled", "calendar.event.updated"}, names)
	require.Equal(t, moved, data["booking.rescheduled"])
	require.Equal(t, at("11:30"), data["calendar.event.updated"]["startAt"])
	k.book(r, at("10:00")).OK(201)

	moved = patch("resourceId", second, "serviceId", other).OK(200)
	require.Equal(t, []any{"Bob", "Colour", 60.0, 5000.0, at("12:30")}, []any{moved["resourceName"], moved["serviceName"], moved["durationMinutes"], moved["price"], moved["endAt"]})
	moved = patch("serviceId", open).OK(200)
	require.Equal(t, []any{60.0, 1000.0}, []any{moved["durationMinutes"], moved["price"]}, "without a duration of the service the booking keeps its own")
	require.Equal(t, 1500.0, patch("durationMinutes", 90).OK(200)["price"])
	moved = patch("serviceId", nil).OK(200)
	require.Equal(t, []any{nil, nil, nil, 90.0}, []any{moved["serviceId"], moved["serviceName"], moved["price"], moved["durationMinutes"]})

	n = len(k.events())
	client := k.customer()
	changed := patch("customerPhone", "2", "customerEmail", "x@example.com", "note", "n", "headcount", 2, "externalId", "e").OK(200)
	require.Equal(t, []any{"2", "x@example.com", "n", 2.0, "e"}, []any{changed["customerPhone"], changed["customerEmail"], changed["note"], changed["headcount"], changed["externalId"]})
	require.Len(t, k.events(), n, "what is neither time nor place has no event")
	patch("headcount", 3).Fault(409, "VENUE_CAPACITY_EXCEEDED")
	patch("customerName", "Zoe", "clientId", client).OK(200)
	names, data = k.since(n)
	require.Equal(t, []string{"calendar.event.updated"}, names)
	require.Equal(t, []any{"Zoe", client}, []any{data["calendar.event.updated"]["title"], data["calendar.event.updated"]["clientId"]})
	cleared := patch("customerEmail", nil, "note", nil, "headcount", nil, "externalId", nil, "clientId", nil).OK(200)
	for _, field := range []string{"customerEmail", "note", "headcount", "externalId", "clientId"} {
		require.Nil(t, cleared[field], field)
	}
}

// A booking that began can still be made longer, and keeps a service that is hidden meanwhile and a resource that is not
// active any more.
func TestWhatBookingsKeep(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r, s := k.resource(), k.service("durationMinutes", 30)
	b := k.book(r, time.Now().Add(-4*time.Minute).Format(time.RFC3339), "serviceId", s).OK(201)
	k.Do(t, "DELETE", "/catalog/services/"+s, nil).OK(200)
	k.Do(t, "PATCH", path(b), object{"durationMinutes": 40}).OK(200)
	k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"isActive": false, "serviceIds": []any{k.service()}}).OK(200)
	k.Do(t, "PATCH", path(b), object{"note": "x"}).OK(200)
	k.Do(t, "PATCH", path(b), object{"durationMinutes": 50}).Fault(409, "RESOURCE_INACTIVE")
}

func TestStatusMoves(t *testing.T) {
	t.Parallel()
	all := []string{"pending", "confirmed", "completed", "no_show", "cancelled"}
	allowed := map[string][]any{
		"pending": {"confirmed", "completed", "no_show", "cancelled"}, "confirmed": {"completed", "no_show", "cancelled"},
		"completed": {"no_show"}, "no_show": {"completed"}, "cancelled": {},
	}
	commands := map[string]string{"confirmed": "/confirm", "completed": "/complete", "no_show": "/no-show", "cancelled": "/cancel"}
	k := setup(t)
	for _, from := range all {
		for _, to := range all[1:] {
			for _, command := range []bool{false, true} {
				b := k.book(k.resource(), at("10:00")).OK(201)
				if from != "pending" {
					b = k.move(b, from).OK(200)
				}
				n := len(k.events())
				var got *apitest.Response
				if command {
					got = k.Do(t, "POST", path(b)+commands[to], nil)
				} else {
					got = k.move(b, to)
				}
				if !slices.Contains(allowed[from], any(to)) {
					require.Equal(t, object{"from": from, "to": to, "allowed": allowed[from]}, got.Fault(409, "BOOKING_STATUS_TRANSITION_INVALID")["meta"], "%s → %s", from, to)
					require.Len(t, k.events(), n)
					require.Equal(t, b, k.Do(t, "GET", path(b), nil).OK(200))
					continue
				}
				now := got.OK(200)
				require.Equal(t, to, now["status"])
				require.EqualValues(t, b["version"].(float64)+1, now["version"])
				require.Equal(t, to == "completed", now["completedAt"] != nil)
				require.Equal(t, to == "cancelled", now["cancelledAt"] != nil)
				require.Equal(t, to == "confirmed" || from == "confirmed", now["confirmedAt"] != nil)
				names, data := k.since(n)
				want := []string{"booking." + to, "booking.status_changed"}
				if to == "cancelled" {
					want = append(want, "calendar.event.deleted")
					require.Equal(t, b["id"], data["calendar.event.deleted"]["bookingId"])
				}
				require.Equal(t, want, names)
				require.Equal(t, now, data["booking."+to])
				require.Equal(t, from, data["booking.status_changed"]["previousStatus"])
				delete(data["booking.status_changed"], "previousStatus")
				require.Equal(t, now, data["booking.status_changed"])
			}
		}
	}
	b := k.book(k.resource(), at("10:00")).OK(201)
	require.Equal(t, map[string]string{"status": "ENUM"}, k.move(b, "pending").Fields())
	require.Equal(t, map[string]string{"status": "REQUIRED"}, k.Do(t, "PATCH", path(b)+"/status", object{}).Fields())
	k.Do(t, "POST", path(b)+"/confirm", nil, apitest.Header{"If-Match", `"3"`}).Fault(412, "PRECONDITION_FAILED")
	require.Equal(t, "ill", k.Do(t, "POST", path(b)+"/cancel", object{"reason": "ill"}).OK(200)["cancelReason"])
	b = k.book(k.resource(), at("10:00")).OK(201)
	require.Equal(t, "late", k.Do(t, "PATCH", path(b)+"/status", object{"status": "cancelled", "reason": "late"}).OK(200)["cancelReason"])
}

func TestNoShowFreesTheSlotUntilItIsCorrected(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource()
	b := k.book(r, at("10:00")).OK(201)
	k.move(b, "no_show").OK(200)
	other := k.book(r, at("10:15")).OK(201)
	k.move(b, "completed").Fault(409, "BOOKING_SLOT_TAKEN")
	k.Do(t, "POST", path(b)+"/complete", nil).Fault(409, "BOOKING_SLOT_TAKEN")
	k.move(other, "cancelled").OK(200)
	k.move(b, "completed").OK(200)
	k.book(r, at("10:15")).Fault(409, "BOOKING_SLOT_TAKEN")
	k.move(b, "no_show").OK(200)
	k.book(r, at("10:15")).OK(201)
}

func TestEndedBookingsStay(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for _, status := range []string{"completed", "no_show", "cancelled"} {
		b := k.book(k.resource(), at("10:00")).OK(201)
		k.move(b, status).OK(200)
		for field, value := range map[string]any{"startAt": at("11:00"), "durationMinutes": 45, "resourceId": k.resource(), "serviceId": k.service(), "headcount": 2} {
			require.Equal(t, object{"status": status}, k.Do(t, "PATCH", path(b), object{field: value}).Fault(409, "BOOKING_FINALIZED")["meta"], field)
		}
		n := len(k.events())
		require.Equal(t, "x", k.Do(t, "PATCH", path(b), object{"note": "x", "startAt": b["startAt"]}).OK(200)["note"])
		require.Len(t, k.events(), n)
	}
}

func TestReplayOfABooking(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r, key := k.resource(), apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	body := object{"resourceId": r, "startAt": at("10:00"), "customerName": "Bo", "customerPhone": "1"}
	first := k.Do(t, "POST", "/scheduling/bookings", body, key)
	again := k.Do(t, "POST", "/scheduling/bookings", body, key)
	require.Equal(t, first.OK(201), again.OK(201))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	require.Len(t, k.events(), 2)
	key[1] = uuid.NewString()
	k.Do(t, "POST", "/scheduling/bookings", body, key).Fault(409, "BOOKING_SLOT_TAKEN")
	k.move(first.OK(201), "cancelled").OK(200)
	require.Equal(t, 2.0, k.Do(t, "POST", "/scheduling/bookings", body, key).OK(201)["number"], "a refusal leaves the key free and takes no number")
}
