package cockroach_test

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

func lines(t *testing.T, d *db.DB, stmt string, args ...any) string {
	t.Helper()
	rows, err := d.Query(t.Context(), stmt, args...)
	require.NoError(t, err)
	maps, err := pgx.CollectRows(rows, pgx.RowToMap)
	require.NoError(t, err)
	var out []string
	for _, row := range maps {
		for _, value := range row {
			if text, ok := value.(string); ok {
				out = append(out, text)
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestMigrationsCanBeRepeated(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.CockroachDB, "repeats the overlays of CockroachDB")
	d := dbtest.OpenNew(t)
	_, err := d.Exec(t.Context(), `DELETE FROM schema_steps WHERE true`)
	require.NoError(t, err)
	applied, err := migrate.Up(t.Context(), d.Pool(), sql.Files, db.CockroachDB, migrate.Contract, nil)
	require.NoError(t, err)
	require.Positive(t, applied)
}

func TestOverlaysAreInForce(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.CockroachDB, "row-level TTL, zones and splits are CockroachDB's")
	d := dbtest.Open(t)
	for _, table := range []string{"idempotency_keys", "tx_markers", "events", "rate_leases", "relay_members", "deliveries"} {
		create := lines(t, d, "SHOW CREATE TABLE "+table)
		require.Contains(t, create, "ttl_expiration_expression", table)
		require.Contains(t, create, "ttl_disable_changefeed_replication", table)
	}
	for _, table := range []string{"outbox", "outbox_leases", "event_log_heads", "tx_markers", "rate_leases"} {
		require.Regexp(t, regexp.MustCompile(`gc\.ttlseconds = 600\b`), lines(t, d, "SHOW ZONE CONFIGURATION FROM TABLE "+table), table)
	}
	var ranges int
	require.NoError(t, d.QueryRow(t.Context(), "SELECT count(*) FROM [SHOW RANGES FROM TABLE outbox]").Scan(&ranges))
	require.GreaterOrEqual(t, ranges, 256)
}

// A search in the texts of a company goes by the trigram index, not by all rows of the company.
func TestSearchUsesTheTrigramIndex(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.CockroachDB, "its plan for an inverted index with the company in front; PostgreSQL chooses by statistics")
	d := dbtest.Open(t)
	for table, index := range map[string]string{"orders": "orders_search_idx", "clients": "clients_search_idx", "products": "products_search_idx"} {
		plan := lines(t, d, `EXPLAIN SELECT id FROM `+table+` WHERE company_id = '11111111-2222-4333-8444-555555555555' AND search_text LIKE '%hammer%'`)
		require.Contains(t, plan, index)
		require.NotContains(t, plan, "FULL SCAN")
	}
}

// stubborn is a pool on whose connections CockroachDB answers with retry errors, as the session variable says.
func stubborn(t *testing.T, variable string, cfg db.Config) *db.DB {
	t.Helper()
	u, err := url.Parse(dbtest.URL(t))
	require.NoError(t, err)
	query := u.Query()
	query.Set("options", "-c "+variable+"=on")
	u.RawQuery = query.Encode()
	cfg.URL, cfg.MaxConns = u.String(), 2
	d, err := db.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

const sqlTaken = `SELECT COALESCE((SELECT n FROM counters WHERE company_id = $1 AND kind = 'test'), 0)`

var sqlTake = db.Table("counters").Insert(`(company_id, kind, n) VALUES ($1, 'test', 1) ON CONFLICT (company_id, kind) DO UPDATE SET n = counters.n + 1 RETURNING n`)

func take(ctx context.Context, d *db.DB, company uuid.UUID) (runs int, err error) {
	err = d.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
		runs++
		var n int64
		return tx.ReturningRow(ctx, sqlTake, company).Scan(&n)
	})
	return runs, err
}

func taken(t *testing.T, company uuid.UUID) (n int64) {
	t.Helper()
	require.NoError(t, dbtest.Open(t).QueryRow(t.Context(), sqlTaken, company).Scan(&n))
	return n
}

// Retry errors of statements and of COMMIT are known as such: the whole is tried again, at last given up as busy,
// and nothing is stored.
func TestRetryErrorsAreUnderstood(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.CockroachDB, "only CockroachDB makes retry errors on demand")
	for _, variable := range []string{"inject_retry_errors_enabled", "inject_retry_errors_on_commit_enabled"} {
		company := uuid.New()
		runs, err := take(t.Context(), stubborn(t, variable, db.Config{}), company)
		require.ErrorIs(t, err, db.ErrBusy, variable)
		require.ErrorContains(t, err, "40001", variable)
		require.Equal(t, 12, runs, variable)
		require.Zero(t, taken(t, company), variable)
	}
}

// By savepoints CockroachDB lets a transaction pass after its third injected error, so it happens, and once.
func TestSavepointProtocolGoesOn(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.CockroachDB, "the savepoint protocol is CockroachDB's")
	company := uuid.New()
	runs, err := take(t.Context(), stubborn(t, "inject_retry_errors_enabled", db.Config{SavepointRetry: true}), company)
	require.NoError(t, err)
	require.Greater(t, runs, 1)
	require.EqualValues(t, 1, taken(t, company))
}

// Rows follow their company into its region, a look-up by key asks one region, and a second run has nothing to do.
func TestRowsLiveInTheRegionOfTheirCompany(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.CockroachDB, "starts three nodes in three regions")
	regions := [3]string{"europe-west1", "us-east1", "asia-east1"}
	pool := regional(t, regions)
	homing := migrate.Homing{Column: "company_id", Code: tenant.RegionCode, Global: []string{"companies", "token_secrets"}}
	todo, err := migrate.PendingRegions(t.Context(), pool, homing)
	require.NoError(t, err)
	require.NoError(t, migrate.Regions(t.Context(), pool, todo, nil))
	again, err := migrate.PendingRegions(t.Context(), pool, homing)
	require.NoError(t, err)
	require.Empty(t, again)

	var column string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT column_name FROM information_schema.columns WHERE table_name = 'counters' AND column_name LIKE 'crdb\_home\_%'`).Scan(&column))
	for _, region := range regions {
		company := tenant.NewIDIn(region)
		_, err := pool.Exec(t.Context(), sqlTake.SQL(), company)
		require.NoError(t, err)
		var home string
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT `+column+`::TEXT FROM counters WHERE company_id = $1`, company).Scan(&home))
		require.Equal(t, region, home)
		rows, err := pool.Query(t.Context(), `EXPLAIN SELECT n FROM counters WHERE company_id = '`+company.String()+`' AND kind = 'test'`)
		require.NoError(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		text := strings.Join(plan, "\n")
		for _, other := range regions {
			require.Equal(t, other == region, strings.Contains(text, "/'"+other+"'/") || strings.Contains(text, other), text)
		}
	}
}

// regional is a migrated database with regions, on three nodes of its own.
func regional(t *testing.T, regions [3]string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dbtest.Cluster(t, regions))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	for i, region := range regions {
		verb := " ADD REGION "
		if i == 0 {
			verb = " SET PRIMARY REGION "
		}
		_, err := pool.Exec(t.Context(), "ALTER DATABASE defaultdb"+verb+pgx.Identifier{region}.Sanitize())
		require.NoError(t, err)
	}
	_, err = migrate.Up(t.Context(), pool, sql.Files, db.CockroachDB, migrate.Contract, nil)
	require.NoError(t, err)
	return pool
}
