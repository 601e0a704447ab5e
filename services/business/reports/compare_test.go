package reports

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

func TestDaysBefore(t *testing.T) {
	t.Parallel()
	day := func(text string) jsontype.Date {
		at, err := time.Parse(time.DateOnly, text)
		require.NoError(t, err)
		return jsontype.Date(at)
	}
	require.Nil(t, Days{From: day("2026-11-01"), To: day("2026-11-27")}.before())
	for _, c := range [][5]string{
		{"2026-11-27", "2026-11-27", "previous", "2026-11-26", "2026-11-26"},
		{"2026-11-01", "2026-11-27", "previous", "2026-10-05", "2026-10-31"},
		{"2026-11-01", "2026-11-27", "year", "2025-11-01", "2025-11-27"},
		{"2028-02-01", "2028-02-29", "year", "2027-02-01", "2027-02-28"},
		{"2028-02-29", "2028-03-01", "year", "2027-02-28", "2027-03-01"},
	} {
		require.Equal(t, &Days{From: day(c[3]), To: day(c[4])}, Days{From: day(c[0]), To: day(c[1]), Compare: c[2]}.before(), "%v", c)
	}
	for _, compare := range []string{"previous", "year"} {
		require.Error(t, Days{From: day("2000-01-01"), To: day("2000-01-31"), Compare: compare}.check())
		require.NoError(t, Days{From: day("2001-01-01"), To: day("2001-01-31"), Compare: compare}.check())
	}
}
