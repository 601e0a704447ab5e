package scheduling

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

var zones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Havana", "America/St_Johns", "Australia/Lord_Howe", "Africa/Cairo",
	"Asia/Beirut", "Pacific/Chatham", "Africa/Casablanca", "Pacific/Apia", "America/Santiago", "Asia/Kolkata",
}

func utc(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04", text)
	require.NoError(t, err)
	return at
}

func date(t *testing.T, text string) jsontype.Date {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	require.NoError(t, err)
	return jsontype.Date(at)
}

// grid returns the times of a grid in UTC.
func gridOf(t *testing.T, r Resource, day string, step time.Duration) (out []string) {
	t.Helper()
	for _, i := range r.Schedule(nil).grid(date(t, day), step, step) {
		require.Equal(t, step, i.end.Sub(i.start))
		out = append(out, i.start.UTC().Format("15:04"))
	}
	return out
}

func hours(weekday int32, from, to string) WorkingHours { return WorkingHours{weekday, from, to} }

func TestGrid(t *testing.T) {
	t.Parallel()
	resource := func(zone string, hours ...WorkingHours) Resource {
		return Resource{ResourceFields: ResourceFields{TimeZone: zone, IsActive: true, ParallelBookings: 1, WorkingHours: hours}}
	}
	for _, row := range []struct {
		name     string
		resource Resource
		day      string
		step     time.Duration
		want     []string
	}{
		{"default hours", resource("UTC"), "2026-06-06", 4 * time.Hour, []string{"09:00", "13:00", "17:00"}},
		{"only slots that fit", resource("UTC", hours(1, "09:00", "10:40")), "2026-06-01", 30 * time.Minute, []string{"09:00", "09:30", "10:00"}},
		{"day off", resource("UTC", hours(1, "09:00", "10:40")), "2026-06-02", 30 * time.Minute, nil},
		{"sunday is the seventh", resource("UTC", hours(7, "09:00", "10:00")), "2026-06-07", time.Hour, []string{"09:00"}},
		{
			"each interval begins a grid, whatever their order", resource("UTC", hours(1, "12:10", "13:00"), hours(1, "09:05", "10:00")), "2026-06-01", 25 * time.Minute,
			[]string{"09:05", "09:30", "12:10", "12:35"},
		},
		{"whole day", resource("UTC", hours(1, "00:00", "24:00")), "2026-06-01", 12 * time.Hour, []string{"00:00", "12:00"}},
		{"too long", resource("UTC", hours(1, "09:00", "10:00")), "2026-06-01", 61 * time.Minute, nil},
		{"local day", resource("Asia/Tokyo", hours(1, "08:00", "10:00")), "2026-06-01", time.Hour, []string{"23:00", "00:00"}},
		{"spring: an hour less", resource("Europe/Berlin", hours(7, "00:00", "06:00")), "2026-03-29", time.Hour, []string{"23:00", "00:00", "01:00", "02:00", "03:00"}},
		{"spring: hours inside the gap", resource("Europe/Berlin", hours(7, "02:00", "03:00")), "2026-03-29", 30 * time.Minute, nil},
		{"spring: hours that begin in the gap", resource("Europe/Berlin", hours(7, "02:30", "04:00")), "2026-03-29", 30 * time.Minute, []string{"01:00", "01:30"}},
		{"autumn: an hour more", resource("Europe/Berlin", hours(7, "00:00", "04:00")), "2026-10-25", time.Hour, []string{"22:00", "23:00", "00:00", "01:00", "02:00"}},
		{"autumn: the repeated hour follows the first", resource("Europe/Berlin", hours(7, "02:00", "03:00")), "2026-10-25", 30 * time.Minute, []string{"00:00", "00:30", "01:00", "01:30"}},
		{
			"autumn: adjoining hours do not overlap", resource("Europe/Berlin", hours(7, "01:00", "02:30"), hours(7, "02:30", "04:00")), "2026-10-25", time.Hour,
			[]string{"23:00", "00:30", "01:30"},
		},
		{"a skipped midnight", resource("Africa/Cairo", hours(5, "00:00", "03:00")), "2026-04-24", time.Hour, []string{"22:00", "23:00"}},
		{"a skipped day", resource("Pacific/Apia", hours(5, "00:00", "24:00")), "2011-12-30", time.Hour, nil},
	} {
		require.Equal(t, row.want, gridOf(t, row.resource, row.day, row.step), row.name)
		row.resource.IsActive = false
		require.Empty(t, gridOf(t, row.resource, row.day, row.step), row.name)
	}
}

