package db_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestClockFarFromTheDatabaseIsNotReady(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for _, c := range []struct {
		offset time.Duration
		want   string // in the error; empty = ready
	}{
		{0, ""},
		{200 * time.Millisecond, ""},
		{-200 * time.Millisecond, ""},
		{5 * time.Second, "ahead of the database's, more than 500ms"},
		{-5 * time.Second, "behind the database's, more than 500ms"},
	} {
		clock := db.NewClock(d, func() time.Time { return time.Now().Add(c.offset) })
		err := clock.Check(t.Context())
		if c.want == "" {
			require.NoError(t, err, c.offset)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "time synchronisation")
	}
}

// What a slow answer leaves open is no reason to stop: it shows the database's load and not a wrong clock.
func TestClockOfASlowDatabaseIsReady(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	asked := 0
	clock := db.NewClock(d, func() time.Time {
		asked++
		if asked%2 == 1 {
			return time.Now()
		}
		return time.Now().Add(4 * time.Second)
	})
	require.NoError(t, clock.Check(t.Context()))
	require.Equal(t, 6, asked)
}

// A process that was not ready becomes ready when its clock is put right.
func TestClockIsComparedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		theirs := &told{}
		clock := db.NewClock(theirs, time.Now)
		theirs.offset.Store(int64(-time.Minute))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- clock.Run(ctx) }()
		synctest.Wait()
		require.ErrorContains(t, clock.Check(ctx), "1m0s ahead of the database's")
		theirs.offset.Store(0)
		<-time.After(11 * time.Second)
		synctest.Wait()
		require.NoError(t, clock.Check(ctx))
		cancel()
		require.NoError(t, <-done)
	})
}

// told is a database whose clock is off.
type told struct {
	db.Querier
	offset atomic.Int64 // a duration
}

func (d *told) QueryRow(context.Context, string, ...any) pgx.Row { return d }

func (d *told) Scan(to ...any) error {
	*to[0].(*time.Time) = time.Now().Add(time.Duration(d.offset.Load()))
	return nil
}
