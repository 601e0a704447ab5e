package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// Statements find their rows by key although the statistics say that all tables are empty or, the other way round, that no
// delivery is open while half of them are. A table of few pages may be read as a whole, which costs less; its size is what
// the planner sees without statistics.
func TestPlansDoNotDependOnStatistics(t *testing.T) {
	t.Parallel()
	const subscriptions, each, batch = 20, 3000, 100
	d := dbtest.OpenNew(t)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("CockroachDB prints other plans")
	}
	ctx := t.Context()
	conn, err := d.Pool().Acquire(ctx)
	require.NoError(t, err)
	defer conn.Release()
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := conn.Exec(ctx, sql, args...)
		require.NoError(t, err, "%s", sql)
	}
	for _, table := range []string{"deliveries", "delivery_attempts", "webhook_subscriptions"} {
		exec("ALTER TABLE " + table + " SET (autovacuum_enabled = false)")
		exec("ANALYZE " + table)
	}
	company := uuid.New()
	exec(`INSERT INTO webhook_subscriptions (company_id, id, url, events, is_active, status, exclude_own_events, read_scopes, secret, created_by_id, version, ev_pos, created_at, updated_at)
SELECT $1, md5('s' || g)::UUID, 'https://example.com', '{}', true, 'active', false, '{}', '', $1, 1, 1, now(), now() FROM generate_series(1, $2::INT) AS g`, company, subscriptions)
	fill := func(from, state int) {
		exec(`INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT $1, md5('s' || s)::UUID, md5(s || '/' || g)::UUID, gen_random_uuid(), 'order.created', $4, 0, now(), now() + interval '22 hours', false, now(), now()
FROM generate_series(1, $2::INT) AS s, generate_series($5::INT, $5::INT + $3::INT - 1) AS g`, company, subscriptions, each, state, from)
	}
	exec(`INSERT INTO delivery_attempts (company_id, subscription_id, ring, seq, delivery_id, attempt, duration_ms, started_at)
SELECT $1, md5('s' || s)::UUID, g, g, gen_random_uuid(), 1, 1, now() FROM generate_series(1, $2::INT) AS s, generate_series(0, 99) AS g`, company, subscriptions)

	keys := make([][16]byte, 0, batch)
	subs := make([][16]byte, 0, batch)
	rows, err := conn.Query(ctx, `SELECT md5('s' || s)::UUID, md5(s || '/' || g)::UUID FROM generate_series(1, 20) AS s, generate_series(1, 5) AS g`)
	require.NoError(t, err)
	var sub, id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&sub, &id}, func() error {
		subs, keys = append(subs, sub), append(keys, id)
		return nil
	})
	require.NoError(t, err)
	now := time.Now().UTC()
	companies := repeated([16]byte(company), batch)
	small, times, numbers := repeated(int16(1), batch), repeated(now, batch), repeated(int32(200), batch)
	texts, bodies, seqs := repeated("x", batch), repeated([]byte("x"), batch), repeated(int64(1000), batch)
	statements := map[string]struct {
		sql  string
		args []any
	}{
		"insert missing": {sqlInsertMissing.SQL(), []any{companies, subs, keys, keys, texts, times, now, now, keys, seqs}},
		"follow":         {sqlInsertFollowing.SQL(), []any{companies, subs, keys, keys, texts, times, times}},
		"first":          {sqlUpsertNew.SQL(), []any{companies, subs, keys, keys, texts, small, small, times, times, numbers, bodies, texts, numbers, times, texts, times, now}},
		"states":         {sqlSelectDeliveryStates, []any{companies, subs, keys}},
		"progress":       {sqlSelectProgress, []any{companies, subs, keys}},
		"update":         {sqlUpdateDeliveries.SQL(), []any{companies, subs, keys, small, small, small, times, repeated(true, batch), numbers, bodies, texts, numbers, times, texts, now}},
		"succeeded":      {sqlUpdateSucceeded.SQL(), []any{companies, subs, keys, small, numbers, bodies, numbers, times, now}},
		"attempts":       {sqlUpsertAttempts.SQL(), []any{companies, subs, small, seqs, keys, small, numbers, texts, numbers, times}},
		"ends":           {sqlSelectSeqs, []any{companies[:20], subs[:20]}},
		"last times":     {sqlUpdateLastTimes.SQL(), []any{companies[:20], subs[:20], times[:20], times[:20]}},
		"breaker":        {sqlUpdateBreaker.SQL(), []any{company, sub, now, 1, now, now, now}},
		"bodies":         {sqlSelectBodies, []any{companies, subs, keys}},
		"reopen":         {sqlReopen.SQL(), []any{companies, subs, keys, times, now}},
		"close":          {sqlCloseFailed.SQL(), []any{companies, subs, keys, small, texts, now}},
		"fail open":      {sqlFailOpen.SQL(), []any{company, sub, now}},
		"open":           {sqlSelectOpen, []any{uuid.Nil, uuid.Nil, uuid.Nil, now, now, now, 500}},
		"receivers":      {sqlSelectReceivers, []any{companies[:20], subs[:20]}},
		"release kept":   {sqlReleaseKept.SQL(), []any{company, sub, 6, now}},
		"turn":           {sqlSelectTurn, []any{company, sub, id}},
		"next held":      {sqlSelectNextHeld, []any{companies, subs, keys, 16}},
		"unhold":         {sqlUnhold.SQL(), []any{company, sub}},
		"make due":       {sqlMakeDue.SQL(), []any{company, sub, id, now}},
		"skip":           {sqlSkip.SQL(), []any{company, sub, id, now}},
		"their states":   {sqlSelectReceiverStates, []any{companies[:20], subs[:20]}},
	}
	check := func(when string) {
		for name, st := range statements {
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				exec("SET plan_cache_mode = " + mode)
				plan := explain(t, conn.Conn(), st.sql, st.args)
				for _, wrong := range []string{"Seq Scan on deliveries", "Seq Scan on delivery_attempts"} {
					require.NotContains(t, plan, wrong, "%s, %s, %s", name, when, mode)
				}
				if name != "open" && name != "fail open" && name != "release kept" {
					require.NotContains(t, plan, "deliveries_open_idx", "%s, %s, %s: not by key", name, when, mode)
				}
			}
		}
	}
	fill(1, 2)
	check("analyzed while empty")
	exec("ANALYZE deliveries")
	fill(each+1, 0)
	check("analyzed before any delivery was open")
}

func repeated[T any](v T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// explain plans a statement as a prepared one.
func explain(t *testing.T, conn *pgx.Conn, sql string, args []any) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN "+sql, args...)
	require.NoError(t, err, "%s", sql)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, "%s", sql)
	return strings.Join(lines, "\n")
}
