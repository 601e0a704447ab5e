package web

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A bound of a period is all of what it names: a day of the zone, whatever its length, a minute, or a moment.
func TestPeriodsIncludeTheirEnds(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for text, want := range map[string][2]string{
		"2026-11-27":                {"2026-11-26T23:00:00Z", "2026-11-27T22:59:59.999Z"},
		"2026-10-25":                {"2026-10-24T22:00:00Z", "2026-10-25T22:59:59.999Z"}, // 25 hours
		"2026-03-29":                {"2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z"}, // 23 hours
		"2026-11-27T23:59":          {"2026-11-27T22:59:00Z", "2026-11-27T22:59:59.999Z"},
		"2026-11-27T09:30:15+02:00": {"2026-11-27T07:30:15Z", "2026-11-27T07:30:15Z"},
	} {
		q := &Request{Zone: berlin, Form: url.Values{"from": {text}, "to": {text}}}
		p := q.Period("from", "to")
		require.True(t, p.Valid(), text)
		require.Equal(t, want, [2]string{p.From.UTC().Format(time.RFC3339Nano), p.To.UTC().Format(time.RFC3339Nano)}, text)
	}
	q := &Request{Zone: berlin, Form: url.Values{"from": {"soon"}}}
	p := q.Period("from", "to")
	require.False(t, p.Valid())
	require.True(t, p.To.IsZero(), "open")
}
