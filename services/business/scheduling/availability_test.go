package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

type availability struct {
	Resources []struct {
		ResourceID, ResourceName, TimeZone string
		Days                               []struct {
			Date  string
			Slots []slot
		}
	}
}

func (k kit) find(query ...string) *apitest.Response {
	k.t.Helper()
	v := url.Values{}
	for i := 0; i < len(query); i += 2 {
		v.Set(query[i], query[i+1])
	}
	return k.Do(k.t, "GET", "/scheduling/availability?"+v.Encode(), nil)
}

func (k kit) availability(query ...string) (found availability) {
	k.t.Helper()
	got := k.find(query...)
	require.Equal(k.t, 200, got.Status, "%s", got.Body)
	got.Decode(&found)
	return found
}

// A search finds for each resource and day the slots that the list of that day has.
func TestAvailabilityAgreesWithSlots(t *testing.T) {
	t.Parallel()
	k := setup(t)
	brief, lengthy := k.service("durationMinutes", 20), k.service("durationMinutes", 90)
	var ids []string
	for i := range 6 {
		fields := []any{"name", fmt.Sprint("R", i), "sortOrder", i, "slotStepMinutes", 15 + 15*rand.IntN(3), "parallelBookings", 1 + rand.IntN(3)}
		fields = append(fields, "timeZone", []string{"Europe/Berlin", "America/New_York", "Asia/Tokyo"}[i%3])
		if i%2 == 0 {
			fields = append(fields, "workingHours", []any{
				object{"weekday": 1 + rand.IntN(3), "from": "08:00", "to": "12:30"}, object{"weekday": 4 + rand.IntN(3), "from": "00:00", "to": "24:00"},
			})
		}
		if i > 3 {
			fields = append(fields, "serviceIds", []any{brief})
		}
		ids = append(ids, k.resource(fields...))
	}
	first := time.Date(2040, 1, 2, 0, 0, 0, 0, time.UTC)
	for range 150 {
		at := first.Add(time.Duration(rand.IntN(8*24*12)) * 5 * time.Minute)
		k.book(ids[rand.IntN(4)], at.Format(time.RFC3339), "durationMinutes", 5+5*rand.IntN(30)) // many are refused
	}
	require.NoError(t, k.use(venue(ids[4], "10:59", "13:00")))
	long := venue(ids[5], "23:00", "23:30") // a deal may take a resource for days
	end := long.StartAt.AddDate(0, 0, 3)
	long.EndAt = &end
	require.NoError(t, k.use(long))
	from, to := first.Format(time.DateOnly), first.AddDate(0, 0, 6).Format(time.DateOnly)
	slots := 0
	for _, query := range [][]string{nil, {"serviceId", brief}, {"serviceId", lengthy}} {
		for _, freeOnly := range []string{"true", "false"} {
			found := k.availability(append([]string{"resourceIds", strings.Join(ids, ","), "dateFrom", from, "dateTo", to, "freeOnly", freeOnly}, query...)...)
			require.Len(t, found.Resources, len(ids))
			for i, r := range found.Resources {
				require.Equal(t, []string{ids[i], fmt.Sprint("R", i)}, []string{r.ResourceID, r.ResourceName})
				require.Len(t, r.Days, 7)
				for _, day := range r.Days {
					want := k.slots(r.ResourceID, day.Date, query...)
					if freeOnly == "true" {
						want = keep(want, free)
					}
					require.Equal(t, want, append([]slot{}, day.Slots...), "%s %s %v", r.ResourceName, day.Date, query)
					slots += len(want)
				}
			}
		}
	}
	require.Greater(t, slots, 1000)
	require.Len(t, k.availability("serviceId", lengthy, "dateFrom", from, "dateTo", from).Resources, 4, "those that provide it")
	require.Len(t, k.availability("serviceId", brief, "dateFrom", from, "dateTo", from).Resources, 6)
}

