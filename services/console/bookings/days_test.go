package bookings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

// A day of 23 hours has 92 rows, one of 25 has 100, and the hour that occurs twice says which one it is.
func TestDaysOnWhichClocksChange(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	for text, rows := range map[string]int{"2026-03-29": 92, "2026-06-07": 96, "2026-10-25": 100} {
		at, err := time.Parse(time.DateOnly, text)
		require.NoError(t, err)
		d := dayOf(at.Year(), at.Month(), at.Day(), berlin)
		require.Equal(t, rows, d.row(d.end, true), text)
		require.Equal(t, text, d.String())
		require.Equal(t, d.end, d.add(1).start, text)
	}
	spring := dayOf(2026, 3, 29, berlin)
	require.Equal(t, []string{"01:00", "03:00"}, []string{spring.clock(spring.at(4)), spring.clock(spring.at(8))}, "there is no 02:00")
	autumn := dayOf(2026, 10, 25, berlin)
	require.Equal(t, []string{"01:00", "02:00 CEST", "02:00 CET", "03:00"}, []string{autumn.clock(autumn.at(4)), autumn.clock(autumn.at(8)), autumn.clock(autumn.at(12)), autumn.clock(autumn.at(16))})
	midnight := dayOf(2026, 9, 6, zone(t, "America/Santiago")) // clocks go from 23:59 to 01:00
	require.Equal(t, "01:00", midnight.clock(midnight.start))
	require.Equal(t, 92, midnight.row(midnight.end, true))
}

func TestWeeksBeginOnMonday(t *testing.T) {
	t.Parallel()
	for _, date := range []int{23, 24, 25, 28, 29} {
		require.Equal(t, "2026-11-23", dayOf(2026, 11, date, time.UTC).monday().String())
	}
	require.Equal(t, "2026-11-30", dayOf(2026, 11, 30, time.UTC).monday().String())
	require.Equal(t, "2027-01-01", dayOf(2026, 12, 31, time.UTC).add(1).String())
}

func TestRowsOfInstants(t *testing.T) {
	t.Parallel()
	d := dayOf(2026, 11, 25, time.UTC)
	at := func(h, m int) time.Time {
		return d.start.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)
	}
	require.Equal(t, 36, d.row(at(9, 0), false))
	require.Equal(t, 36, d.row(at(9, 10), false), "a booking begins in the row of its start")
	require.Equal(t, 37, d.row(at(9, 10), true), "and ends behind the row of its end")
	require.Equal(t, 0, d.row(at(-2, 0), false), "one that began yesterday is cut")
	require.Equal(t, 96, d.row(at(30, 0), true))
}

func TestBookingsThatOverlapStandBesideEachOther(t *testing.T) {
	t.Parallel()
	d := dayOf(2026, 11, 25, time.UTC)
	booking := func(from, to int) scheduling.Booking {
		b := scheduling.Booking{EndAt: jsontype.At(d.start.Add(time.Duration(to) * time.Hour))}
		b.StartAt = jsontype.At(d.start.Add(time.Duration(from) * time.Hour))
		return b
	}
	require.Equal(t, []int{1, 2, 1, 2}, lanesOf([]scheduling.Booking{booking(9, 11), booking(10, 12), booking(11, 13), booking(12, 13)}))
	require.Equal(t, []int{1, 2, 3, 4, 4, 4}, lanesOf([]scheduling.Booking{booking(9, 11), booking(9, 11), booking(9, 11), booking(9, 11), booking(9, 11), booking(9, 11)}), "lanes are bounded")
	cleaned := booking(9, 11)
	cleaned.BufferAfterMinutes = 15
	require.Equal(t, []int{1, 2, 1}, lanesOf([]scheduling.Booking{cleaned, booking(11, 12), booking(12, 13)}), "what is kept free takes the lane as well")
	require.Empty(t, lanesOf(nil))
}

// In a week, rows are times of the clock, so that the days on which clocks change stand beside the others.
func TestRowsOfTheClock(t *testing.T) {
	t.Parallel()
	for _, date := range []string{"2026-03-29", "2026-06-07", "2026-10-25"} {
		at, err := time.Parse(time.DateOnly, date)
		require.NoError(t, err)
		d := dayOf(at.Year(), at.Month(), at.Day(), zone(t, "Europe/Berlin"))
		noon := d.sameClock(time.Date(2026, 1, 15, 12, 10, 0, 0, d.zone))
		require.Equal(t, "12:10", d.clock(noon), date)
		require.Equal(t, []int{48, 49}, []int{d.clockRow(noon, false), d.clockRow(noon, true)}, date)
		require.Equal(t, []int{0, 0, 96}, []int{d.clockRow(d.start.Add(-time.Hour), true), d.clockRow(d.start, false), d.clockRow(d.end, false)}, date)
	}
	require.Equal(t, []string{"00:00", "12:15"}, []string{clockOfRow(0), clockOfRow(49)})
}
