package dialect

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// usedTables lists the tables that a statement changes, also within a WITH, and those that it only reads, each once.
func usedTables(stmt tree.Statement) (changed, read []string) {
	u := used{changed: map[string]bool{}, named: map[string]bool{}}
	u.look(reflect.ValueOf(stmt))
	for name := range u.changed {
		delete(u.named, name)
	}
	return slices.Sorted(maps.Keys(u.changed)), slices.Sorted(maps.Keys(u.named))
}

// used collects what a statement names. Tables of its WITH are none of the database.
type used struct {
	changed, named map[string]bool
	with           []string
}

// look walks the syntax tree, in which a table is named in many places.
func (u *used) look(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			u.look(v.Elem())
		}
	case reflect.Pointer:
		if !v.IsNil() && !u.known(v.Interface()) {
			u.look(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			u.look(v.Index(i))
		}
	case reflect.Struct:
		if strings.HasSuffix(v.Type().PkgPath(), "/types") {
			return // no names of tables, but pointers in circles
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				u.look(v.Field(i))
			}
		}
	default:
	}
}

// known notes what a node says of tables. It reports whether there is nothing below it.
func (u *used) known(node any) bool {
	switch n := node.(type) {
	case *tree.With:
		for _, cte := range n.CTEList {
			u.with = append(u.with, string(cte.Name.Alias))
		}
	case *tree.Insert:
		u.change(n.With, n.Table)
	case *tree.Update:
		u.change(n.With, n.Table)
	case *tree.Delete:
		u.change(n.With, n.Table)
	case *tree.TableName:
		if name := n.Object(); !slices.Contains(u.with, name) {
			u.named[name] = true
		}
		return true
	}
	return false
}

func (u *used) change(with *tree.With, table tree.TableExpr) {
	if with != nil {
		u.known(with)
	}
	if aliased, ok := table.(*tree.AliasedTableExpr); ok {
		table = aliased.Expr
	}
	if name, ok := table.(*tree.TableName); ok {
		u.changed[name.Object()] = true
	}
}
