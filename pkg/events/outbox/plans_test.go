package outbox

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// The cached plans of the relay use the primary keys, whether its tables were empty or full when they were vacuumed.
func TestPlansDoNotDependOnTheLastVacuum(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("CockroachDB prints other plans")
	}
	cfg := d.Pool().Config().ConnConfig.Copy()
	cfg.Tracer = nil // what the test sends is not for both databases
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	exec := func(sql string) {
		_, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err, sql)
	}
	statements := []struct {
		name, sql, index string
		params           int
	}{
		{"scan", scanStatements(Stamp{})[db.PostgreSQL], "outbox_pkey", 4},
		{"probe", sqlProbePostgreSQL, "outbox_pkey", 3},
		{"remove", sqlDeleteRows.SQL(), "outbox_pkey", 6},
		{"lock", sqlLockHeads, "event_log_heads_pkey", 1},
		{"move", sqlMoveHeads.SQL(), "event_log_heads_pkey", 2},
		{"log", sqlInsertEvents.SQL(), "event_log_heads_pkey", 14},
	}
	exec("SET plan_cache_mode = force_generic_plan") // which a prepared statement gets after five runs
	for _, s := range statements {
		exec("PREPARE " + s.name + " AS " + s.sql)
	}
	for _, before := range []string{"VACUUM ANALYZE outbox, event_log_heads", "UPDATE event_log_heads SET n = n + 1", "UPDATE event_log_heads SET n = n + 1", "VACUUM ANALYZE event_log_heads", `INSERT INTO outbox (bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at)
SELECT g % 100, g, gen_random_uuid(), gen_random_uuid(), 'events', '', 'order.created', 'order', gen_random_uuid(), 1, '', '', '', now() FROM generate_series(1, 20000) AS g`, "VACUUM ANALYZE outbox"} {
		exec(before)
		for _, s := range statements {
			args := strings.TrimSuffix(strings.Repeat("NULL, ", s.params), ", ")
			rows, err := conn.Query(t.Context(), fmt.Sprintf("EXPLAIN EXECUTE %s (%s)", s.name, args), pgx.QueryExecModeSimpleProtocol)
			require.NoError(t, err, s.name)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, s.name)
			plan := strings.Join(lines, "\n")
			require.NotContains(t, plan, "Seq Scan", "%s after %s", s.name, before)
			require.Contains(t, plan, s.index, "%s after %s", s.name, before)
			require.Regexp(t, `Index Cond: \(+bucket = `, plan, "%s after %s: only the rows of the buckets", s.name, before)
		}
	}
}
