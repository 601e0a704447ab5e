package directories

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHoursAsPeopleTypeThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]interval{
		"":                      nil,
		" , ":                   nil,
		"9-12":                  {{2, "09:00", "12:00"}},
		"9:30–12:05, 13:00-24":  {{2, "09:30", "12:05"}, {2, "13:00", "24:00"}},
		"8 to 9; 10 .. 11":      {{2, "08:00", "09:00"}, {2, "10:00", "11:00"}},
		"late":                  {{2, "late", ""}},
		"25:00-26:00":           {{2, "25:00", "26:00"}}, // the API says what is wrong
		"09:00 – 12:00 – 13:00": {{2, "09:00", "12:00 – 13:00"}},
	} {
		require.Equal(t, want, hoursIn(text, 2), text)
	}
}

func TestRearranged(t *testing.T) {
	t.Parallel()
	made := func(ids ...string) (all []entry) {
		for _, id := range ids {
			all = append(all, entry{fields: map[string]any{"id": id}})
		}
		return all
	}
	ids := func(all []entry) (text string) {
		for _, e := range all {
			text += e.id()
		}
		return text
	}
	all := made("a", "b", "c")
	require.Equal(t, "bac", ids(rearranged(all, nil, "b", false)))
	require.Equal(t, "acb", ids(rearranged(all, nil, "b", true)))
	require.Equal(t, "abc", ids(rearranged(all, nil, "a", false)), "the first one stays")
	require.Equal(t, "abc", ids(rearranged(all, nil, "c", true)), "the last one stays")
	require.Equal(t, "cab", ids(rearranged(all, []string{"c", "x", "a"}, "", false)), "those that the order does not name are last")
	require.Equal(t, "abc", ids(all), "what is given stays")
}
