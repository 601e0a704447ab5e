package dialect

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// scansAllowed are statements that read a whole table of companies, with the reason.
var scansAllowed = []allowance{
	allow(`^DELETE FROM \w+ WHERE .* LIMIT 1000\)$`, "housekeeping on PostgreSQL, in small parts; CockroachDB has row-level TTL"),
	allow(`^(SELECT|UPDATE) .*\bdeliveries\b.*\bstate = 1 AND (d\.)?updated_at <`, "the sweeper reads a partial index from end to end: attempts under way are few"),
	allow(`\bFROM webhook_subscriptions AS w (WHERE w\.is_active|CROSS JOIN LATERAL)`, "the sweeper looks at all subscriptions, one process at a time and seldom"),
	allow(`\bFROM webhook_subscriptions WHERE breaker_opens > 0\b`, "operators look at all subscriptions, seldom"),
	allow(`^SELECT (count\(\*\)|COALESCE|min|EXISTS).* FROM outbox\b`, "depth and age of the whole outbox are measured; it is near empty, or else measured seldom"),
	allow(`\bFROM jobs WHERE ended_at IS NULL AND (run_at|type)\b`, "workers read a partial index of open jobs from end to end: there are few"),
	allow(`^DELETE FROM (sessions|account_links) WHERE created_at <=`, "after a restore, once"),
	allow(`\bFROM outbox_dead\b`, "operators look at what Kafka never took; few rows at any time"),
}

// TestPlansUseAnIndex lets the database plan each statement, those of the SQL log included, and refuses one that has
// to read a whole table of companies: each table that is touched is entered by an index, which begins with the company.
func TestPlansUseAnIndex(t *testing.T) {
	t.Parallel()
	address := os.Getenv("TRADEGRID_TEST_DATABASE_URL")
	if address == "" {
		needed(t, "TRADEGRID_TEST_DATABASE_URL is the address of a server where a database may be made")
	}
	stmts := logged(t)
	conn := migrated(t, address)
	schema := schemaOf(t)
	prefer(t, conn)
	planned := 0
	for _, st := range plannable(t, stmts, schema) {
		described, err := conn.Prepare(t.Context(), "", st.SQL)
		if err != nil {
			t.Errorf("%s: %v\n\t%s", st.Origin, err, bare(st.SQL))
			continue
		}
		_, plan, err := explain(t.Context(), conn, st.SQL, described.ParamOIDs)
		if err != nil {
			t.Errorf("%s: %v\n\t%s", st.Origin, err, bare(st.SQL))
			continue
		}
		planned++
		for _, table := range wholeScans(plan) {
			if schema.Tenant(table) {
				t.Errorf("%s: reads all of %s: let an index serve it, or allow the scan with a reason in plans_test.go\n\t%s\n%s", st.Origin, table, bare(st.SQL), plan)
			}
		}
	}
	require.Greater(t, planned, 100)
	t.Logf("%d plans", planned)
}

// plannable are the statements of the product on tables of companies.
func plannable(t *testing.T, stmts []Statement, schema Schema) (all []Statement) {
	t.Helper()
	for _, st := range ofProduct(t, stmts) {
		tables := tablesOf(bare(st.SQL))
		if slices.ContainsFunc(tables, schema.Tenant) && !slices.ContainsFunc(tables, isOfTests) && !allowed(scansAllowed, bare(st.SQL)) {
			all = append(all, st)
		}
	}
	return all
}

// ofProduct are the statements of the source and the log, each once, without those of tests and migrations.
func ofProduct(t *testing.T, stmts []Statement) (all []Statement) {
	t.Helper()
	own, err := SourceStatements(root, true)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, st := range own {
		seen[st.SQL] = true // a test's own
	}
	migration := map[string]bool{}
	for _, st := range load(t, isCommon) {
		migration[bare(st.SQL)] = true // it runs once and may read whole tables
	}
	for _, st := range append(sources(t), stmts...) {
		if !seen[st.SQL] && !migration[bare(st.SQL)] && st.Complete && looksLikeSQL.MatchString(st.SQL) {
			seen[st.SQL] = true
			all = append(all, st)
		}
	}
	return all
}

// isOfTests reports whether a table was made by tests.
func isOfTests(table string) bool {
	return strings.HasPrefix(table, "test_") || slices.Contains([]string{"things", "books", "chaos_records"}, table)
}

func allowed(list []allowance, text string) bool {
	for _, a := range list {
		if a.pattern.MatchString(text) {
			return true
		}
	}
	return false
}

func isCockroachDB(t *testing.T, conn *pgx.Conn) bool {
	t.Helper()
	var version string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT version()").Scan(&version))
	return strings.Contains(version, "CockroachDB")
}

// prefer makes PostgreSQL scan a whole table only where nothing else is possible, as if all tables were large.
// CockroachDB takes tables without statistics for large ones.
func prefer(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	if isCockroachDB(t, conn) {
		return
	}
	for _, set := range []string{"SET enable_seqscan = off", "SET enable_indexonlyscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off"} {
		_, err := conn.Exec(t.Context(), set)
		require.NoError(t, err)
	}
}

