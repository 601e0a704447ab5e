package dialect

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var permanentList = regexp.MustCompile(`list\.Of\[[^\]]*\]\(([\w"]+), list\.Spec\{[^}]*Permanent: true`)

// serviceFolders are the sources of the services, without tests, by folder.
func serviceFolders(t *testing.T) map[string]string {
	t.Helper()
	folders := map[string]string{}
	require.NoError(t, filepath.WalkDir(root+"/services", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		folders[filepath.Dir(path)] += string(source)
		return err
	}))
	return folders
}

// tableIn is the name of a table that the source of a folder writes as "orders", or as a constant.
func tableIn(source, written string) string {
	if name, ok := strings.CutPrefix(written, `"`); ok {
		return strings.TrimSuffix(name, `"`)
	}
	if m := regexp.MustCompile(`\b` + written + `\s*= db\.Table\("(\w+)"\)`).FindStringSubmatch(source); m != nil {
		return m[1]
	}
	return written
}

// permanentTables are the tables of lists that keep their totals.
func permanentTables(t *testing.T) (tables []string) {
	t.Helper()
	for _, source := range serviceFolders(t) {
		for _, m := range permanentList.FindAllStringSubmatch(source, -1) {
			tables = append(tables, tableIn(source, m[1]))
		}
	}
	return tables
}

// unlisted begins a change of columns that no list filters by.
var unlisted = regexp.MustCompile(`^(ev_pos = ev_pos |reminder_at = (\$\d, ev_pos = \$\d WHERE|u\.at FROM))`)

// breaksTotals reports why a statement must not be run on the table of a list that keeps its totals, if so: they are corrected
// by the rows whose updated_at says that they have changed.
func breaksTotals(sql, table string) string {
	text := bare(sql)
	if text == "DELETE FROM "+table+" WHERE company_id = $1 AND id = $2 AND version = $3" {
		return "" // made for every table; see TestPermanentRecordsAreNotDeleted
	}
	switch update := regexp.MustCompile(`\bUPDATE ` + table + `\b(?: AS \w+)? SET (.*)`).FindStringSubmatch(text); {
	case regexp.MustCompile(`\bDELETE FROM ` + table + `\b`).MatchString(text):
		return "deletes"
	case update != nil && !strings.Contains(update[1], "updated_at = ") && !unlisted.MatchString(update[1]):
		return "changes without updated_at"
	case regexp.MustCompile(`\bINSERT INTO `+table+` .*\bDO UPDATE SET\b`).MatchString(text) && !strings.Contains(text, "updated_at = "):
		return "changes without updated_at"
	}
	return ""
}

// A list that declares its records permanent keeps its total between reads. Nothing but a statement that says when may change
// what it counts.
func TestPermanentListsSeeEveryChange(t *testing.T) {
	t.Parallel()
	all := sources(t)
	if path := os.Getenv("TRADEGRID_SQL_LOG"); path != "" {
		logged, err := LoggedStatements(path)
		require.NoError(t, err)
		all = append(all, logged...)
	}
	own, err := SourceStatements(root, true)
	require.NoError(t, err)
	ofTests := map[string]bool{}
	for _, st := range own {
		ofTests[bare(st.SQL)] = true
	}
	for _, st := range sources(t) {
		delete(ofTests, bare(st.SQL))
	}
	tables := permanentTables(t)
	require.Greater(t, len(tables), 5)
	for _, st := range all {
		for _, table := range tables {
			if why := breaksTotals(st.SQL, table); why != "" && !ofTests[bare(st.SQL)] {
				t.Errorf("%s: %s %s, whose list is Permanent\n\t%s", st.Origin, why, table, bare(st.SQL))
			}
		}
	}
}

var tableVariable = regexp.MustCompile(`(\w+)\s*=\s*resource\.Of\[[^\]]*\]\(([\w"]+)`)

// Nobody calls the function that deletes a record of such a list.
func TestPermanentRecordsAreNotDeleted(t *testing.T) {
	t.Parallel()
	permanent, looked := permanentTables(t), 0
	for folder, source := range serviceFolders(t) {
		for _, m := range tableVariable.FindAllStringSubmatch(source, -1) {
			table := tableIn(source, m[2])
			if !slices.Contains(permanent, table) {
				continue
			}
			looked++
			require.NotRegexp(t, `\b`+m[1]+`\.(Delete|Remove)\(`, source, "%s: deletes %s, whose list is Permanent", folder, table)
		}
	}
	require.Greater(t, looked, 5)
}

func TestBrokenTotalsAreSeen(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"UPDATE orders SET status = 'x' WHERE id = $1":                                                     "changes without updated_at",
		"UPDATE orders SET status = 'x', updated_at = $2 WHERE id = $1":                                    "",
		"UPDATE orders SET ev_pos = ev_pos WHERE id = $1":                                                  "",
		"WITH x AS (DELETE FROM orders WHERE id = $1) SELECT 1":                                            "deletes",
		"DELETE FROM order_lines WHERE id = $1":                                                            "",
		"INSERT INTO orders (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET status = 'x'":                  "changes without updated_at",
		"INSERT INTO orders (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET status = 'x', updated_at = $2": "",
	} {
		require.Equal(t, want, breaksTotals(sql, "orders"), sql)
	}
}
