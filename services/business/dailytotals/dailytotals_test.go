package dailytotals_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// Sums of 1 that take longer than a statement may if they are of more than two hours, and of any time.
const (
	sqlSlowWhole = `SELECT 'k', count(*) FROM (SELECT pg_sleep(CASE WHEN $3::TIMESTAMPTZ - $2::TIMESTAMPTZ > INTERVAL '2 hours' THEN 20 ELSE 0 END)::TEXT AS slept) AS s WHERE $1::UUID IS NOT NULL AND s.slept = ''`
	sqlSlow      = `SELECT 'k', count(*) FROM (SELECT pg_sleep(CASE WHEN $3::TIMESTAMPTZ > $2::TIMESTAMPTZ THEN 20 ELSE 0 END)::TEXT AS slept) AS s WHERE $1::UUID IS NOT NULL AND s.slept = ''`
)

// A day whose records take longer than a statement may is summed in parts; what no parts help is refused.
func TestLargeDaysAreSummedInParts(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	r := dailytotals.NewReader(dailytotals.Config{DB: d, Lists: list.NewNode(list.NodeConfig{Limit: 400 * time.Millisecond}), Log: slog.New(slog.DiscardHandler)})
	company := tenant.NewID()
	first := time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC)
	report := dailytotals.Report{Name: "large", Form: 1, SQL: sqlSlowWhole, Keys: 1, Amounts: 1}
	for range 2 { // summed, and kept
		groups, err := r.Read(t.Context(), company, time.UTC, jsontype.Date(first), jsontype.Date(first.AddDate(0, 0, 1)), &report)
		require.NoError(t, err)
		require.Equal(t, [][]dailytotals.Group{{
			{Day: jsontype.Date(first), Keys: []string{"k"}, Amounts: []int64{32}}, {Day: jsontype.Date(first.AddDate(0, 0, 1)), Keys: []string{"k"}, Amounts: []int64{32}},
		}}, groups)
	}
	slow := dailytotals.Report{Name: "slow", Form: 1, SQL: sqlSlow, Keys: 1, Amounts: 1}
	for range 2 {
		_, err := r.Read(t.Context(), company, time.UTC, jsontype.Date(first), jsontype.Date(first), &slow)
		require.True(t, apierr.Is(err, list.TooExpensive), "%v", err)
	}
	other := dailytotals.Report{Name: "large", Form: 2, SQL: `SELECT 'k', count(*) FROM orders WHERE company_id = $1 AND created_at >= $2 AND created_at < $3`, Keys: 1, Amounts: 1}
	groups, err := r.Read(t.Context(), company, time.UTC, jsontype.Date(first), jsontype.Date(first), &other)
	require.NoError(t, err)
	require.Equal(t, []int64{0}, groups[0][0].Amounts, "sums of another form of the report are not used")

	// Only the report that needs it is read in parts.
	empty := dailytotals.Report{Name: "empty", Form: 1, SQL: other.SQL, Keys: 1, Amounts: 1}
	large := dailytotals.Report{Name: "large too", Form: 1, SQL: sqlSlowWhole, Keys: 1, Amounts: 1}
	both, err := r.Read(t.Context(), company, time.UTC, jsontype.Date(first), jsontype.Date(first), &empty, &large, &empty)
	require.NoError(t, err)
	require.Equal(t, [][]int64{{0}, {32}, {0}}, [][]int64{both[0][0].Amounts, both[1][0].Amounts, both[2][0].Amounts})
}
