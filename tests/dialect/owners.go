package dialect

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Owners are the parts of the program that write each table: the packages with a record of it, or a statement that changes it.
type Owners map[string][]string

// Reading is a text that reads a table.
type Reading struct {
	Table  string
	Origin string // file:line
}

// TableUses finds the tables that the Go files below root write, and those that their texts of SQL read, whole statements or parts.
func TableUses(root string) (Owners, []Reading, error) {
	owners, readings := Owners{}, []Reading{}
	statements, err := SourceStatements(root, false)
	if err != nil {
		return nil, nil, err
	}
	for _, st := range statements {
		if st.Declared != nil {
			for _, table := range st.Declared.Changes {
				owners.add(table, Part(st.Origin))
			}
		}
	}
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case entry.IsDir() && (rel == "tests" || rel == "pkg/testkit"): // what was stored is looked at there
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s := scan{constants: declared(token.CONST, []*ast.File{file})}
		ast.Inspect(file, func(node ast.Node) bool {
			if table, ok := s.record(node); ok {
				owners.add(table, Part(rel))
			}
			if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
				origin := fmt.Sprintf("%s:%d", filepath.ToSlash(rel), fset.Position(text.Pos()).Line)
				for _, table := range named(text.Value) {
					readings = append(readings, Reading{table, origin})
				}
			}
			return true
		})
		return nil
	})
	return owners, readings, err
}

func (o Owners) add(table, part string) {
	if !slices.Contains(o[table], part) {
		o[table] = append(o[table], part)
	}
}

// record is the table of a record or of its lines: the argument of resource.Of[Order]("orders", …).
func (s *scan) record(node ast.Node) (table string, ok bool) {
	call, isCall := node.(*ast.CallExpr)
	if !isCall || len(call.Args) == 0 {
		return "", false
	}
	generic, isGeneric := call.Fun.(*ast.IndexExpr)
	if !isGeneric {
		return "", false
	}
	method, isMethod := generic.X.(*ast.SelectorExpr)
	if !isMethod || method.Sel.Name != "Of" && method.Sel.Name != "LinesOf" {
		return "", false
	}
	if of, isName := method.X.(*ast.Ident); !isName || of.Name != "resource" {
		return "", false
	}
	if table, ok = s.table(call.Args[0]); ok {
		return table, true
	}
	return s.value(call.Args[0], 0)
}

// Part is the part of the program that a file belongs to: its package, or its room, where that is one thing of several packages.
func Part(file string) string {
	folder := path.Dir(strings.SplitN(filepath.ToSlash(file), ":", 2)[0])
	for _, room := range []string{"services/delivery", "pkg/store", "pkg/events"} {
		if strings.HasPrefix(folder, room+"/") {
			return room
		}
	}
	return folder
}

var from = regexp.MustCompile(`\b(?:FROM|JOIN|USING)\s+([a-z_]+)\b|,\s*([a-z_]+)\s+AS\s`)

// named lists the names that stand in a text of SQL where it reads tables.
func named(text string) (names []string) {
	for _, m := range from.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1]+m[2])
	}
	return names
}
