package sender

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
)

// Each sender stores its own minutes, and what the database did not take comes with the next: nothing is counted twice or lost.
func TestAttemptsAreCountedByMinute(t *testing.T) {
	t.Parallel()
	d, log := dbtest.OpenNew(t), slog.New(slog.DiscardHandler)
	at := time.Now().UTC().Truncate(time.Minute)
	one, other := newCounts(d, log), newCounts(d, log)
	for _, o := range []outcome{success, success, retry, deadLetter, holdInDatabase} {
		one.add(o)
	}
	other.add(success)
	one.store(t.Context(), at)
	other.store(t.Context(), at)

	_, err := d.Exec(t.Context(), `ALTER TABLE attempt_counts RENAME TO attempt_counts_away`)
	require.NoError(t, err)
	one.add(success)
	one.store(t.Context(), at.Add(time.Minute))
	_, err = d.Exec(t.Context(), `ALTER TABLE attempt_counts_away RENAME TO attempt_counts`)
	require.NoError(t, err)
	one.add(deadLetter)
	again := one.unstored
	one.store(t.Context(), at.Add(2*time.Minute))
	require.Empty(t, one.unstored)
	require.NoError(t, store.UpsertAttemptCounts(t.Context(), d, one.sender, again), "the answer of the first try was lost")

	all, err := store.SumAttemptCounts(t.Context(), d, at)
	require.NoError(t, err)
	for i := range all {
		all[i].At = all[i].At.UTC()
	}
	require.Equal(t, []store.AttemptCount{
		{At: at, Delivered: 3, Retried: 2, Failed: 1}, {At: at.Add(time.Minute), Delivered: 1}, {At: at.Add(2 * time.Minute), Failed: 1},
	}, all)
	later, err := store.SumAttemptCounts(t.Context(), d, at.Add(time.Second))
	require.NoError(t, err)
	require.Len(t, later, 2)
}

// No minute comes twice, so that none is written over.
func TestMinutesOfCountsOnlyAdvance(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 9, 30, 10, 0, time.UTC)
	end := minuteAfter(at, time.Time{})
	require.Equal(t, at.Truncate(time.Minute).Add(time.Minute), end)
	require.Equal(t, end.Add(time.Minute), minuteAfter(end, end))
	require.Equal(t, end.Add(time.Minute), minuteAfter(at.Add(-time.Hour), end), "the clock was set back")
}
