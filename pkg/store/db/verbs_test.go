package db_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// changing finds what only a [db.Table] writes, also where the name of the table is in another literal. In capitals, every verb is one
// of SQL.
var changing = regexp.MustCompile(`(?i:\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+[a-z_]\w*\s+(as\s+\w+\s+)?set\b)|\bUPDATE\s+[a-z_]|\b(UPDATE|DELETE|INSERT)\s+$|\b(TRUNCATE|MERGE|UPSERT)\s`)

// writes reports whether a text changes a table. A lock of rows and the end of ON CONFLICT change none that is not named before.
func writes(text string) bool {
	return changing.MatchString(strings.NewReplacer("FOR UPDATE", "", "FOR NO KEY UPDATE", "", "DO UPDATE", "").Replace(text))
}

// No package but this one writes a statement that changes a table: so it says which tables it changes.
func TestOnlyTablesMakeWrites(t *testing.T) {
	t.Parallel()
	files := 0
	for _, root := range []string{"../../../pkg", "../../../services", "../../../cmd"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && filepath.Clean(path) == filepath.Clean("../../../pkg/store/db"):
				return fs.SkipDir
			case entry.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
				return nil
			}
			files++
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text, err := strconv.Unquote(l.Value); err != nil || writes(text) {
						t.Errorf("%s: make the statement by a db.Table: %.100s", fset.Position(l.Pos()), l.Value)
					}
				}
				return true
			})
			return nil
		}))
	}
	require.Greater(t, files, 400)
}

func TestVerbsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"INSERT INTO orders (id) VALUES ($1)": true, "insert into ": true, "WITH x AS (DELETE\n FROM orders)": true, "DELETE ": true, "UPDATE ": true,
		"UPDATE orders SET n = 1": true, "update orders as o set n = 1": true, "TRUNCATE orders": true,
		"SELECT id FROM orders FOR UPDATE": false, "SELECT id FROM orders AS o FOR UPDATE OF o": false, "(id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET n = 1": false,
		"DELETE": false, "Update a client": false, "update the records that are set": false,
	} {
		require.Equal(t, want, writes(text), text)
	}
}
