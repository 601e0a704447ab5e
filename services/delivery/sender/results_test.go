package sender

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What arrives while a batch is written waits for more, unless it fills a batch itself: under load, each transaction would
// otherwise store only what came during the one before.
func TestResultsThatAreFewWaitForMore(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		queued, worth int
		waits, wakes  bool
	}{
		"none":             {0, 500, true, false},
		"few":              {499, 500, true, true},
		"a batch":          {500, 500, false, false},
		"none at the end":  {0, 1, true, false},
		"some at the end":  {1, 1, false, false},
		"many at the end":  {700, 1, false, false},
		"more than batch":  {900, 500, false, false},
		"one before limit": {1, 2, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newResults(ResultsConfig{}, nil, slog.New(slog.DiscardHandler), time.Now)
			r.queue = make([]*result, row.queued)
			require.Equal(t, row.waits, r.wait(row.worth))
			require.Equal(t, row.wakes, len(r.wake) == 1)
		})
	}
}

// The row of a subscription is not written with every batch, but what tells whether its receiver works is.
func TestLastTimesAreStoredNowAndThen(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	}
	never := time.Time{}
	for name, row := range map[string]struct {
		now, stored, other time.Time
		due                bool
	}{
		"the first":                   {at(0), never, never, true},
		"none":                        {never, at(0), never, false},
		"the next":                    {at(9.9), at(0), never, false},
		"after a while":               {at(10), at(0), never, true},
		"the next, before the other":  {at(5), at(3), at(2), false},
		"the first after the other":   {at(5), at(3), at(4), true},
		"in turns, within the second": {at(3.9), at(3), at(3.5), false},
	} {
		require.Equal(t, row.due, due(row.now, row.stored, row.other), name)
	}
}
