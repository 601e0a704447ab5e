package db

import (
	"fmt"
	"maps"
	"math/bits"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// QueueRow is [Tx.Queue] for an INSERT of one row that says VALUES ($1, $2, …), with a parameter for each value and none after
// that. Rows of the same statement are sent as statements of several rows, in the place of the last of them, unless a
// write between them names the same table. So nothing else that is queued may depend on whether the row is there.
//
// [Queued.Expect] counts for the row, as before. A write with [Queued.Rows] is sent on its own.
func (t *Tx) QueueRow(sql string, args ...any) *Queued {
	q := t.Queue(sql, args...)
	q.insert = t.run.inserts.get(sql)
	if q.insert.params != len(args) {
		panic(fmt.Sprintf("%d arguments for VALUES of %d parameters: %s", len(args), q.insert.params, sql))
	}
	return q
}

// QueueRows is [Tx.QueueRow] for an INSERT that selects its rows from unnest($1, $2, …): each argument is a slice with one
// element per row.
func (t *Tx) QueueRows(sql string, columns ...any) *Queued {
	q := t.Queue(sql, columns...)
	q.insert = t.run.inserts.get(sql)
	if q.insert.params != 0 {
		panic("an INSERT of slices has no VALUES: " + sql)
	}
	return q
}

// insert is the text of an INSERT whose rows may be joined.
type insert struct {
	sql        string
	table      string
	head, tail string // around the rows after VALUES
	params     int    // of one row; 0 = the rows are in slices
	many       sizes
}

// sizes are the statements for 1, 2, 4, 8 and 16 rows. Few sizes, because a connection prepares a statement for each, and
// no larger ones, because the server keeps a plan with a value for each parameter.
type sizes [5]atomic.Pointer[string]

var (
	insertInto   = regexp.MustCompile(`^INSERT INTO ([a-z0-9_]+) `)
	insertValues = regexp.MustCompile(`^(INSERT INTO [a-z0-9_]+ \([^()]*\)\s+VALUES )\((\$[0-9, $]+)\)([^$]*)$`)
)

// newInsert panics if the statement is none whose rows can be joined.
func newInsert(sql string) *insert {
	into := insertInto.FindStringSubmatch(sql)
	if into == nil {
		panic("not an INSERT: " + sql)
	}
	in := &insert{sql: sql, table: into[1]}
	if !strings.Contains(sql, "VALUES (") {
		return in
	}
	m := insertValues.FindStringSubmatch(sql)
	if m == nil || m[2] != placeholders(1, strings.Count(m[2], "$")) {
		panic("not an INSERT of one row, VALUES ($1, $2, …): " + sql)
	}
	in.head, in.tail, in.params = m[1], m[3], strings.Count(m[2], "$")
	return in
}

func placeholders(first, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(marks, ", ")
}

// of returns the statement for 1<<log rows.
func (in *insert) of(log int) string {
	if log == 0 {
		return in.sql
	}
	if made := in.many[log].Load(); made != nil {
		return *made
	}
	rows := make([]string, 1<<log)
	for i := range rows {
		rows[i] = "(" + placeholders(1+i*in.params, in.params) + ")"
	}
	made := in.head + strings.Join(rows, ", ") + in.tail
	in.many[log].Store(&made)
	return made
}

// inserts are those of all transactions of a [DB], by statement.
type inserts struct {
	mu  sync.RWMutex
	all map[string]*insert
}

func (c *inserts) get(sql string) *insert {
	c.mu.RLock()
	in := c.all[sql]
	c.mu.RUnlock()
	if in != nil {
		return in
	}
	made := newInsert(sql)
	c.mu.Lock()
	defer c.mu.Unlock()
	if in := c.all[sql]; in != nil {
		return in
	}
	c.all[sql] = made
	return made
}

// joined are writes that become one, or several if there are too many rows.
type joined struct {
	writes []*Queued
	last   int      // index of the last of them, whose place they take
	passed []string // statements that they may be sent after
}

// join makes statements of several rows of the writes that allow it; see [Tx.QueueRow].
func join(queue []*Queued) []*Queued {
	if !slices.ContainsFunc(queue, func(q *Queued) bool { return q.joinable() && q.repeated(queue) }) {
		return queue
	}
	var open []*joined
	byLast := make([]*joined, len(queue))
	for i, q := range queue {
		open = slices.DeleteFunc(open, func(j *joined) bool { return !j.sameAs(q) && !j.passes(q) })
		if !q.joinable() {
			continue
		}
		mine := slices.IndexFunc(open, func(j *joined) bool { return j.sameAs(q) })
		if mine < 0 {
			mine, open = len(open), append(open, &joined{})
		} else {
			byLast[open[mine].last] = nil
		}
		j := open[mine]
		j.writes, j.last = append(j.writes, q), i
		byLast[i] = j
	}
	sent := make([]*Queued, 0, len(queue))
	for i, q := range queue {
		if !q.joinable() {
			sent = append(sent, q)
		} else if byLast[i] != nil {
			sent = byLast[i].appendTo(sent)
		}
	}
	return sent
}

// joinable reports whether the write may become a part of another.
func (q *Queued) joinable() bool { return q.insert != nil && q.rows == nil }

// repeated reports whether the queue has another write of the statement.
func (q *Queued) repeated(queue []*Queued) bool {
	return slices.ContainsFunc(queue, func(other *Queued) bool { return other != q && other.insert == q.insert })
}

// sameAs reports whether a write differs from these in its rows only.
func (j *joined) sameAs(q *Queued) bool {
	first := j.writes[0]
	return q.joinable() && first.insert == q.insert && (first.expect < 0) == (q.expect < 0) && sameError(first.orElse, q.orElse) &&
		maps.EqualFunc(first.faults, q.faults, sameError)
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a).Comparable() && any(a) == any(b)
}

