package db

import (
	"strings"
	"sync"

	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// writeListeners are told what transactions changed.
type writeListeners struct {
	mu  sync.RWMutex
	all []func(company tenant.ID, table string)
}

// OnWritten has fn called for each table that a transaction of this process may have changed, once [DB.RunTx] is done with
// it, committed or not. The company is zero if a statement does not name it. Call it before the first transaction.
func (d *DB) OnWritten(fn func(company tenant.ID, table string)) {
	d.written.mu.Lock()
	defer d.written.mu.Unlock()
	d.written.all = append(d.written.all, fn)
}

func (l *writeListeners) any() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.all) > 0
}

func (l *writeListeners) tell(changed map[changedTable]struct{}) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for c := range changed {
		for _, fn := range l.all {
			fn(c.company, c.table)
		}
	}
}

type changedTable struct {
	company tenant.ID
	table   string
}

// note remembers the tables that a statement changes.
func (r *txRun) note(sql string, args []any) {
	if !r.listened {
		return
	}
	for _, table := range ChangedBy(sql) {
		if r.changed == nil {
			r.changed = map[changedTable]struct{}{}
		}
		for _, company := range companiesOf(args) {
			r.changed[changedTable{company, table}] = struct{}{}
		}
	}
}

// companiesOf returns the first company among the arguments of a statement, or the first companies.
func companiesOf(args []any) []tenant.ID {
	for _, a := range args {
		switch a := a.(type) {
		case tenant.ID:
			return []tenant.ID{a}
		case []tenant.ID:
			return a
		}
	}
	return []tenant.ID{{}}
}

// ChangedBy lists the tables that a statement changes, also within a WITH. Keywords are upper case in all statements and
// names of tables lower case, so ON CONFLICT DO UPDATE SET and FOR UPDATE OF name none. tests/dialect compares it with a
// parser on all statements.
func ChangedBy(sql string) (tables []string) {
	for _, verb := range [...]string{"INSERT INTO ", "UPDATE ", "DELETE FROM "} {
		for rest := sql; ; {
			_, after, found := strings.Cut(rest, verb)
			if !found {
				break
			}
			if name := TableName(after); name != "" {
				tables = append(tables, name)
			}
			rest = after
		}
	}
	return tables
}

// TableName is the name that a part of a statement begins with; "" if it begins with a keyword or anything else.
func TableName(sql string) string {
	end := strings.IndexFunc(sql, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	if end < 0 {
		return sql
	}
	return sql[:end]
}
