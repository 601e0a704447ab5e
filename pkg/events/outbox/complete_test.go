package outbox

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// A batch of which one event is in the log already, because it is published again, is completed nevertheless, and the others are
// logged.
func TestAnEventThatIsInTheLogHoldsNothingUp(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	messages, _ := history(record, 1, 5)
	logged := &messages[2]
	_, err := g.db.Exec(t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, 1000000, $2, $3, $4, $5, $6, $7, $8, $8::TIMESTAMPTZ + interval '30 days')`,
		c, logged.ID, logged.Name, logged.AggType, logged.AggID, logged.Version, logged.Payload, logged.CreatedAt)
	require.NoError(t, err)
	g.append(c, messages...)
	g.run(g.relay("a"))
	g.drained()
	require.Equal(t, []string{"1", "2", "4", "5", "3"}, g.logged(c))
	first, _ := versions(g.records("events"), record)
	require.Equal(t, []string{"1", "2", "3", "4", "5"}, first)
	var head int
	require.NoError(t, g.db.QueryRow(t.Context(), `SELECT n FROM event_log_heads WHERE bucket = $1`, Bucket(c)).Scan(&head))
	require.Equal(t, 4, head, "the log has no gap for it")
}

// The statement that deletes published rows takes time in proportion to them, however large the table was when it was analyzed.
func TestPublishedRowsAreNotComparedWithEachOther(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("CockroachDB prints other plans")
	}
	conn, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan") // which a prepared statement gets after five runs
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "PREPARE settle (INT4[], BIGINT, BIGINT, INT4[], BIGINT[], UUID[]) AS "+sqlDeleteRows.SQL())
	require.NoError(t, err)
	for _, before := range []string{"SELECT 1", "ANALYZE outbox", `INSERT INTO outbox (bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at)
SELECT g % 100, g, gen_random_uuid(), gen_random_uuid(), 'events', '', 'order.created', 'order', gen_random_uuid(), 1, '', '', '', now() FROM generate_series(1, 20000) AS g`, "ANALYZE outbox"} {
		_, err := conn.Exec(t.Context(), before)
		require.NoError(t, err)
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE settle ('{1}', 1, 20000, '{1, 1}', '{1, 101}', '{00000000-0000-4000-8000-000000000001, 00000000-0000-4000-8000-000000000002}')", pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		plan := strings.Join(lines, "\n")
		require.Contains(t, plan, "bucket = ANY ($1)", "%s: the generic plan", before)
		require.NotContains(t, plan, "Nested Loop", before)
		require.Contains(t, plan, "hashed SubPlan", before)
	}
}