// passes reports whether these writes may be sent after another one: neither names the table that the other changes.
func (j *joined) passes(q *Queued) bool {
	if slices.Contains(j.passed, q.sql) {
		return true
	}
	mine := j.writes[0].insert
	if names(q.sql, mine.table) || slices.ContainsFunc(ChangedBy(q.sql), func(table string) bool { return names(mine.sql, table) }) {
		return false
	}
	j.passed = append(j.passed, q.sql)
	return true
}

// appendTo appends the statements with all rows.
func (j *joined) appendTo(sent []*Queued) []*Queued {
	writes := j.writes
	for len(writes) > 0 {
		n := len(writes)
		if in := writes[0].insert; in.params > 0 {
			n = 1 << min(bits.Len(uint(n))-1, len(in.many)-1)
		}
		sent = append(sent, merge(writes[:n]))
		writes = writes[n:]
	}
	return sent
}

// merge makes one write of several, a power of two of them if they have VALUES.
func merge(writes []*Queued) *Queued {
	if len(writes) == 1 {
		return writes[0]
	}
	q := *writes[0]
	if q.expect >= 0 {
		q.expect = 0
		for _, w := range writes {
			q.expect += w.expect
		}
	}
	if q.insert.params == 0 {
		q.args = appendColumns(writes)
		return &q
	}
	q.sql, q.args = q.insert.of(bits.Len(uint(len(writes)))-1), make([]any, 0, len(writes)*q.insert.params)
	for _, w := range writes {
		q.args = append(q.args, w.args...)
	}
	return &q
}

// appendColumns joins slices with one element per row.
func appendColumns(writes []*Queued) []any {
	columns := make([]any, len(writes[0].args))
	for i := range columns {
		n := 0
		for _, w := range writes {
			n += reflect.ValueOf(w.args[i]).Len()
		}
		all := reflect.MakeSlice(reflect.TypeOf(writes[0].args[i]), 0, n)
		for _, w := range writes {
			all = reflect.AppendSlice(all, reflect.ValueOf(w.args[i]))
		}
		columns[i] = all.Interface()
	}
	return columns
}

// names reports whether a statement contains a word.
func names(sql, word string) bool {
	for {
		i := strings.Index(sql, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || !wordByte(sql[i-1])) && (end == len(sql) || !wordByte(sql[end])) {
			return true
		}
		sql = sql[end:]
	}
}

func wordByte(c byte) bool { return letter(c) || c >= '0' && c <= '9' }
