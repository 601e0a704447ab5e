package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/stretchr/testify/require"
)

// Package db joins writes, and tells the lists of a process what has changed, by the tables that each statement declares. The
// parser finds the same tables in all statements of transactions and lists.
func TestStatementsDeclareTheirTables(t *testing.T) {
	t.Parallel()
	writes, pages := 0, 0
	for _, st := range logged(t) {
		if st.Declared == nil {
			continue
		}
		stmt, err := Parse(st.SQL)
		if err != nil {
			continue // refused by another test
		}
		switch stmt.(type) {
		case *tree.Explain, *tree.Prepare: // of tests
			continue
		}
		if wrong := undeclared(stmt, st); wrong != "" {
			t.Errorf("%s: %s\n\t%s", st.Origin, wrong, bare(st.SQL))
		}
		if len(st.Declared.Changes) > 0 {
			writes++
		}
		if isPage(st) {
			pages++
		}
	}
	require.Greater(t, writes, 80)
	require.Greater(t, pages, 20)
}

// Statements that no test sends through the log are checked as they stand in the source.
func TestWritesOfTheSourceDeclareTheirTables(t *testing.T) {
	t.Parallel()
	writes := 0
	for _, st := range sources(t) {
		if st.Declared == nil || !st.Complete {
			continue
		}
		stmt, err := Parse(st.SQL)
		if err != nil {
			continue // refused by another test
		}
		writes++
		if wrong := undeclared(stmt, st); wrong != "" {
			t.Errorf("%s: %s\n\t%s", st.Origin, wrong, bare(st.SQL))
		}
	}
	require.Greater(t, writes, 150)
}

// isPage reports whether a statement reads a page of a list, or its place.
func isPage(st Statement) bool { return strings.Contains(st.SQL, " AS cursor_value FROM ") }

// undeclared says which tables of a statement were not declared as they are; "" = all were.
func undeclared(stmt tree.Statement, st Statement) string {
	changed, read := usedTables(stmt)
	changes, reads := slices.Compact(slices.Sorted(slices.Values(st.Declared.Changes))), slices.Compact(slices.Sorted(slices.Values(st.Declared.Reads)))
	switch exact := len(changes) > 0 || isPage(st); {
	case !slices.Equal(changed, changes):
		return "changes [" + strings.Join(changed, " ") + "], declared are [" + strings.Join(changes, " ") + "]"
	case st.Declared.Partial:
		return ""
	case exact && !slices.Equal(read, reads), slices.ContainsFunc(read, func(name string) bool { return !slices.Contains(reads, name) }):
		return "reads [" + strings.Join(read, " ") + "], declared are [" + strings.Join(reads, " ") + "]" // a total may do without some
	}
	return ""
}

func TestUsedTablesAreFound(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string][2][]string{
		`SELECT 1`: {},
		`SELECT a.x FROM a JOIN b AS c ON c.id = a.id LEFT JOIN unnest($1::UUID[]) AS u(i) ON u.i = a.id WHERE EXISTS (SELECT 1 FROM d WHERE d.id = a.id) FOR UPDATE`: {nil, {"a", "b", "d"}},
		`SELECT x FROM (SELECT DISTINCT x FROM a WHERE y = (SELECT max(y) FROM b)) AS s ORDER BY (SELECT z FROM c)`:                                                   {nil, {"a", "b", "c"}},
		`INSERT INTO a (x) VALUES ($1) ON CONFLICT (x) DO UPDATE SET y = excluded.y + a.y RETURNING x`:                                                                {{"a"}, nil},
		`INSERT INTO a (x) SELECT b.x FROM b, a WHERE b.x = ANY(ARRAY(SELECT x FROM c))`:                                                                              {{"a"}, {"b", "c"}},
		`UPDATE a AS t SET x = s.x FROM b AS s WHERE t.id = s.id AND s.y IN (SELECT y FROM c)`:                                                                        {{"a"}, {"b", "c"}},
		`DELETE FROM a WHERE id IN (SELECT id FROM a WHERE y < $1 LIMIT 10)`:                                                                                          {{"a"}, nil},
		"WITH w AS (UPDATE a SET x = 1 WHERE y IN (SELECT y FROM b) RETURNING x)\nINSERT INTO c (x) SELECT w.x FROM w":                                                {{"a", "c"}, {"b"}},
		`WITH RECURSIVE below (id) AS (SELECT id FROM a UNION ALL SELECT c.id FROM a AS c JOIN below ON c.up = below.id) SELECT id FROM below`:                        {nil, {"a"}},
	} {
		stmt, err := Parse(sql)
		require.NoError(t, err, sql)
		changed, read := usedTables(stmt)
		require.Equal(t, want, [2][]string{changed, read}, sql)
	}
}

func TestForgottenTablesAreSeen(t *testing.T) {
	t.Parallel()
	const page = `SELECT a.id, a.id AS cursor_id, (a.x)::TEXT AS cursor_value FROM a JOIN b ON b.id = a.id`
	for _, row := range []struct {
		sql      string
		declared Declared
		seen     bool
	}{
		{`UPDATE a SET x = 1`, Declared{Changes: []string{"a"}}, false},
		{`UPDATE a SET x = 1`, Declared{Partial: true}, true},
		{`UPDATE a SET x = 1`, Declared{Changes: []string{"a"}, Reads: []string{"b"}}, true},
		{`UPDATE a SET x = b.x FROM b`, Declared{Changes: []string{"a"}}, true},
		{`UPDATE a SET x = b.x FROM b`, Declared{Changes: []string{"a"}, Reads: []string{"b"}}, false},
		{`SELECT x FROM a`, Declared{Partial: true}, false},
		{`SELECT x FROM a`, Declared{Changes: []string{"a"}}, true},
		{`SELECT count(*) FROM a`, Declared{Reads: []string{"a", "b", "b"}}, false},
		{`SELECT count(*) FROM a, c`, Declared{Reads: []string{"a", "b"}}, true},
		{page, Declared{Reads: []string{"b", "a", "b"}}, false},
		{page, Declared{Reads: []string{"a"}}, true},
		{page, Declared{Reads: []string{"a", "b", "c"}}, true},
	} {
		stmt, err := Parse(row.sql)
		require.NoError(t, err, row.sql)
		require.Equal(t, row.seen, undeclared(stmt, Statement{SQL: row.sql, Declared: &row.declared}) != "", "%s: %v", row.sql, row.declared)
	}
}
