package groupcommit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
)

var errBad = errors.New("bad")

// recorder stores nothing: it remembers the batches, and has them wait until it lets them go.
type recorder struct {
	mu      sync.Mutex
	batches [][]string
	gate    chan struct{}
}

func (r *recorder) commit(_ context.Context, batch []*groupcommit.Member[string]) (groupcommit.Outcome, error) {
	var all []string
	for _, m := range batch {
		all = append(all, m.What)
	}
	r.mu.Lock()
	r.batches = append(r.batches, all)
	r.mu.Unlock()
	<-r.gate
	if slices.Contains(all, "bad") {
		return groupcommit.Failed, errBad
	}
	return groupcommit.Ended, nil
}

// store has a member go to the group, and waits until it has found its place.
func store(t *testing.T, g *groupcommit.Group[string], company tenant.ID, what string, apart bool) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- g.Do(context.Background(), groupcommit.Key{Company: company}, apart, what) }()
	synctest.Wait()
	return done
}

// A key has as many transactions at a time as it may; the members of others share the next one with what is left.
func TestTransactionsOfAKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{gate: make(chan struct{})}
		g := groupcommit.New(groupcommit.Config{MaxBatch: 3, PerKey: 2, MaxRunning: 2}, r.commit)
		busy, other, apart := tenant.ID{1}, tenant.ID{2}, tenant.ID{3}
		var all []<-chan error
		for _, what := range []string{"1", "2", "3", "4"} {
			all = append(all, store(t, g, busy, what, false))
		}
		require.Equal(t, [][]string{{"1"}, {"2"}}, r.batches, "both that may be in flight")
		all = append(all, store(t, g, other, "5", false))
		all = append(all, store(t, g, apart, "6", true), store(t, g, apart, "7", true), store(t, g, apart, "8", true))
		require.Equal(t, [][]string{{"1"}, {"2"}, {"6"}, {"7"}}, r.batches)
		require.Equal(t, 2, g.Waiting(groupcommit.Key{Company: busy}))
		close(r.gate)
		for _, done := range all {
			require.NoError(t, <-done)
		}
		synctest.Wait()
		require.Equal(t, -1, g.Waiting(groupcommit.Key{Company: busy}))
		stored := slices.Concat(r.batches...)
		slices.Sort(stored)
		require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "8"}, stored)
		require.Contains(t, r.batches, []string{"3", "5"}, "none has more than half of a transaction while others wait")
	})
}

// A key whose member made a shared transaction fail does not share the next one, and comes in its turn.
func TestKeyThatFailsGoesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{gate: make(chan struct{})}
		g := groupcommit.New(groupcommit.Config{MaxBatch: 4, MaxRunning: 1}, r.commit)
		bad, good := tenant.ID{1}, tenant.ID{2}
		first := store(t, g, tenant.ID{3}, "first", false)
		var failed, fine []<-chan error
		for range 2 {
			failed = append(failed, store(t, g, bad, "bad", false))
			fine = append(fine, store(t, g, good, "good", false))
		}
		failed = append(failed, store(t, g, bad, "bad", false))
		fine = append(fine, store(t, g, good, "good", false))
		close(r.gate)
		require.NoError(t, <-first)
		for _, done := range failed {
			require.ErrorIs(t, <-done, errBad)
		}
		for _, done := range fine {
			require.NoError(t, <-done)
		}
		require.Equal(t, [][]string{{"first"}, {"bad", "bad", "good", "good"}, {"bad", "bad"}, {"bad"}, {"bad"}, {"good", "good"}, {"bad"}, {"good"}}, r.batches)
	})
}