// explain plans a statement with made-up arguments of the right types. It returns the statement with them, too.
func explain(ctx context.Context, conn *pgx.Conn, sql string, types []uint32) (text, plan string, err error) {
	for _, sample := range textSamples {
		if text, err = filled(sql, types, sample); err != nil {
			return "", "", err
		}
		if plan, err = explained(ctx, conn, text); err == nil {
			return text, plan, nil
		}
	}
	return "", "", fmt.Errorf("explain: %w", err)
}

// textSamples are tried until the statement can be planned: some texts are read as numbers or times.
var textSamples = []string{"sample", "2026-01-02 03:04:05Z", "7", "11111111-2222-4333-8444-555555555555"}

func explained(ctx context.Context, conn *pgx.Conn, sql string) (string, error) {
	rows, err := conn.Query(ctx, "EXPLAIN "+sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// samples are literals by the number of their type.
var samples = map[uint32]string{
	16: "true::BOOL", 17: `'\x61'::BYTEA`, 20: "7::BIGINT", 21: "7::SMALLINT", 23: "7::INT4",
	701: "7::FLOAT8", 1082: "'2026-01-02'::DATE", 1184: "'2026-01-02 03:04:05Z'::TIMESTAMPTZ", 1186: "'7 seconds'::INTERVAL", 1700: "7::DECIMAL",
	2950: "'11111111-2222-4333-8444-555555555555'::UUID", 3802: "'{}'::JSONB",
	1000: "'{true}'::BOOL[]", 1001: `ARRAY['\x61'::BYTEA]`, 1005: "'{7}'::SMALLINT[]", 1007: "'{7}'::INT4[]", 1016: "'{7}'::BIGINT[]",
	1182: "'{2026-01-02}'::DATE[]", 1185: "ARRAY['2026-01-02 03:04:05Z'::TIMESTAMPTZ]", 1231: "'{7}'::DECIMAL[]",
	2951: "'{11111111-2222-4333-8444-555555555555}'::UUID[]", 3807: "ARRAY['{}'::JSONB]",
}

var placeholder = regexp.MustCompile(`\$(\d+)`)

func filled(sql string, types []uint32, sample string) (text string, err error) {
	literals := maps.Clone(samples)
	literals[25], literals[1043], literals[1009] = "'"+sample+"'::TEXT", "'"+sample+"'::TEXT", "ARRAY['"+sample+"'::TEXT]"
	text = placeholder.ReplaceAllStringFunc(sql, func(p string) string {
		n, _ := strconv.Atoi(p[1:])
		if n < 1 || n > len(types) || literals[types[n-1]] == "" {
			err = fmt.Errorf("no sample for %s: add its type to plans_test.go (types %v)", p, types)
			return p
		}
		return "(" + literals[types[n-1]] + ")"
	})
	return text, err
}

var (
	postgresScan  = regexp.MustCompile(`Seq Scan on (\w+)`)
	cockroachScan = regexp.MustCompile(`(?s)table: (\w+)@[^\n]*\n[^\n]*spans: FULL SCAN`)
	indexCond     = regexp.MustCompile(`Index Scan (?:Backward )?using \w+ on (\w+)[^\n]*\n(\s+Index Cond)?`)
)

// wholeScans lists the tables that a plan reads from end to end: by themselves, or along an index without a bound.
func wholeScans(plan string) (tables []string) {
	for _, found := range [][][]string{postgresScan.FindAllStringSubmatch(plan, -1), cockroachScan.FindAllStringSubmatch(plan, -1)} {
		for _, m := range found {
			tables = append(tables, m[1])
		}
	}
	for _, m := range indexCond.FindAllStringSubmatch(plan, -1) {
		if m[2] == "" {
			tables = append(tables, m[1])
		}
	}
	return tables
}

func TestWholeScansAreSeen(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"orders"}, wholeScans("Limit\n  ->  Seq Scan on orders o\n        Filter: (a = 1)"))
	require.Equal(t, []string{"orders"}, wholeScans("Sort\n  ->  Index Scan using orders_pkey on orders  (cost=0)\n        Filter: (id = 1)"))
	require.Empty(t, wholeScans("Index Scan using orders_pkey on orders  (cost=0)\n  Index Cond: (company_id = 1)\nBitmap Heap Scan on clients\n  ->  Bitmap Index Scan on clients_tags_idx\n        Index Cond: (a = 1)"))
	require.Equal(t, []string{"orders"}, wholeScans("• scan\n  missing stats\n  table: orders@orders_pkey\n  spans: FULL SCAN"))
	require.Empty(t, wholeScans("• scan\n  table: orders@orders_pkey\n  spans: [/'1' - /'1']"))
	_, err := filled("SELECT $1, $2", []uint32{25, 4711}, "x")
	require.ErrorContains(t, err, "no sample for $2")
}
