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
func TestReadWithTimeoutSetsHowToPlan(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	if d.Dialect() != db.PostgreSQL {
		return // has no such settings
	}
	read := func(run func(b *pgx.Batch) error) []string {
		var plans, sorts, limit string
		b := &pgx.Batch{}
		b.Queue(`SELECT current_setting('plan_cache_mode'), current_setting('enable_sort'), current_setting('statement_timeout')`).
			QueryRow(func(row pgx.Row) error { return row.Scan(&plans, &sorts, &limit) })
		require.NoError(t, run(b))
		return []string{plans, sorts, limit}
	}
	outside := func(b *pgx.Batch) error { return d.SendBatch(t.Context(), b).Close() }
	before := read(outside)
	require.NotEqual(t, "7s", before[2])
	for p, want := range map[db.Plan][]string{db.PlanForValues: {"force_custom_plan", "on", "7s"}, db.PlanInOrder: {"force_generic_plan", "off", "7s"}} {
		require.Equal(t, want, read(func(b *pgx.Batch) error { return d.ReadWithTimeout(t.Context(), 7*time.Second, p, b) }))
		require.Equal(t, before, read(outside))
	}
}

func TestReadTimeoutEndsWhatTakesLong(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	b := &pgx.Batch{}
	b.Queue(`SELECT pg_sleep(60)`).Exec(func(pgconn.CommandTag) error { return nil })
	require.ErrorIs(t, d.ReadWithTimeout(t.Context(), 20*time.Millisecond, db.PlanForValues, b), db.ErrTooLong)
}
