package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Ranges end where months and years do, also where these have other lengths.
func TestRangesOfDays(t *testing.T) {
	t.Parallel()
	for day, want := range map[string]map[string][2]string{
		"2027-01-01": { // a Friday
			"today": {"2027-01-01", "2027-01-01"}, "yesterday": {"2026-12-31", "2026-12-31"}, "week": {"2026-12-28", "2027-01-01"},
			"lastWeek": {"2026-12-21", "2026-12-27"}, "days7": {"2026-12-26", "2027-01-01"}, "month": {"2027-01-01", "2027-01-01"}, "lastMonth": {"2026-12-01", "2026-12-31"},
		},
		"2026-03-31": { // a Tuesday
			"today": {"2026-03-31", "2026-03-31"}, "yesterday": {"2026-03-30", "2026-03-30"}, "week": {"2026-03-30", "2026-03-31"},
			"lastWeek": {"2026-03-23", "2026-03-29"}, "days7": {"2026-03-25", "2026-03-31"}, "month": {"2026-03-01", "2026-03-31"}, "lastMonth": {"2026-02-01", "2026-02-28"},
		},
		"2028-03-05": { // a Sunday after a leap day
			"today": {"2028-03-05", "2028-03-05"}, "yesterday": {"2028-03-04", "2028-03-04"}, "week": {"2028-02-28", "2028-03-05"},
			"lastWeek": {"2028-02-21", "2028-02-27"}, "days7": {"2028-02-28", "2028-03-05"}, "month": {"2028-03-01", "2028-03-05"}, "lastMonth": {"2028-02-01", "2028-02-29"},
		},
	} {
		at, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		got := map[string][2]string{}
		for _, one := range rangesOn(at.Add(23*time.Hour + 59*time.Minute)) {
			got[one.key] = [2]string{one.from.Format(time.DateOnly), one.to.Format(time.DateOnly)}
		}
		require.Equal(t, want, got, day)
	}
}
