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
