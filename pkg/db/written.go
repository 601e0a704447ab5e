package db

import (
	"sync"

	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// writeListeners are told what transactions changed.
type writeListeners struct {
	mu  sync.RWMutex
	all []func(company tenant.ID, table Table)
}

// OnWritten has fn called for each table that a transaction of this process may have changed, once [DB.RunTx] is done with
// it, committed or not. The company is zero if a statement does not name it. Call it before the first transaction.
func (d *DB) OnWritten(fn func(company tenant.ID, table Table)) {
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
	table   Table
}

// note remembers the tables that a write changes.
func (r *txRun) note(w Write, args []any) {
	if !r.listened {
		return
	}
	for _, table := range w.s.changes {
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
