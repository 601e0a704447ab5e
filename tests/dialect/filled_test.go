package dialect

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const rowsOfATable = 3000

// column is a column of a table that is filled.
type column struct {
	Table, Name string
	Number      int
	Type        string
	Nullable    bool
}

const sqlColumns = `SELECT c.relname::TEXT, quote_ident(a.attname), a.attnum::INT, format_type(a.atttypid, NULL), NOT a.attnotnull
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.oid, a.attnum`

// fill gives each table of PostgreSQL the same rows in each run, of three companies, and statistics that know all of them.
func fill(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	values := dropChecks(t, conn)
	names, samples := map[string][]string{}, map[string][]string{}
	for _, c := range collect[column](t, conn, sqlColumns) {
		sample := c.sample(values[c.Table+"."+c.Name])
		require.NotEmpty(t, sample, "%s.%s: say in filled_test.go what a column of type %s is filled with", c.Table, c.Name, c.Type)
		if c.Nullable {
			sample = fmt.Sprintf("CASE WHEN (g * 7 + %d) %% 3 > 0 THEN %s END", c.Number, sample)
		}
		names[c.Table], samples[c.Table] = append(names[c.Table], c.Name), append(samples[c.Table], sample)
	}
	for table := range names {
		exec(t, conn, "ALTER TABLE "+table+" SET UNLOGGED, SET (autovacuum_enabled = off)")
		exec(t, conn, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM generate_series(1, %d) AS g ON CONFLICT DO NOTHING", table, strings.Join(names[table], ", "), strings.Join(samples[table], ", "), rowsOfATable))
	}
	vacuum(t, conn, slices.Collect(maps.Keys(names)))
}

// vacuum does so until all rows are visible to everyone, on which plans depend: a transaction that just runs can prevent it.
func vacuum(t *testing.T, conn *pgx.Conn, tables []string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(tables) > 0; {
		require.True(t, time.Now().Before(deadline), "a transaction hides rows of %v", tables)
		exec(t, conn, "VACUUM ANALYZE "+strings.Join(tables, ", "))
		tables = nil
		for _, hidden := range collect[struct{ Table string }](t, conn, `SELECT relname::TEXT FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relallvisible < relpages`) {
			tables = append(tables, hidden.Table)
		}
	}
}

// sample is an expression for the values of a column by the number g of the row. A column that refers to something, or has one
// of some values, has a number of them that has no divisor in common with that of others, or columns would depend on each other.
func (c column) sample(values string) string {
	primes := []int{101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179}
	some := fmt.Sprintf("g %% %d", primes[c.Number%len(primes)])
	switch {
	case values != "":
		return fmt.Sprintf("(%s)[1 + g * %d %% array_length(%[1]s, 1)]", values, c.Number)
	case c.Name == "company_id":
		return "md5('company' || g % 3)::UUID"
	case c.Name == "id" && c.Type == "uuid":
		return "md5('id' || g)::UUID"
	}
	return map[string]string{
		"uuid":                     "md5('id' || " + some + ")::UUID",
		"text":                     "'x' || 7 * (" + some + ") + g % 7",
		"text[]":                   "ARRAY['x' || " + some + "]",
		"uuid[]":                   "ARRAY[md5('id' || " + some + ")::UUID]",
		"bigint[]":                 "ARRAY[g]",
		"integer[]":                "ARRAY[g % 997]",
		"bytea":                    "decode(md5(g::TEXT), 'hex')",
		"boolean":                  some + " = 0",
		"smallint":                 "g % 5",
		"integer":                  "g * 37 % 997",
		"bigint":                   "g * 37 % 9973 - 997",
		"numeric":                  "greatest(g * 37 % 997 - 897, 0)",
		"date":                     fmt.Sprintf("DATE '2026-01-01' + g * 37 * %d %% 997", c.Number),
		"timestamp with time zone": fmt.Sprintf("TIMESTAMPTZ '2026-01-01 00:00:00Z' + g * 7919 * %d %% 10007 * interval '1 minute'", c.Number),
		"jsonb":                    "CASE WHEN g % 5 = 0 THEN jsonb_build_object('k', " + some + ") ELSE '{}' END",
	}[c.Type]
}

var oneOf = regexp.MustCompile(`^CHECK \(\(+(\w+) = ANY \(+(ARRAY\[[^]]*\])`)

// dropChecks drops what made-up rows break: checks and references. It returns the arrays of values that columns may have.
func dropChecks(t *testing.T, conn *pgx.Conn) map[string]string {
	t.Helper()
	type constraint struct{ Table, Name, Definition string }
	values := map[string]string{}
	for _, c := range collect[constraint](t, conn, `SELECT conrelid::regclass::TEXT, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace`) {
		exec(t, conn, "ALTER TABLE "+c.Table+" DROP CONSTRAINT "+c.Name)
		if m := oneOf.FindStringSubmatch(c.Definition); m != nil {
			values[c.Table+"."+m[1]] = m[2]
		}
	}
	return values
}

// collect reads the rows of a query into structs.
func collect[T any](t *testing.T, conn *pgx.Conn, sql string) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	require.NoError(t, err, sql)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	require.NoError(t, err, sql)
	return all
}

func exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err, sql)
}
