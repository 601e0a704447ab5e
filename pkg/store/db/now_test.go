package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Every try of a transaction sees the time that was read before the first one, although the clock goes on.
func TestTriesShareOneTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 10, 0, 0, 123_456_789, time.FixedZone("", 3*60*60))
	var reads int
	d := failing(t, firstTimes(3, db.BeforeCommit, sqlState("40001"))).WithClock(func() time.Time {
		reads++
		return start.Add(time.Duration(reads-1) * time.Hour)
	})
	company := uuid.New()
	var seen []time.Time
	run := func() {
		require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			seen = append(seen, tx.Now())
			tx.Queue(sqlTake, company)
			return nil
		}))
	}
	run()
	want := time.Date(2026, 3, 1, 7, 0, 0, 123_456_000, time.UTC)
	require.Equal(t, []time.Time{want, want, want, want}, seen)

	seen = nil
	run()
	require.Equal(t, []time.Time{want.Add(time.Hour)}, seen, "the next transaction reads the clock again")
}

// A test sets the clock of its own handle; others on the same pool keep theirs.
func TestWithClockLeavesOtherHandlesAlone(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	past := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	own := d.WithClock(func() time.Time { return past })
	require.Equal(t, past, own.Now())
	require.Same(t, d.Pool(), own.Pool())
	require.WithinDuration(t, time.Now(), d.Now(), time.Minute)
	require.Equal(t, time.UTC, d.Now().Location())
}

// What waits for the end of a transaction runs after its last try, whatever its outcome, and then sees what it did.
func TestOnEndRunsAfterTheTransaction(t *testing.T) {
	t.Parallel()
	d := failing(t, firstTimes(2, db.BeforeCommit, sqlState("40001")))
	company, ran, rows := uuid.New(), 0, 0
	require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		require.Zero(t, ran)
		tx.Queue(sqlTake, company)
		tx.OnEnd(func() {
			ran++
			require.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM counters WHERE company_id = $1`, company).Scan(&rows))
		})
		return nil
	}))
	require.Equal(t, 3, ran, "once for each try")
	require.Equal(t, 1, rows)
	refused := errors.New("refused")
	require.ErrorIs(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		tx.OnEnd(func() { ran++ })
		return refused
	}), refused)
	require.Equal(t, 4, ran)
}
