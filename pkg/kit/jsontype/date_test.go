package jsontype_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

func parsed(t *testing.T, layout, text string) time.Time {
	t.Helper()
	at, err := time.Parse(layout, text)
	require.NoError(t, err)
	return at
}

func minutes(t *testing.T, clock string) (n int) {
	t.Helper()
	var hour, minute int
	_, err := fmt.Sscanf(clock, "%d:%d", &hour, &minute)
	require.NoError(t, err)
	return 60*hour + minute
}

func TestDateAt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ zone, day, clock, want string }{
		{"UTC", "2026-06-01", "09:00", "2026-06-01 09:00"},
		{"Europe/Berlin", "2026-01-15", "09:00", "2026-01-15 08:00"},
		{"Europe/Berlin", "2026-07-15", "09:00", "2026-07-15 07:00"},
		{"Asia/Kathmandu", "2026-07-15", "09:00", "2026-07-15 03:15"},
		{"Pacific/Kiritimati", "2026-07-15", "09:00", "2026-07-14 19:00"},
		// Berlin, spring: 02:00 becomes 03:00 at 01:00 UTC.
		{"Europe/Berlin", "2026-03-29", "00:00", "2026-03-28 23:00"},
		{"Europe/Berlin", "2026-03-29", "01:59", "2026-03-29 00:59"},
		{"Europe/Berlin", "2026-03-29", "02:00", "2026-03-29 01:00"},
		{"Europe/Berlin", "2026-03-29", "02:30", "2026-03-29 01:00"},
		{"Europe/Berlin", "2026-03-29", "03:00", "2026-03-29 01:00"},
		{"Europe/Berlin", "2026-03-29", "03:01", "2026-03-29 01:01"},
		{"Europe/Berlin", "2026-03-29", "24:00", "2026-03-29 22:00"},
		{"Europe/Berlin", "2026-03-28", "24:00", "2026-03-28 23:00"},
		// Berlin, autumn: 03:00 becomes 02:00 at 01:00 UTC.
		{"Europe/Berlin", "2026-10-25", "01:59", "2026-10-24 23:59"},
		{"Europe/Berlin", "2026-10-25", "02:00", "2026-10-25 00:00"},
		{"Europe/Berlin", "2026-10-25", "02:30", "2026-10-25 00:30"},
		{"Europe/Berlin", "2026-10-25", "03:00", "2026-10-25 02:00"},
		{"Europe/Berlin", "2026-10-25", "24:00", "2026-10-25 23:00"},
		// New York, spring and autumn.
		{"America/New_York", "2026-03-08", "02:30", "2026-03-08 07:00"},
		{"America/New_York", "2026-11-01", "01:30", "2026-11-01 05:30"},
		{"America/New_York", "2026-11-01", "02:00", "2026-11-01 07:00"},
		// Lord Howe Island changes by half an hour.
		{"Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-03 15:30"},
		{"Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04 14:45"},
		{"Australia/Lord_Howe", "2026-04-05", "02:00", "2026-04-04 15:30"},
		// Cairo skips its midnight; Havana repeats the hour after it.
		{"Africa/Cairo", "2026-04-24", "00:00", "2026-04-23 22:00"},
		{"Africa/Cairo", "2026-04-23", "24:00", "2026-04-23 22:00"},
		{"Africa/Cairo", "2026-04-24", "01:00", "2026-04-23 22:00"},
		{"America/Havana", "2026-11-01", "00:30", "2026-11-01 04:30"},
		{"America/Havana", "2026-11-01", "01:00", "2026-11-01 06:00"},
		// Samoa skipped a whole day.
		{"Pacific/Apia", "2011-12-30", "12:00", "2011-12-30 10:00"},
		{"Pacific/Apia", "2011-12-31", "12:00", "2011-12-30 22:00"},
	} {
		got := jsontype.Date(parsed(t, time.DateOnly, row.day)).At(minutes(t, row.clock), location(t, row.zone))
		require.Equal(t, parsed(t, "2006-01-02 15:04", row.want), got, "%s %s %s", row.zone, row.day, row.clock)
	}
}

var zones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Havana", "America/St_Johns", "Australia/Lord_Howe", "Africa/Cairo",
	"Asia/Beirut", "Pacific/Chatham", "Africa/Casablanca", "Pacific/Apia", "America/Santiago", "Asia/Kolkata",
}

// A local day is divided by its minutes without gaps, and every instant of one shows that time on its clocks, unless clocks
// skip it.
func TestDateAtIsMonotonic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		zone := location(t, rapid.SampledFrom(zones).Draw(rt, "zone"))
		day := time.Date(rapid.IntRange(2000, 2035).Draw(rt, "year"), 1, rapid.IntRange(1, 365).Draw(rt, "day"), 0, 0, 0, 0, time.UTC)
		previous := jsontype.Date(day).At(0, zone)
		require.Equal(rt, jsontype.Date(day.AddDate(0, 0, -1)).At(24*60, zone), previous, "a day ends where the next one begins")
		for minute := 1; minute <= 24*60; minute++ {
			at := jsontype.Date(day).At(minute, zone)
			require.False(rt, at.Before(previous), "%s at %d", day, minute)
			wall := day.Add(time.Duration(minute) * time.Minute)
			shown := at.In(zone)
			_, offset := shown.Zone()
			local := at.Add(time.Duration(offset) * time.Second)
			_, earlier := at.Add(-time.Second).In(zone).Zone()
			if earlier >= offset { // no clock skipped anything at this instant
				require.Equal(rt, wall.Format(time.DateTime), local.Format(time.DateTime))
			} else {
				require.False(rt, local.Before(wall), "the instant of the change is the first that shows a later time")
			}
			previous = at
		}
	})
}
