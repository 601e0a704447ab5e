package dialect

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// changedTables lists the tables that a statement changes, also within a WITH, each once.
func changedTables(stmt tree.Statement) []string {
	var names []string
	var visit func(tree.Statement)
	within := func(with *tree.With) {
		if with == nil {
			return
		}
		for _, cte := range with.CTEList {
			visit(cte.Stmt)
		}
	}
	change := func(table tree.TableExpr, with *tree.With) {
		within(with)
		if aliased, ok := table.(*tree.AliasedTableExpr); ok {
			table = aliased.Expr
		}
		if name, ok := table.(*tree.TableName); ok {
			names = append(names, name.Object())
		}
	}
	visit = func(stmt tree.Statement) {
		switch s := stmt.(type) {
		case *tree.Insert:
			change(s.Table, s.With)
			if s.Rows != nil {
				visit(s.Rows)
			}
		case *tree.Update:
			change(s.Table, s.With)
		case *tree.Delete:
			change(s.Table, s.With)
		case *tree.Select:
			within(s.With)
		}
	}
	visit(stmt)
	slices.Sort(names)
	return slices.Compact(names)
}
