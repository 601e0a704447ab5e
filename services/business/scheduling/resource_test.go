package scheduling_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestLifeOfAResource(t *testing.T) {
	t.Parallel()
	k := kit{newServer(t, dbtest.Open(t)).Company(func(p *access.Principal) { p.Settings.TimeZone = "Asia/Tokyo" }), t}
	made := k.Do(t, "POST", "/scheduling/resources", `{"type":"seat","name":" Table 1 "}`)
	r := made.OK(201)
	at := "/scheduling/resources/" + r["id"].(string)
	require.Equal(t, "/api/external/v1"+at, made.Header.Get("Location"))
	require.Equal(t, object{
		"id": r["id"], "companyId": k.Principal.Company.String(), "type": "seat", "name": "Table 1", "description": nil, "branchId": nil, "userId": nil, "serviceIds": []any{}, "onlyListedServices": false,
		"capacity": nil, "parallelBookings": 1.0, "slotStepMinutes": 30.0, "bufferBeforeMinutes": 0.0, "bufferAfterMinutes": 0.0, "timeZone": "Asia/Tokyo", "workingHours": []any{}, "isActive": true, "color": nil,
		"photoFileId": nil, "sortOrder": 0.0, "version": 1.0, "createdAt": r["createdAt"], "updatedAt": r["updatedAt"],
	}, r)
	require.Equal(t, r, k.Do(t, "GET", at, nil).OK(200))
	one, two := k.service(), k.service()
	change := object{
		"type": "staff", "name": "Ann", "description": "d", "branchId": someone, "userId": someone, "serviceIds": []any{one, two}, "onlyListedServices": true, "capacity": 4.0, "parallelBookings": 2.0,
		"slotStepMinutes": 5.0, "bufferBeforeMinutes": 10.0, "bufferAfterMinutes": 15.0, "timeZone": "Europe/Berlin", "workingHours": []any{object{"weekday": 1.0, "from": "09:00", "to": "24:00"}}, "isActive": false,
		"color": "#112233", "sortOrder": -1.0,
	}
	changed := k.Do(t, "PATCH", at, change).OK(200)
	for field, want := range change {
		require.Equal(t, want, changed[field], field)
	}
	require.Equal(t, changed, k.Do(t, "PATCH", at, with(change, "serviceIds", []any{one, two, one})).OK(200), "repeated services are stored once")
	cleared := k.Do(t, "PATCH", at, `{"description":null,"branchId":null,"userId":null,"serviceIds":[],"capacity":null,"workingHours":[],"color":null}`).OK(200)
	for _, field := range []string{"description", "branchId", "userId", "capacity", "color"} {
		require.Nil(t, cleared[field], field)
	}
	require.Equal(t, []any{[]any{}, []any{}}, []any{cleared["serviceIds"], cleared["workingHours"]})
	k.Do(t, "PATCH", at, `{"name":"x"}`, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	require.Empty(t, k.events(), "resources raise no events")
}

func TestBadResources(t *testing.T) {
	t.Parallel()
	server := newServer(t, dbtest.Open(t))
	k, other := kit{server.Company(), t}, kit{server.Company(), t}
	for _, row := range []struct {
		body   any
		faults map[string]string
	}{
		{`{}`, map[string]string{"type": "REQUIRED", "name": "REQUIRED"}},
		{object{"type": "car", "name": " ", "capacity": 0, "parallelBookings": 0, "slotStepMinutes": 4, "timeZone": "", "color": "red", "branchId": "x"}, map[string]string{
			"type": "ENUM", "name": "LENGTH", "capacity": "MIN", "parallelBookings": "MIN", "slotStepMinutes": "MIN", "timeZone": "LENGTH", "color": "FORMAT", "branchId": "FORMAT",
		}},
		{object{"type": "staff", "name": "n", "timeZone": "Mars/Base", "workingHours": []any{object{"weekday": 1, "from": "10:00", "to": "09:00"}}}, map[string]string{
			"timeZone": "FORMAT", "workingHours[0].to": "MIN",
		}},
		{object{"type": "staff", "name": "n", "timeZone": "Local"}, map[string]string{"timeZone": "FORMAT"}},
		{object{"type": "staff", "name": "n", "workingHours": []any{object{"weekday": 8, "from": "24:00", "to": "24:01"}, object{"weekday": 0, "from": "9:00", "to": "00:60"}}}, map[string]string{
			"workingHours[0].weekday": "MAX", "workingHours[0].from": "FORMAT", "workingHours[0].to": "FORMAT",
			"workingHours[1].weekday": "MIN", "workingHours[1].from": "FORMAT", "workingHours[1].to": "FORMAT",
		}},
	} {
		require.Equal(t, row.faults, k.Do(t, "POST", "/scheduling/resources", row.body).Fields())
	}
	foreign := other.service()
	own := k.resource()
	for field, row := range map[string]struct {
		value any
		code  string
		id    string
		path  string
	}{
		"branchId":   {noID, "BRANCH_NOT_FOUND", noID, "branchId"},
		"userId":     {noID, "USER_NOT_FOUND", noID, "userId"},
		"serviceIds": {[]any{k.service(), foreign}, "SERVICE_NOT_FOUND", foreign, "serviceIds[1]"},
	} {
		body := object{"type": "staff", "name": "n", field: row.value}
		require.Equal(t, object{"field": row.path, "id": row.id}, k.Do(t, "POST", "/scheduling/resources", body).Fault(404, row.code)["meta"])
		require.Equal(t, object{"field": row.path, "id": row.id}, k.Do(t, "PATCH", "/scheduling/resources/"+own, body).Fault(404, row.code)["meta"])
	}
	for _, method := range []string{"GET", "PATCH"} {
		other.Do(t, method, "/scheduling/resources/"+own, object{}).Fault(404, "RESOURCE_NOT_FOUND")
	}
	require.Equal(t, map[string]string{"name": "TYPE", "timeZone": "TYPE", "isActive": "TYPE"},
		k.Do(t, "PATCH", "/scheduling/resources/"+own, `{"name":null,"timeZone":null,"isActive":null}`).Fields())
}

type listedResource struct {
	ID, Name, Type string
	ServiceIDs     []string
	IsActive       bool
}

func TestResourceListAgainstModel(t *testing.T) {
	t.Parallel()
	k := setup(t)
	one, two := k.service(), k.service()
	var all []listedResource
	for i := range 24 {
		var r listedResource
		k.Do(t, "POST", "/scheduling/resources", object{
			"type": []string{"staff", "seat", "unit", "equipment"}[i%4], "name": fmt.Sprintf("%s %d", []string{"Ann", "bob", "Änne"}[i%3], i%5),
			"serviceIds": []any{[]any{}, []any{one}, []any{one, two}}[i%3], "isActive": i%5 > 0,
		}).Decode(&r)
		all = append(all, r)
	}
	byName := collate.New(language.Und)
	rapid.Check(t, func(rt *rapid.T) {
		v := url.Values{"pageSize": {"200"}}
		draw := func(name string, values ...string) string {
			value := rapid.SampledFrom(values).Draw(rt, name)
			if value != "" {
				v.Set(name, value)
			}
			return value
		}
		sort, order := draw("sort", "", "name", "type", "createdAt"), draw("order", "", "asc", "desc")
		kind, service := draw("type", "", "staff", "seat,unit", "equipment"), draw("serviceId", "", one, two, noID)
		active, search := draw("activeOnly", "", "true", "false"), draw("search", "", "ANN", "nn", "nobody")
		want := []listedResource{}
		for _, r := range all {
			if (kind == "" || slices.Contains(strings.Split(kind, ","), r.Type)) && (service == "" || len(r.ServiceIDs) == 0 || slices.Contains(r.ServiceIDs, service)) &&
				(active != "true" || r.IsActive) && strings.Contains(strings.ToLower(r.Name), strings.ToLower(search)) {
				want = append(want, r)
			}
		}
		slices.SortFunc(want, func(a, b listedResource) int {
			n := cmp.Compare(a.ID, b.ID)
			switch sort {
			case "name":
				n = cmp.Or(byName.CompareString(a.Name, b.Name), n)
			case "type":
				n = cmp.Or(cmp.Compare(a.Type, b.Type), n)
			}
			if order == "desc" || order == "" && sort == "" {
				return -n
			}
			return n
		})
		var got struct {
			Items []listedResource
			Total int
		}
		k.Do(t, "GET", "/scheduling/resources?"+v.Encode(), nil).Decode(&got)
		require.Equal(rt, want, got.Items, v.Encode())
		require.Equal(rt, len(want), got.Total)
	})
	require.Equal(t, map[string]string{"type[0]": "ENUM", "sort": "ENUM", "activeOnly": "TYPE", "serviceId": "FORMAT"},
		k.Do(t, "GET", "/scheduling/resources?type=car&sort=color&activeOnly=yes&serviceId=x", nil).Fields())
}

// A resource keeps as many places as its bookings take at once.
func TestFewerPlacesThanBookings(t *testing.T) {
	t.Parallel()
	k := setup(t)
	r := k.resource("parallelBookings", 3)
	k.book(r, at("10:00"), "durationMinutes", 60).OK(201)
	k.book(r, at("10:30"), "durationMinutes", 60).OK(201)
	k.book(r, at("11:00"), "durationMinutes", 60).OK(201)
	places := func(n int) *apitest.Response {
		return k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"parallelBookings": n})
	}
	places(1).Fault(409, "BOOKING_SLOT_TAKEN")
	places(2).OK(200)
	b := k.book(r, at("20:00")).OK(201)
	places(1).Fault(409, "BOOKING_SLOT_TAKEN")
	for _, item := range k.Do(t, "GET", "/scheduling/bookings", nil).OK(200)["items"].([]any) {
		if item.(object)["id"] != b["id"] {
			k.move(item.(object), "cancelled").OK(200)
		}
	}
	places(1).OK(200)
}

