package dialect

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// savedByAnIndex is how many times as much some statement costs at least without an index that is needed, as the planner sees it
// on tables of [fill]. Without one that is not, all cost the same.
const savedByAnIndex = 1.1

// TestEachIndexIsNeeded plans each statement on filled tables, those of the SQL log included, and then those that read an index
// without it. An index is refused if the others of its table do as well: each write pays for it. That of a primary key or unique
// rule is needed for the rule.
func TestEachIndexIsNeeded(t *testing.T) {
	t.Parallel()
	address := os.Getenv("TRADEGRID_TEST_DATABASE_URL")
	if address == "" {
		needed(t, "TRADEGRID_TEST_DATABASE_URL is the address of a server where a database may be made")
	}
	stmts := logged(t)
	conn := migrated(t, address)
	if isCockroachDB(t, conn) {
		return // has the same indexes, and prints other plans
	}
	exec(t, conn, "CREATE INDEX orders_note_idx ON orders (company_id, note, id)")
	fill(t, conn)
	exec(t, conn, "SET enable_seqscan = off")
	needless := collect[index](t, conn, `SELECT indexrelid::regclass::TEXT, relname::TEXT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
WHERE NOT indisunique AND c.relnamespace = 'public'::regnamespace ORDER BY 1`)
	all := readable(t, stmts, schemaOf(t))
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} { // for given values, and for any
		exec(t, conn, "SET plan_cache_mode = "+mode)
		uses := usesOfIndexes(t, conn, onTablesOf(needless, all))
		needless = slices.DeleteFunc(needless, func(i index) bool { return isNeeded(t, conn, i.Name, uses[i.Name]) })
	}
	var names []string
	for _, i := range needless {
		names = append(names, i.Name)
	}
	require.Equal(t, []string{"orders_note_idx"}, names, "that is the test's own; drop the others: no statement costs more without them, and every write pays for them")
}

// readable are the statements of the product on tables of the schema.
func readable(t *testing.T, stmts []Statement, schema Schema) (all []Statement) {
	t.Helper()
	isOfSchema := func(table string) bool { return schema.Tables[table] != nil }
	for _, st := range ofProduct(t, stmts) {
		if tables := tablesOf(bare(st.SQL)); slices.ContainsFunc(tables, isOfSchema) && !slices.ContainsFunc(tables, isOfTests) {
			all = append(all, st)
		}
	}
	return all
}

type index struct{ Name, Table string }

// onTablesOf are the statements that read or write a table of the indexes.
func onTablesOf(indexes []index, stmts []Statement) (some []Statement) {
	for _, st := range stmts {
		tables := tablesOf(bare(st.SQL))
		if slices.ContainsFunc(indexes, func(i index) bool { return slices.Contains(tables, i.Table) }) {
			some = append(some, st)
		}
	}
	return some
}

// use is a statement whose plan reads an index.
type use struct {
	sql  string // with arguments
	cost float64
}

var readIndex = regexp.MustCompile(`Scan (?:Backward )?(?:using|on) (\w+)`)

// usesOfIndexes plans statements, and returns them by the indexes that they read.
func usesOfIndexes(t *testing.T, conn *pgx.Conn, stmts []Statement) map[string][]use {
	t.Helper()
	uses := map[string][]use{}
	require.NoError(t, conn.DeallocateAll(t.Context()))
	for i, st := range stmts {
		described, err := conn.Prepare(t.Context(), fmt.Sprintf("s%d", i), st.SQL)
		require.NoError(t, err, "%s: %s", st.Origin, st.SQL)
		sql, plan, err := explain(t.Context(), conn, "EXECUTE "+described.Name+placeholders(len(described.ParamOIDs)), described.ParamOIDs)
		require.NoError(t, err, "%s: %s", st.Origin, st.SQL)
		for _, m := range readIndex.FindAllStringSubmatch(plan, -1) {
			uses[m[1]] = append(uses[m[1]], use{sql, costOf(t, plan)})
		}
	}
	return uses
}

// placeholders are the arguments of an EXECUTE.
func placeholders(n int) string {
	if n == 0 {
		return ""
	}
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", i+1)
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// isNeeded reports whether a statement that reads an index costs more without it.
func isNeeded(t *testing.T, conn *pgx.Conn, name string, uses []use) bool {
	t.Helper()
	exec(t, conn, "BEGIN")
	defer exec(t, conn, "ROLLBACK")
	exec(t, conn, "DROP INDEX "+name)
	return slices.ContainsFunc(uses, func(u use) bool {
		plan, err := explained(t.Context(), conn, u.sql)
		require.NoError(t, err, u.sql)
		return costOf(t, plan) >= savedByAnIndex*u.cost
	})
}

var planCost = regexp.MustCompile(`\(cost=[\d.]+\.\.([\d.]+) `)

func costOf(t *testing.T, plan string) float64 {
	t.Helper()
	m := planCost.FindStringSubmatch(plan)
	require.NotNil(t, m, plan)
	cost, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err, plan)
	return cost
}
