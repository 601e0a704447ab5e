package dialect

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// sharedTables are the tables that package db declares for others.
func sharedTables(root string) (map[string]ast.Expr, error) {
	paths, err := filepath.Glob(filepath.Join(root, "pkg/store/db/*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read Go source: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return declared(token.CONST, files), nil
}

// written is a statement that a db.Table makes.
type written struct {
	text     string
	complete bool
	declared Declared
}

// write is the statement of a call such as orders.Update("SET …").Reading(clients).
func (s *scan) write(expr ast.Expr, depth int) (w written, ok bool) {
	const deepest = 20 // as in [scan.value]
	if depth > deepest {
		return w, false
	}
	if name, isName := expr.(*ast.Ident); isName {
		value, known := s.variables[name.Name]
		if !known {
			return w, false
		}
		return s.write(value, depth+1)
	}
	call, isCall := expr.(*ast.CallExpr)
	if !isCall {
		return w, false
	}
	method, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod {
		return w, false
	}
	if table, known := s.table(method.X); known {
		return s.madeBy(table, method.Sel.Name, call.Args)
	}
	if w, ok = s.write(method.X, depth+1); !ok {
		return w, false
	}
	return s.with(w, method.Sel.Name, call.Args, depth)
}

// with is the statement that a method makes of another.
func (s *scan) with(w written, method string, args []ast.Expr, depth int) (written, bool) {
	switch method {
	case "Reading":
		for _, arg := range args {
			name, ok := s.table(arg)
			if !ok {
				name, ok = s.value(arg, 0)
			}
			w.declared.Reads, w.complete = append(w.declared.Reads, name), w.complete && ok
		}
	case "OnConflict":
		tail, complete := s.text(args[0])
		w.text, w.complete = w.text+"\nON CONFLICT "+tail, w.complete && complete
	case "With":
		name, _ := s.text(args[0])
		first, ok := s.write(args[1], depth+1)
		if !ok {
			return w, false
		}
		w.text, w.complete = "WITH "+name+" AS (\n"+first.text+")\n"+w.text, w.complete && first.complete
		w.declared.Changes, w.declared.Reads = append(w.declared.Changes, first.declared.Changes...), append(w.declared.Reads, first.declared.Reads...)
	default:
		return w, false
	}
	return w, true
}

// table is the name of the table that an expression is, in the forms orders, db.TxMarkers and db.Table("orders").
func (s *scan) table(expr ast.Expr) (name string, ok bool) {
	switch e := expr.(type) {
	case *ast.Ident:
		value, known := s.constants[e.Name]
		call, isCall := value.(*ast.CallExpr)
		if !known || !isCall {
			return "", false
		}
		return s.table(call)
	case *ast.SelectorExpr:
		if of, isName := e.X.(*ast.Ident); isName && of.Name == "db" {
			call, isCall := s.shared[e.Sel.Name].(*ast.CallExpr)
			return s.nameIn(call, isCall)
		}
	case *ast.CallExpr:
		return s.nameIn(e, true)
	}
	return "", false
}

// nameIn is the argument of Table("orders") and db.Table("orders").
func (s *scan) nameIn(call *ast.CallExpr, ok bool) (string, bool) {
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	if named, isSelector := call.Fun.(*ast.SelectorExpr); isSelector {
		if of, isName := named.X.(*ast.Ident); !isName || of.Name != "db" || named.Sel.Name != "Table" {
			return "", false
		}
	} else if plain, isName := call.Fun.(*ast.Ident); !isName || plain.Name != "Table" {
		return "", false
	}
	return s.value(call.Args[0], 0)
}

// madeBy is the statement that a method of a table makes.
func (s *scan) madeBy(table, method string, args []ast.Expr) (w written, ok bool) {
	verb, known := map[string]string{"Insert": "INSERT INTO ", "InsertRows": "INSERT INTO ", "Update": "UPDATE ", "Delete": "DELETE FROM "}[method]
	switch {
	case method == "InsertRow":
		columns, marks := make([]string, len(args)), make([]string, len(args))
		for i, arg := range args {
			columns[i], _ = s.text(arg)
			marks[i] = fmt.Sprintf("$%d", i+1)
		}
		text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ")\nVALUES (" + strings.Join(marks, ", ") + ")"
		return written{text, true, Declared{Changes: []string{table}}}, true
	case known && len(args) == 1:
		rest, complete := s.text(args[0])
		return written{verb + table + " " + rest, complete, Declared{Changes: []string{table}}}, true
	}
	return w, false
}

// text is a constant, or the leftmost one of a sum.
func (s *scan) text(expr ast.Expr) (text string, complete bool) {
	if text, ok := s.value(expr, 0); ok {
		return text, true
	}
	for sum, ok := expr.(*ast.BinaryExpr); ok; sum, ok = expr.(*ast.BinaryExpr) {
		expr = sum.X
	}
	text, _ = s.value(expr, 0)
	return text, false
}