// Empty serviceIds mean any service, as ever, unless only those that are listed count: then they mean none.
func TestOnlyListedServices(t *testing.T) {
	t.Parallel()
	k := setup(t)
	s := k.service("durationMinutes", 60)
	each, none := k.resource("slotStepMinutes", 60), k.resource("slotStepMinutes", 60, "onlyListedServices", true)
	k.book(each, at("10:00"), "serviceId", s).OK(201)
	k.book(each, at("12:00")).OK(201)
	require.Equal(t, []any{}, k.book(none, at("10:00"), "serviceId", s).Fault(409, "RESOURCE_SERVICE_MISMATCH")["meta"].(object)["allowed"])
	b := k.book(none, at("10:00")).OK(201)
	k.Do(t, "PATCH", path(b), object{"serviceId": s}).Fault(409, "RESOURCE_SERVICE_MISMATCH")
	k.hold(none, at("14:00"), "serviceId", s).Fault(409, "RESOURCE_SERVICE_MISMATCH")
	require.Empty(t, k.slots(none, "2040-01-03", "serviceId", s))
	require.Len(t, k.slots(none, "2040-01-03"), 24)
	found := func() (ids []string) {
		var page struct{ Items []struct{ ID string } }
		k.Do(t, "GET", "/scheduling/resources?order=asc&serviceId="+s, nil).Decode(&page)
		var available struct{ Resources []struct{ ResourceID string } }
		k.Do(t, "GET", "/scheduling/availability?dateFrom=2040-01-03&dateTo=2040-01-03&serviceId="+s, nil).Decode(&available)
		require.Len(t, available.Resources, len(page.Items))
		for _, r := range page.Items {
			ids = append(ids, r.ID)
		}
		return ids
	}
	require.Equal(t, []string{each}, found())
	change := func(ids ...any) {
		k.Do(t, "PATCH", "/scheduling/resources/"+none, object{"serviceIds": append([]any{}, ids...)}).OK(200)
	}
	change(s)
	require.Equal(t, []string{each, none}, found())
	require.Equal(t, map[string]string{"serviceId": "REQUIRED"}, k.book(none, at("16:00")).Fields())
	k.book(none, at("16:00"), "serviceId", s).OK(201)
	change()
	require.Equal(t, []string{each}, found(), "the last service removed does not mean all of them")
	k.book(none, at("18:00"), "serviceId", s).Fault(409, "RESOURCE_SERVICE_MISMATCH")
}
