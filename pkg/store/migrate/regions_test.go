package migrate

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

var byLength = Homing{Column: "company_id", Global: []string{"companies"}, Code: func(region string) string {
	return strings.Repeat(string(rune('0'+len(region)%10)), 4)
}}

// The file is also read by the check of the dialects, which holds its statements against CockroachDB's parser.
const regionsFile = "testdata/regions.crdb.sql"

func TestRegionsGiveRowsTheirHome(t *testing.T) {
	t.Parallel()
	fresh := []locality{{name: "companies", where: "REGIONAL BY TABLE IN PRIMARY REGION"}, {name: "orders", where: "REGIONAL BY TABLE IN PRIMARY REGION"}}
	first, err := byLength.statements([]string{"eu", "o'us"}, fresh)
	require.NoError(t, err)
	require.Len(t, first, 3)
	column := strings.Fields(first[1])[8]
	require.Regexp(t, `^crdb_home_[0-9a-f]{8}$`, column)
	require.Equal(t, []string{
		`ALTER TABLE "companies" SET LOCALITY GLOBAL`,
		`ALTER TABLE "orders" ADD COLUMN IF NOT EXISTS ` + column + ` crdb_internal_region NOT NULL AS (CASE substring(company_id::STRING, 33, 4) WHEN '2222' THEN 'eu' WHEN '4444' THEN 'o''us' ELSE 'eu' END) STORED`,
		`ALTER TABLE "orders" SET LOCALITY REGIONAL BY ROW AS ` + column,
	}, first)

	done := []locality{{name: "companies", where: "GLOBAL"}, {name: "orders", where: "REGIONAL BY ROW AS " + column, homes: []string{column}}}
	again, err := byLength.statements([]string{"eu", "o'us"}, done)
	require.NoError(t, err)
	require.Empty(t, again, "a second run has nothing to do")

	half := []locality{{name: "companies", where: "GLOBAL"}, {name: "orders", where: "REGIONAL BY TABLE IN PRIMARY REGION", homes: []string{column}}}
	rest, err := byLength.statements([]string{"eu", "o'us"}, half)
	require.NoError(t, err)
	require.Equal(t, first[2:], rest, "a run that was cut goes on where it ended")

	more, err := byLength.statements([]string{"eu", "asia-9", "o'us"}, done)
	require.NoError(t, err)
	require.Len(t, more, 3)
	require.Contains(t, more[0], "WHEN '6666' THEN 'asia-9'")
	require.NotContains(t, more[1], column)
	require.Equal(t, `ALTER TABLE "orders" DROP COLUMN IF EXISTS `+column, more[2], "the home of before goes last")

	file, err := os.ReadFile(regionsFile)
	require.NoError(t, err)
	require.Equal(t, string(file), strings.Join(append(append(first, more...), ""), ";\n"), "write the statements into "+regionsFile)
}

func TestRegionsThatCannotBe(t *testing.T) {
	t.Parallel()
	_, err := byLength.statements(nil, nil)
	require.ErrorContains(t, err, "ALTER DATABASE … SET PRIMARY REGION")
	_, err = byLength.statements([]string{"eu", "us"}, nil)
	require.ErrorContains(t, err, "the regions eu and us have the same code 2222")
}

// Every table of companies is homed, whatever a later migration adds.
func TestHomedTablesAreFoundByTheirKey(t *testing.T) {
	t.Parallel()
	pool := database(t)
	_, err := Up(t.Context(), pool, sql.Files, db.PostgreSQL, Contract, nil)
	require.NoError(t, err)
	homed, err := texts(t.Context(), pool, sqlHomedTables, "company_id")
	require.NoError(t, err)
	require.Subset(t, homed, []string{"orders", "order_lines", "events", "deliveries", "idempotency_keys", "counters", "tokens", "rate_leases"})
	for _, other := range []string{"companies", "token_secrets", "outbox", "tx_markers", "event_log_heads"} {
		require.NotContains(t, homed, other)
	}
	homes, err := homeColumns(t.Context(), pool)
	require.NoError(t, err)
	require.Empty(t, homes)
}
