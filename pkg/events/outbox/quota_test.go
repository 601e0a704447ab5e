package outbox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// A company above its quota loses its oldest events, not those that deliveries may need, and no other company does.
func TestEventsAboveTheQuotaAreRemovedOldestFirst(t *testing.T) {
	t.Parallel()
	g := setup(t)
	loud, quiet := company(), company()
	r := g.relay("a", func(r *Relay) {
		r.cfg.EventQuota = 10_000
		r.quota = newQuota(r)
	})
	store := func(c tenant.ID, n int, age time.Duration, size int) {
		t.Helper()
		var all []Message
		for i := range n {
			m := message(uuid.New(), 1, nowMicro()+int64(i))
			m.CreatedAt = m.CreatedAt.Add(-age)
			m.Payload = []byte(`"` + strings.Repeat("x", size-2) + `"`)
			all = append(all, m)
		}
		g.append(c, all...)
	}
	counted := func() { // a moment after the rows are gone
		t.Helper()
		g.drained()
		require.Eventually(t, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return !slices.ContainsFunc(r.parts[:], func(p *part) bool { return p.busy || !p.settled() })
		}, eventually, time.Millisecond)
	}
	store(loud, 9, 72*time.Hour, 1000)
	store(quiet, 9, 72*time.Hour, 1000)
	stop := g.run(r)
	counted()
	store(loud, 8, time.Hour, 1000)
	counted()
	require.NoError(t, r.quota.Flush(t.Context()))
	ages := func(c tenant.ID) (old, young int) {
		t.Helper()
		entries, _, err := ReadLog(t.Context(), g.db, c, 0, 100, LogFilter{})
		require.NoError(t, err)
		for _, e := range entries {
			if time.Since(e.OccurredAt) > keepAlways {
				old++
			} else {
				young++
			}
		}
		return old, young
	}
	old, young := ages(loud)
	require.Equal(t, 0, old, "all of a batch goes")
	require.Equal(t, 8, young)
	used, _ := r.quota.Above(loud)
	require.EqualValues(t, 17_000, used, "as it was before")
	store(loud, 9, time.Hour, 1000)
	counted()
	require.NoError(t, r.quota.Flush(t.Context()))
	_, young = ages(loud)
	require.Equal(t, 17, young, "recent events stay, whatever the quota")
	used, above := r.quota.Above(loud)
	require.EqualValues(t, 17_000, used, "what was removed does not count, what was added does")
	require.True(t, above)
	old, _ = ages(quiet)
	require.Equal(t, 9, old)
	stop()

	state, err := ReadLogState(t.Context(), g.db, loud)
	require.NoError(t, err)
	floor := state.Floor
	require.Positive(t, floor.Seq)
	seen := time.Now().Add(-71 * time.Hour)
	for name, c := range map[string]struct {
		cursor Cursor
		missed bool
	}{
		"from the oldest":                   {Cursor{}, false},
		"behind the floor":                  {Cursor{After: floor.Seq - 1, Seen: floor.At.Add(-time.Hour)}, true},
		"log was empty then":                {Cursor{Seen: floor.At.Add(-time.Hour)}, true},
		"at the floor":                      {Cursor{After: floor.Seq, Seen: floor.At.Add(-time.Hour)}, false},
		"behind by position, not by time":   {Cursor{After: 1, Seen: seen.Add(24 * time.Hour)}, false},
		"seen while it was not visible yet": {Cursor{After: floor.Seq - 1, Seen: floor.At.Add(time.Minute)}, true},
	} {
		require.Equal(t, c.missed, floor.Missed(c.cursor), name)
	}
	state, err = ReadLogState(t.Context(), g.db, quiet)
	require.NoError(t, err)
	require.Zero(t, state.Floor)
	require.False(t, floor.Missed(Cursor{After: 1, Seen: seen}))
}
