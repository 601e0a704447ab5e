package db

import (
	"maps"
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// WritesKept is how long [WriteLog] remembers a write.
const WritesKept = 10 * time.Second

// WriteLog remembers when this process last changed the tables of each company. The zero value is ready to use.
type WriteLog struct {
	mu    sync.Mutex
	last  map[changedTable]time.Time // those older than WritesKept may be missing
	swept time.Time
}

// changedTable is a table that was changed for a company; the zero company stands for any.
type changedTable struct {
	company tenant.ID
	table   Table
}

// WriteLog returns what the transactions of this process may have changed, committed or not. A transaction is added when
// [DB.RunTx] is done with it, before its caller goes on.
func (d *DB) WriteLog() *WriteLog { return d.writeLog }

// Add says that a table may have changed just now; a zero company stands for any.
func (w *WriteLog) Add(company tenant.ID, table Table) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last, w.swept = map[changedTable]time.Time{}, now
	}
	w.last[changedTable{company, table}] = now
	if now.Sub(w.swept) > WritesKept {
		maps.DeleteFunc(w.last, func(_ changedTable, at time.Time) bool { return now.Sub(at) > WritesKept })
		w.swept = now
	}
}

// Last returns the time of the last change to one of the tables that may be the company's; zero if there was none within
// [WritesKept]. A read that begins after it sees what this process has answered.
func (w *WriteLog) Last(company tenant.ID, tables []Table) (last time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range tables {
		for _, c := range [2]tenant.ID{company, {}} {
			if at := w.last[changedTable{c, t}]; at.After(last) {
				last = at
			}
		}
	}
	return last
}

// note remembers the tables that a write changes.
func (r *txRun) note(w Write, args []any) {
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
