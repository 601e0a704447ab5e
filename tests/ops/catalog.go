package ops

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Metric is a family of series that a process shows.
type Metric struct {
	Name      string
	Histogram bool
	Labels    []string // its own, without those of the scrape
}

// targetLabels come from the scrape: what runs where.
var targetLabels = []string{"cell", "namespace", "role", "instance", "pod", "job", "container"}

// library are the families of the Prometheus client and of Prometheus itself that the dashboards use.
var library = []Metric{
	{Name: "go_goroutines"},
	{Name: "process_cpu_seconds_total"},
	{Name: "process_resident_memory_bytes"},
	{Name: "process_open_fds"},
	{Name: "process_max_fds"},
	{Name: "ALERTS", Labels: []string{"alertname", "alertstate", "severity"}},
}

// Catalog reads the metrics that the sources below root declare.
func Catalog(root string) (map[string]Metric, error) {
	all := map[string]Metric{}
	for _, m := range library {
		all[m.Name] = m
	}
	for _, dir := range []string{"pkg", "services", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			found, err := declared(path)
			for _, m := range found {
				all[m.Name] = m
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read metrics of %s: %w", dir, err)
		}
	}
	return all, nil
}

// declared finds the constructors of package prometheus in a file.
func declared(path string) ([]Metric, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", path, err)
	}
	var found []Metric
	prefix, maker := descMaker(file)
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.SelectorExpr:
			if m, ok := constructed(fun, call.Args); ok {
				found = append(found, m)
			}
		case *ast.Ident:
			if texts := literals(call.Args); fun.Name == maker && maker != "" && len(texts) > 1 {
				found = append(found, Metric{Name: prefix + texts[0], Labels: texts[2:]})
			}
		}
		return true
	})
	return found, nil
}

// constructed reads prometheus.NewCounterVec(prometheus.CounterOpts{Name: "…"}, []string{"…"}) and its kin.
func constructed(fun *ast.SelectorExpr, args []ast.Expr) (Metric, bool) {
	kind := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(fun.Sel.Name, "New"), "Vec"), "Func")
	if !slices.Contains([]string{"Counter", "Gauge", "Histogram"}, kind) || len(args) == 0 {
		return Metric{}, false
	}
	opts, ok := args[0].(*ast.CompositeLit)
	if !ok {
		return Metric{}, false
	}
	m := Metric{Histogram: kind == "Histogram"}
	for _, e := range opts.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Name" {
			if names := literals([]ast.Expr{kv.Value}); len(names) == 1 {
				m.Name = names[0]
			}
		}
	}
	if len(args) > 1 {
		if labels, ok := args[1].(*ast.CompositeLit); ok {
			m.Labels = literals(labels.Elts)
		}
	}
	return m, m.Name != ""
}

// descMaker finds a function of a file that makes descriptions under a common prefix:
// name := func(…) { return prometheus.NewDesc("prefix_"+n, …) }.
func descMaker(file *ast.File) (prefix, name string) {
	ast.Inspect(file, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 {
			return true
		}
		fun, isFunc := set.Rhs[0].(*ast.FuncLit)
		ident, isIdent := set.Lhs[0].(*ast.Ident)
		if !isFunc || !isIdent {
			return true
		}
		ast.Inspect(fun, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			sum, isSum := call.Args[0].(*ast.BinaryExpr)
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isSum && sel.Sel.Name == "NewDesc" {
				if texts := literals([]ast.Expr{sum.X}); len(texts) == 1 {
					prefix, name = texts[0], ident.Name
				}
			}
			return true
		})
		return true
	})
	return prefix, name
}

// literals are the texts among expressions.
func literals(exprs []ast.Expr) []string {
	var texts []string
	for _, e := range exprs {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, s)
			}
		}
	}
	return texts
}