func TestIsOpen(t *testing.T) {
	t.Parallel()
	week := func(from, to string) (all []WorkingHours) {
		for day := range int32(7) {
			all = append(all, hours(day+1, from, to))
		}
		return all
	}
	berlin := func(hours ...WorkingHours) Resource {
		return Resource{ResourceFields: ResourceFields{TimeZone: "Europe/Berlin", WorkingHours: hours}}
	}
	for _, row := range []struct {
		name     string
		resource Resource
		from, to string
		want     bool
	}{
		{"exactly the hours", berlin(week("09:00", "18:00")...), "2026-06-01 07:00", "2026-06-01 16:00", true},
		{"begins early", berlin(week("09:00", "18:00")...), "2026-06-01 06:59", "2026-06-01 08:00", false},
		{"ends late", berlin(week("09:00", "18:00")...), "2026-06-01 15:00", "2026-06-01 16:01", false},
		{"across a break", berlin(append(week("09:00", "12:00"), week("13:00", "18:00")...)...), "2026-06-01 09:30", "2026-06-01 11:30", false},
		{"across adjoining hours", berlin(append(week("12:00", "18:00"), week("09:00", "12:00")...)...), "2026-06-01 09:30", "2026-06-01 11:30", true},
		{"across midnight", berlin(append(week("20:00", "24:00"), week("00:00", "04:00")...)...), "2026-06-01 20:00", "2026-06-02 01:00", true},
		{"across the break after midnight", berlin(append(week("20:00", "24:00"), week("00:00", "04:00")...)...), "2026-06-01 20:00", "2026-06-02 02:01", false},
		{"always open, across the night of spring", berlin(week("00:00", "24:00")...), "2026-03-28 20:00", "2026-03-29 20:00", true},
		{"always open, across the night of autumn", berlin(week("00:00", "24:00")...), "2026-10-24 20:00", "2026-10-25 20:00", true},
		{"the repeated hour", berlin(week("02:00", "03:00")...), "2026-10-25 00:00", "2026-10-25 02:00", true},
		{"after the repeated hour", berlin(week("02:00", "03:00")...), "2026-10-25 01:00", "2026-10-25 02:01", false},
		{"the skipped hour", berlin(week("02:00", "03:00")...), "2026-03-29 01:00", "2026-03-29 01:05", false},
		{"another weekday", berlin(hours(2, "09:00", "18:00")), "2026-06-01 08:00", "2026-06-01 09:00", false},
		{"default hours", berlin(), "2026-06-01 18:00", "2026-06-01 19:00", true},
		{"after default hours", berlin(), "2026-06-01 18:00", "2026-06-01 19:01", false},
		{
			"local weekday, not that of UTC",
			Resource{ResourceFields: ResourceFields{TimeZone: "Pacific/Auckland", WorkingHours: []WorkingHours{hours(1, "08:00", "10:00")}}},
			"2026-05-31 20:00", "2026-05-31 22:00", true,
		},
	} {
		require.Equal(t, row.want, row.resource.Schedule(nil).isOpen(interval{utc(t, row.from), utc(t, row.to)}), row.name)
	}
}

// Every slot of the grid lies within working hours, in all zones, on all days.
func TestSlotsAreOpen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := Resource{ResourceFields: ResourceFields{TimeZone: rapid.SampledFrom(zones).Draw(rt, "zone"), IsActive: true}}
		for day := range int32(7) {
			at := rapid.IntRange(0, 1380).Draw(rt, "from")
			to := rapid.IntRange(at+5, 1440).Draw(rt, "to")
			r.WorkingHours = append(r.WorkingHours, hours(day+1, fmt.Sprintf("%02d:%02d", at/60, at%60), fmt.Sprintf("%02d:%02d", to/60, to%60)))
		}
		day := time.Date(rapid.IntRange(2000, 2035).Draw(rt, "year"), 1, rapid.IntRange(1, 365).Draw(rt, "day"), 0, 0, 0, 0, time.UTC)
		step := time.Duration(rapid.IntRange(5, 120).Draw(rt, "step")) * time.Minute
		previous := time.Time{}
		for _, i := range r.Schedule(nil).grid(jsontype.Date(day), step, step) {
			require.True(rt, r.Schedule(nil).isOpen(i), "%v", i)
			require.False(rt, i.start.Before(previous), "the slots of one interval do not overlap")
			require.Equal(rt, day.Format(time.DateOnly), i.start.In(r.zone()).Format(time.DateOnly))
			previous = i.end
		}
	})
}

