package db_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// The settings of a reading end with it: the next user of the connection has those of the session.
func TestReadWithTimeoutPlansForValues(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	read := func(within bool) (plans, limit string) {
		b := &pgx.Batch{}
		b.Queue(`SELECT current_setting('plan_cache_mode'), current_setting('statement_timeout')`).QueryRow(func(row pgx.Row) error { return row.Scan(&plans, &limit) })
		if within {
			require.NoError(t, d.ReadWithTimeout(t.Context(), 7*time.Second, b))
		} else {
			require.NoError(t, d.SendBatch(t.Context(), b).Close())
		}
		return plans, limit
	}
	plans, limit := read(false)
	require.NotEqual(t, "7s", limit)
	inside, within := read(true)
	if d.Dialect() == db.PostgreSQL {
		require.Equal(t, "force_custom_plan", inside)
	}
	require.Equal(t, "7s", within)
	after, again := read(false)
	require.Equal(t, []string{plans, limit}, []string{after, again})
}

func TestReadTimeoutEndsWhatTakesLong(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	b := &pgx.Batch{}
	b.Queue(`SELECT pg_sleep(60)`).Exec(func(pgconn.CommandTag) error { return nil })
	require.ErrorIs(t, d.ReadWithTimeout(t.Context(), 20*time.Millisecond, b), db.ErrTooLong)
}
