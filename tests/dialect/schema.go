package dialect

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// Parse runs CockroachDB's parser, which panics on some statements that it does not know.
func Parse(sql string) (stmt tree.Statement, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("CockroachDB's parser gave up: %v", p)
		}
	}()
	parsed, err := parser.ParseOne(sql)
	if err != nil {
		return nil, fmt.Errorf("CockroachDB cannot parse it: %w", err)
	}
	return parsed.AST, nil
}

// Migrations reads the statements of the files whose names match, in the order in which they are applied:
// by number, an overlay after the common file.
func Migrations(dir string, match func(name string) bool) ([]Statement, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(paths, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ".sql"), strings.TrimSuffix(b, ".sql"))
	})
	var all []Statement
	for _, path := range paths {
		if !match(filepath.Base(path)) {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		stmts, err := splitFile(filepath.Base(path), string(src))
		if err != nil {
			return nil, err
		}
		all = append(all, stmts...)
	}
	return all, nil
}

func splitFile(name, rest string) (stmts []Statement, err error) {
	for line := 1; ; {
		end, ok := parser.SplitFirstStatement(rest)
		if !ok {
			if strings.TrimSpace(stripComments(rest)) != "" {
				return nil, fmt.Errorf("%s:%d: text without a semicolon at its end", name, line)
			}
			return stmts, nil
		}
		text := rest[:end]
		blank := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
		stmts = append(stmts, Statement{
			SQL:      strings.TrimSuffix(strings.TrimSpace(text), ";"),
			Origin:   fmt.Sprintf("%s:%d", name, line+strings.Count(text[:blank], "\n")),
			Complete: true,
		})
		line += strings.Count(text, "\n")
		rest = rest[end:]
	}
}

var comment = regexp.MustCompile(`(?m)--.*$`)

func stripComments(s string) string { return comment.ReplaceAllString(s, "") }

// Schema is what the checks need to know of the tables.
type Schema struct {
	Tables map[string]map[string]bool // column → may be null
}

// Tenant reports whether the rows of a table belong to companies.
func (s Schema) Tenant(table string) bool {
	_, ok := s.Tables[table]["company_id"]
	return ok
}

// ReadSchema collects the tables from CREATE TABLE and ALTER TABLE ADD COLUMN.
func ReadSchema(migrations []Statement) (Schema, error) {
	s := Schema{Tables: map[string]map[string]bool{}}
	for _, m := range migrations {
		stmt, err := Parse(m.SQL)
		if err != nil {
			return s, fmt.Errorf("%s: %w", m.Origin, err)
		}
		switch ddl := stmt.(type) {
		case *tree.CreateTable:
			name := ddl.Table.Table()
			s.Tables[name] = map[string]bool{}
			for _, def := range ddl.Defs {
				s.addDef(name, def)
			}
		case *tree.AlterTable:
			name := ddl.Table.ToTableName()
			for _, cmd := range ddl.Cmds {
				if add, ok := cmd.(*tree.AlterTableAddColumn); ok {
					s.addDef(name.Table(), add.ColumnDef)
				}
			}
		}
	}
	return s, nil
}

func (s Schema) addDef(table string, def tree.TableDef) {
	column, ok := def.(*tree.ColumnTableDef)
	if !ok || s.Tables[table] == nil {
		return
	}
	s.Tables[table][string(column.Name)] = column.Nullable.Nullability != tree.NotNull && !column.PrimaryKey.IsPrimaryKey
}