func TestCheckHours(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		hours []WorkingHours
		want  map[string]string
	}{
		{nil, map[string]string{}},
		{[]WorkingHours{hours(1, "09:00", "12:00"), hours(1, "12:00", "13:00"), hours(2, "10:00", "11:00")}, map[string]string{}},
		{[]WorkingHours{hours(1, "09:00", "09:00")}, map[string]string{"workingHours[0].to": apierr.Min}},
		{[]WorkingHours{hours(1, "22:00", "04:00")}, map[string]string{"workingHours[0].to": apierr.Min}},
		{[]WorkingHours{hours(1, "09:00", "12:00"), hours(1, "08:00", "09:01"), hours(1, "10:00", "11:00")}, map[string]string{"workingHours[1]": apierr.Conflict, "workingHours[2]": apierr.Conflict}},
	} {
		var faults apierr.Fields
		checkHours(&faults, "workingHours", row.hours)
		got := map[string]string{}
		for _, f := range faults {
			got[f.Field] = f.Code
		}
		require.Equal(t, row.want, got)
	}
}

func TestTaken(t *testing.T) {
	t.Parallel()
	noon := utc(t, "2026-06-01 12:00")
	at := func(from, to int) interval {
		return interval{noon.Add(time.Duration(from) * time.Minute), noon.Add(time.Duration(to) * time.Minute)}
	}
	uses := func(all ...interval) (out []use) {
		for _, i := range all {
			out = append(out, use{interval: i})
		}
		return out
	}
	for _, row := range []struct {
		name   string
		uses   []use
		during interval
		want   int32
	}{
		{"nothing", nil, at(0, 60), 0},
		{"adjoining", uses(at(-30, 0), at(60, 90)), at(0, 60), 0},
		{"inside", uses(at(10, 20)), at(0, 60), 1},
		{"around", uses(at(-10, 120)), at(0, 60), 1},
		{"one after the other take one place", uses(at(-10, 20), at(20, 40), at(40, 80)), at(0, 60), 1},
		{"two of three overlap", uses(at(-10, 20), at(10, 40), at(40, 80)), at(0, 60), 2},
		{"overlap before the interval only", uses(at(-30, 10), at(-20, -5)), at(0, 60), 1},
		{"overlap at its first instant", uses(at(-30, 10), at(-20, 1)), at(0, 60), 2},
		{"more than there are places", uses(at(0, 60), at(0, 60), at(0, 60), at(0, 60)), at(0, 60), 3},
		{"a deal takes all", []use{{at(59, 70), true}}, at(0, 60), 3},
		{"a deal at another time takes nothing", []use{{at(60, 70), true}}, at(0, 60), 0},
	} {
		require.Equal(t, row.want, occupancyOf(row.uses).most(row.during, 3), row.name)
	}
}

// The largest number of uses at one instant is the one that counting minute by minute finds.
func TestTakenAgainstModel(t *testing.T) {
	t.Parallel()
	start := utc(t, "2026-06-01 12:00")
	draw := func(rt *rapid.T, name string) (from, to int) {
		from = rapid.IntRange(0, 50).Draw(rt, name)
		return from, rapid.IntRange(from+1, 60).Draw(rt, name)
	}
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	rapid.Check(t, func(rt *rapid.T) {
		places := rapid.Int32Range(1, 6).Draw(rt, "places")
		counts := [60]int32{}
		var uses []use
		for range rapid.IntRange(0, 8).Draw(rt, "uses") {
			from, to := draw(rt, "use")
			whole := rapid.IntRange(0, 9).Draw(rt, "whole") == 0
			uses = append(uses, use{interval{minute(from), minute(to)}, whole})
			for m := from; m < to; m++ {
				counts[m]++
				if whole {
					counts[m] = 100
				}
			}
		}
		from, to := draw(rt, "during")
		var want int32
		for m := from; m < to; m++ {
			want = max(want, min(counts[m], places))
		}
		require.Equal(rt, want, occupancyOf(uses).most(interval{minute(from), minute(to)}, places))
	})
}

func TestPriceOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		model   string
		price   money.Amount
		minutes int64
		want    money.Amount
	}{
		{"fixed", 999, 45, 999},
		{"per_item", 999, 45, 999},
		{"per_hour", 1000, 60, 1000},
		{"per_hour", 1000, 45, 750},
		{"per_hour", 1, 30, 1},
		{"per_hour", 1, 29, 0},
		{"per_hour", 100, 5, 8},
		{"per_minute", 7, 45, 315},
		{"per_day", 500, 5, 500},
		{"per_day", 500, 1440, 500},
		{"per_day", 500, 1441, 1000},
	} {
		got, err := priceOf(trade.BookedService{PriceModel: row.model, Price: row.price}, row.minutes)
		require.NoError(t, err)
		require.Equal(t, row.want, got, "%v", row)
	}
	_, err := priceOf(trade.BookedService{PriceModel: "per_minute", Price: money.MaxAmount}, 2)
	require.ErrorIs(t, err, money.ErrOverflow)
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	all := []string{statusPending, statusConfirmed, statusCompleted, statusNoShow, statusCancelled}
	require.Len(t, transitions, len(all))
	require.Len(t, moves, len(all)-1)
	for _, status := range all {
		require.NotContains(t, transitions[status], status)
		require.NotContains(t, transitions[status], statusPending)
	}
}

// Hours between two instants are those of the working days, cut at the instants, also where a day has 23 or 25 hours.
func TestHoursBetween(t *testing.T) {
	t.Parallel()
	berlin := Resource{ResourceFields: ResourceFields{TimeZone: "Europe/Berlin", WorkingHours: []WorkingHours{hours(7, "00:00", "24:00"), hours(1, "09:00", "12:00"), hours(1, "13:00", "17:00")}}}
	for _, row := range []struct{ from, to, want string }{
		{"2026-06-07 22:00", "2026-06-08 22:00", "07-10 11-15"}, // a Monday in summer
		{"2026-06-08 08:00", "2026-06-08 12:00", "08-10 11-12"}, // within hours
		{"2026-03-28 23:00", "2026-03-29 22:00", "23-22"},       // a Sunday of 23 hours
		{"2026-10-24 22:00", "2026-10-25 23:00", "22-23"},       // one of 25
		{"2026-06-09 22:00", "2026-06-10 22:00", ""},            // a day off
		{"2026-06-06 20:00", "2026-06-08 08:00", "22-22 07-08"},
	} {
		var got []string
		for _, h := range berlin.Schedule(nil).HoursBetween(utc(t, row.from), utc(t, row.to)) {
			got = append(got, h.Start.UTC().Format("15")+"-"+h.End.UTC().Format("15"))
		}
		require.Equal(t, row.want, strings.Join(got, " "), row.from)
	}
}

// An exception gives a day the hours that the same working hours would, in all zones, also where clocks change; other days keep theirs.
func TestExceptionsAreWorkingHoursOfADay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(rt, "zone")
		resource := func(hours ...WorkingHours) Resource {
			return Resource{ResourceFields: ResourceFields{TimeZone: zone, IsActive: true, WorkingHours: hours}}
		}
		at := rapid.IntRange(0, 1380).Draw(rt, "from")
		to := rapid.IntRange(at+5, 1440).Draw(rt, "to")
		from, until := fmt.Sprintf("%02d:%02d", at/60, at%60), fmt.Sprintf("%02d:%02d", to/60, to%60)
		day := time.Date(rapid.IntRange(2000, 2035).Draw(rt, "year"), 1, rapid.IntRange(1, 365).Draw(rt, "day"), 0, 0, 0, 0, time.UTC)
		date, weekday := jsontype.Date(day), int32(day.Weekday()+6)%7+1
		exception := Exception{ExceptionFields: ExceptionFields{DateFrom: date, DateTo: date, Hours: []OpenHours{{from, until}}}}
		closed := Exception{ExceptionFields: ExceptionFields{DateFrom: date, DateTo: date}}

		weekly, special := resource(hours(weekday, from, until)).Schedule(nil), resource(hours(weekday%7+1, "00:00", "24:00")).Schedule([]Exception{exception})
		const step = 15 * time.Minute
		require.Equal(rt, weekly.grid(date, step, step), special.grid(date, step, step))
		next := jsontype.Date(day.AddDate(0, 0, 1))
		require.Equal(rt, resource(hours(weekday%7+1, "00:00", "24:00")).Schedule(nil).grid(next, step, step), special.grid(next, step, step))
		require.Empty(rt, resource(hours(weekday, from, until)).Schedule([]Exception{closed}).grid(date, step, step))
		for _, i := range special.grid(date, step, step) {
			require.True(rt, special.isOpen(i))
			require.False(rt, weekly.Schedule([]Exception{closed}).isOpen(i))
		}
	})
}
