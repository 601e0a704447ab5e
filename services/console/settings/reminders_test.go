package settings

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRemindersAsTyped(t *testing.T) {
	t.Parallel()
	form := func(was string, rows ...string) url.Values {
		f := url.Values{"was." + reminders: {was}}
		for i := 0; i < len(rows); i += 2 {
			f[reminderTime], f[reminderUnit] = append(f[reminderTime], rows[i]), append(f[reminderUnit], rows[i+1])
		}
		return f
	}
	for name, row := range map[string]struct {
		form    url.Values
		want    []any
		changed bool
	}{
		"no rows":              {form("1440"), []any{}, false},
		"as it was":            {form("1440,90", "1", "days", "90", "minutes", "", "hours"), []any{1440, 90}, false},
		"an hour later":        {form("1440", "1", "days", " 2 ", "hours"), []any{1440, 120}, true},
		"all removed":          {form("1440", "", "days"), []any{}, true},
		"no number":            {form("", "soon", "days"), []any{"soon"}, true},
		"too large to count":   {form("", "99999999999", "days"), []any{"99999999999"}, true},
		"a unit of nobody":     {form("", "1", "weeks"), []any{}, false},
		"more rows than there": {form("", "1", "days", "2", "days", "3", "days", "4", "days", "5", "days", "6", "days"), []any{1440, 2880, 4320, 5760, 7200}, true},
	} {
		got, changed := reminded(row.form)
		require.Equal(t, row.want, got, name)
		require.Equal(t, row.changed, changed, name)
	}
}

func TestMinutesInUnits(t *testing.T) {
	t.Parallel()
	for minutes, want := range map[int][2]string{1440: {"1", "days"}, 2880: {"2", "days"}, 120: {"2", "hours"}, 1500: {"25", "hours"}, 90: {"90", "minutes"}, 5: {"5", "minutes"}} {
		n, unit := inUnit(minutes)
		require.Equal(t, want, [2]string{n, unit})
	}
}
