package webhooks

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// What the console asks once a second, or for each receiver of a list, is read by keys, also while the statistics say nothing.
func TestActivityAndChangeTokensAreReadByKey(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenNew(t)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("CockroachDB prints other plans")
	}
	company, sub, id := uuid.New(), uuid.New(), record.NewID()
	_, err := d.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, created_at, updated_at)
SELECT $1, md5('s' || s)::UUID, md5(s || '/' || g)::UUID, gen_random_uuid(), 'order.created', CASE WHEN g % 50 = 0 THEN 3 ELSE 2 END, 0, now(), now(), false, now(), now()
FROM generate_series(1, 20) AS s, generate_series(1, 3000) AS g`, company)
	require.NoError(t, err)
	now := time.Now()
	low, high := record.IDsBetween(now.Add(-time.Hour), now)
	subs := []uuid.UUID{sub, uuid.New()}
	for name, st := range map[string]struct {
		sql, index string
		args       []any
	}{
		"hours":           {sqlCountHours, "deliveries_pkey", []any{company, subs, []uuid.UUID{low}, []uuid.UUID{high}, 50}},
		"failed":          {sqlActivityFailed, "deliveries_failed_idx", []any{company, subs, low, 100}},
		"open":            {sqlActivityOpen, "deliveries_open_idx", []any{company, subs, 100}},
		"with deliveries": {sqlSelectWithDelivery, "deliveries_pkey", []any{company, sub, low, high, []uuid.UUID{id}}},
		"probe":           {sqlSelectProbe, "deliveries_open_idx", []any{company, sub, maxProbed, "record", 6}},
		"latest":          {sqlTokenLatest, "deliveries_pkey", []any{company, sub, lookedAt}},
		"again":           {sqlTokenAgain, "deliveries_again_idx", []any{company, sub, lookedAt}},
		"delivery":        {sqlTokenDelivery, "deliveries_pkey", []any{company, sub, id}},
		"event":           {sqlTokenEvent, "deliveries_pkey", []any{company, low, high, id}},
	} {
		for _, analyzed := range []bool{false, true} {
			if analyzed {
				_, err := d.Exec(t.Context(), `ANALYZE deliveries`)
				require.NoError(t, err)
			}
			rows, err := d.Query(t.Context(), "EXPLAIN "+st.sql, st.args...)
			require.NoError(t, err, name)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, name)
			plan := strings.Join(lines, "\n")
			require.NotContains(t, plan, "Seq Scan on deliveries", "%s:\n%s", name, plan)
			require.Contains(t, plan, st.index, "%s:\n%s", name, plan)
		}
	}
}
