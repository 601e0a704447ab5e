package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// A try reads the clock once, when it asks for the time; one after a try that may have been committed has the time of that one.
func TestTimeOfATry(t *testing.T) {
	t.Parallel()
	t.Run("rolled back", func(t *testing.T) {
		t.Parallel()
		testTimeOfTries(t, db.BeforeCommit, []int{0, 1, 2, 3})
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		notFound := func(context.Context, db.Querier) (bool, error) { return false, nil }
		testTimeOfTries(t, db.AfterCommit, []int{0, 0, 0, 0}, db.WithCommitCheck(notFound))
	})
}

func testTimeOfTries(t *testing.T, fails failpoint.Point, hours []int, opts ...db.Option) {
	t.Helper()
	start := time.Date(2026, 3, 1, 10, 0, 0, 123_456_789, time.FixedZone("", 3*60*60))
	var reads int
	d := failing(t, firstTimes(3, fails, sqlState("40001"))).WithClock(func() time.Time {
		reads++
		return start.Add(time.Duration(reads-1) * time.Hour)
	})
	company := uuid.New()
	var seen []time.Time
	run := func() {
		require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			seen = append(seen, tx.Now())
			require.Equal(t, tx.Now(), seen[len(seen)-1])
			tx.Queue(sqlTake, company)
			return nil
		}, opts...))
	}
	run()
	first := time.Date(2026, 3, 1, 7, 0, 0, 123_456_000, time.UTC)
	want := make([]time.Time, len(hours))
	for i, h := range hours {
		want[i] = first.Add(time.Duration(h) * time.Hour)
	}
	require.Equal(t, want, seen)

	seen = nil
	run()
	require.Equal(t, []time.Time{want[3].Add(time.Hour)}, seen, "the next transaction reads the clock again")
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