func keep(all []slot, which func(slot) bool) []slot {
	kept := []slot{}
	for _, s := range all {
		if which(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Days on which clocks change have an hour more or less, in both hemispheres: no slot is doubled or lost, and each can be booked.
func TestAvailabilityOnDaysOfClockChanges(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Sydney", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "Africa/Casablanca"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		changes := 0
		r := k.resource("timeZone", name, "slotStepMinutes", 30)
		for day := time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2041; day = day.AddDate(0, 0, 1) {
			length := localMidnight(day.AddDate(0, 0, 1), zone).Sub(localMidnight(day, zone))
			if length == 24*time.Hour {
				continue
			}
			changes++
			found := k.availability("resourceIds", r, "dateFrom", day.AddDate(0, 0, -1).Format(time.DateOnly), "dateTo", day.AddDate(0, 0, 1).Format(time.DateOnly))
			var all []slot
			for _, d := range found.Resources[0].Days {
				all = append(all, d.Slots...)
			}
			require.Equal(t, length, time.Duration(len(found.Resources[0].Days[1].Slots))*30*time.Minute, "%s %s", name, day)
			for i, s := range all {
				if i > 0 {
					require.Equal(t, all[i-1].EndAt, s.StartAt, "%s: the days have no gaps and nothing twice", name)
				}
			}
			for _, s := range found.Resources[0].Days[1].Slots {
				k.book(r, s.StartAt.Format(time.RFC3339)).OK(201)
			}
			again := k.availability("resourceIds", r, "dateFrom", day.Format(time.DateOnly), "dateTo", day.Format(time.DateOnly))
			require.Empty(t, again.Resources[0].Days[0].Slots)
		}
		require.Equal(t, 2, changes, name)
	}
}

// localMidnight is the instant at which a day begins: the first one of its date.
func localMidnight(day time.Time, zone *time.Location) time.Time {
	at := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, zone)
	for at.Add(-time.Minute).Day() == day.Day() {
		at = at.Add(-time.Minute)
	}
	return at
}

func TestAvailabilityParameters(t *testing.T) {
	t.Parallel()
	server := newServer(t, dbtest.Open(t))
	k, other := kit{server.Company(), t}, kit{server.Company(), t}
	r := k.resource("capacity", 4)
	days := []string{"dateFrom", "2040-01-02", "dateTo", "2040-01-03"}
	find := func(k kit, query ...string) *apitest.Response { return k.find(append(query, days...)...) }
	require.Equal(t, map[string]string{"dateFrom": "REQUIRED", "dateTo": "REQUIRED"}, k.find().Fields())
	require.Equal(t, map[string]string{"resourceIds": "REQUIRED"}, find(k).Fields())
	require.Equal(t, map[string]string{"dateFrom": "CONFLICT"}, k.find("resourceIds", r, "dateFrom", "2040-01-03", "dateTo", "2040-01-02").Fields())
	require.Equal(t, map[string]string{"dateTo": "MAX"}, k.find("resourceIds", r, "dateFrom", "2040-01-01", "dateTo", "2040-02-01").Fields())
	require.Len(t, k.availability("resourceIds", r, "dateFrom", "2040-01-01", "dateTo", "2040-01-31").Resources[0].Days, 31)
	require.Equal(t, "resourceIds[1]", find(k, "resourceIds", r+","+noID).Fault(404, "RESOURCE_NOT_FOUND")["meta"].(object)["field"])
	find(other, "resourceIds", r).Fault(404, "RESOURCE_NOT_FOUND")
	find(k, "serviceId", noID).Fault(404, "SERVICE_NOT_FOUND")

	none := func(query ...string) bool {
		slots := 0
		for _, day := range k.availability(append(append([]string{"resourceIds", r}, query...), days...)...).Resources[0].Days {
			slots += len(day.Slots)
		}
		return slots == 0
	}
	require.False(t, none("headcount", "4"))
	require.True(t, none("headcount", "5"))
	require.True(t, none("serviceId", k.service("status", "hidden")))
	day := k.availability("resourceIds", r, "durationMinutes", "480", "dateFrom", "2040-01-02", "dateTo", "2040-01-02").Resources[0].Days[0]
	require.Len(t, day.Slots, 3)
	k.Do(t, "PATCH", "/scheduling/resources/"+r, object{"isActive": false}).OK(200)
	require.True(t, none())

	var many []string
	for range 3 {
		many = append(many, k.resource("slotStepMinutes", 5))
	}
	month := []string{"resourceIds", strings.Join(many, ","), "dateFrom", "2040-01-01", "dateTo", "2040-01-31"}
	require.Equal(t, map[string]string{"dateTo": "MAX"}, k.find(month...).Fields(), "3 resources with 288 slots on 31 days")
}
