// Package dialect checks that the SQL of the platform means the same on CockroachDB and PostgreSQL: each statement
// parses with CockroachDB's parser, uses nothing that only one of the two has, and names the company it is for.
// Running the statements is what the tests of the packages do, on PostgreSQL.
package dialect

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Statement is one text of SQL and where it comes from.
type Statement struct {
	SQL      string
	Origin   string    // file:line
	Complete bool      // false for a part that code puts together with others
	Declared *Declared // nil = nothing
}

// Declared are the tables that a statement declares.
type Declared struct {
	Changes []string
	Reads   []string // besides
	Partial bool     // Reads were not declared
}

// skippedFolders hold no SQL of the platform, with the reason.
var skippedFolders = map[string]string{
	"tests":              "checks, not product",
	"pkg/testkit/dbtest": "makes and drops test databases, which is different on each product",
}

// SourceStatements finds the statements in the Go files below root: those of the product, or those of its tests.
func SourceStatements(root string, tests bool) ([]Statement, error) {
	packages := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, skip := skippedFolders[filepath.ToSlash(rel)]; (skip && !tests) || (rel != "." && strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") != tests {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read Go source: %w", err)
	}
	shared, err := sharedTables(root)
	if err != nil {
		return nil, err
	}
	var found []Statement
	for _, files := range packages {
		s := scan{fset: fset, root: root, constants: declared(token.CONST, files), variables: declared(token.VAR, files), shared: shared}
		for _, file := range files {
			ast.Inspect(file, s.visit)
		}
		found = append(found, s.found...)
	}
	slices.SortFunc(found, func(a, b Statement) int { return strings.Compare(a.Origin, b.Origin) })
	return found, nil
}

// declared are the constants or variables of a package by name.
func declared(what token.Token, files []*ast.File) map[string]ast.Expr {
	byName := map[string]ast.Expr{}
	for _, file := range files {
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != what {
				continue
			}
			for _, spec := range gen.Specs {
				value := spec.(*ast.ValueSpec)
				for i, name := range value.Names {
					if i < len(value.Values) {
						byName[name.Name] = value.Values[i]
					}
				}
			}
		}
	}
	return byName
}

type scan struct {
	fset      *token.FileSet
	root      string
	constants map[string]ast.Expr
	variables map[string]ast.Expr
	shared    map[string]ast.Expr // constants of package db
	found     []Statement
}

// visit takes the widest expressions that are constant; what stands in an expression that is not, is a part.
func (s *scan) visit(node ast.Node) bool {
	expr, ok := node.(ast.Expr)
	if !ok {
		return true
	}
	switch e := expr.(type) {
	case *ast.CallExpr:
		if w, ok := s.write(e, 0); ok {
			s.add(expr, w.text, w.complete, &w.declared)
			return false
		}
	case *ast.BasicLit, *ast.BinaryExpr:
		if text, ok := s.value(expr, 0); ok {
			s.add(expr, text, true, nil)
			return false
		}
		if _, isSum := e.(*ast.BinaryExpr); isSum {
			s.parts(expr)
			return false
		}
	}
	return true
}

// parts adds the leftmost constant of a sum that is put together at run time, and looks at the rest as usual.
func (s *scan) parts(expr ast.Expr) {
	sum, ok := expr.(*ast.BinaryExpr)
	if !ok {
		if text, ok := s.value(expr, 0); ok {
			s.add(expr, text, false, nil)
			return
		}
		ast.Inspect(expr, s.visit)
		return
	}
	s.parts(sum.X)
	s.parts(sum.Y)
}

func (s *scan) value(expr ast.Expr, depth int) (string, bool) {
	const deepest = 20 // constants cannot be circular in code that compiles; this code may not
	if depth > deepest {
		return "", false
	}
	switch e := expr.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		if value, ok := s.constants[e.Name]; ok {
			return s.value(value, depth+1)
		}
	case *ast.ParenExpr:
		return s.value(e.X, depth+1)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, leftOK := s.value(e.X, depth+1)
		right, rightOK := s.value(e.Y, depth+1)
		return left + right, leftOK && rightOK
	}
	return "", false
}

var (
	looksLikeSQL = regexp.MustCompile(`^(SELECT|INSERT\s+INTO|UPDATE|DELETE\s+FROM|UPSERT|MERGE|WITH\s+(RECURSIVE\s+)?\w+(\s*\([^)]*\))?\s+AS)\s`)
	formatVerb   = regexp.MustCompile(`%(\[\d+\])?[sdvq]`)
)

func (s *scan) add(expr ast.Expr, text string, complete bool, declared *Declared) {
	text = strings.TrimSpace(text)
	if !looksLikeSQL.MatchString(text) {
		return
	}
	at := s.fset.Position(expr.Pos())
	file, err := filepath.Rel(s.root, at.Filename)
	if err != nil {
		file = at.Filename
	}
	s.found = append(s.found, Statement{
		SQL: text, Origin: fmt.Sprintf("%s:%d", filepath.ToSlash(file), at.Line),
		Complete: complete && !formatVerb.MatchString(text), Declared: declared,
	})
}

// LoggedStatements reads the file that tests write for TRADEGRID_SQL_LOG: one JSON object per line.
func LoggedStatements(path string) ([]Statement, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read SQL log: %w", err)
	}
	defer f.Close()
	seen := map[string]bool{} // with what was declared
	var found []Statement
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var line struct {
			SQL      string
			Declared *Declared
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("SQL log %s:%d: %w", path, n, err)
		}
		text := strings.TrimSpace(line.SQL)
		if seen[lines.Text()] || isControl(text) {
			continue
		}
		seen[lines.Text()] = true
		found = append(found, Statement{SQL: text, Origin: fmt.Sprintf("SQL log line %d", n), Complete: true, Declared: line.Declared})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read SQL log: %w", err)
	}
	if len(found) == 0 {
		return nil, errors.New("the SQL log is empty: run the tests with TRADEGRID_SQL_LOG first")
	}
	return found, nil
}

var control = regexp.MustCompile(`(?i)^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|SHOW|;|-- ping|ALTER DATABASE tradegrid_test_)`)

// isControl reports whether the driver, a session or a test sent a statement, not the platform.
func isControl(text string) bool { return text == "" || control.MatchString(text) }
