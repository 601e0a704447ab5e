package db

import (
	"fmt"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// QueueRow is [Tx.Queue] for a write that [Table.InsertRow] has made. Rows of the same write are sent as statements of several
// rows, in the place of the last of them, unless a statement between them depends on the table or changes one that the write
// reads. So nothing else that is queued may depend on whether the row is there.
//
// [Queued.Expect] counts for the row, as before. A write with [Queued.Rows] is sent on its own.
func (t *Tx) QueueRow(w Write, args ...any) *Queued {
	in := w.s.insert
	if in == nil || in.params == 0 || in.params != len(args) {
		panic(fmt.Sprintf("not an INSERT of one row of %d columns: %s", len(args), w.s.sql))
	}
	q := t.Queue(w, args...)
	q.joins = true
	return q
}

// QueueRows is [Tx.QueueRow] for a write that [Table.InsertRows] has made: each argument is a slice with one element per row.
func (t *Tx) QueueRows(w Write, columns ...any) *Queued {
	if in := w.s.insert; in == nil || in.params != 0 {
		panic("not an INSERT of slices: " + w.s.sql)
	}
	q := t.Queue(w, columns...)
	q.joins = true
	return q
}

// insert is the text of an INSERT whose rows may be joined.
type insert struct {
	head, tail string // around the rows after VALUES
	params     int    // of one row; 0 = the rows are in slices
	many       sizes
}

// sizes are the statements for 2, 4, 8 and 16 rows, by the logarithm. Few sizes, because a connection prepares a statement for
// each, and no larger ones, because the server keeps a plan with a value for each parameter.
type sizes [5]atomic.Pointer[string]

func placeholders(first, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(marks, ", ")
}

// text returns the statement for n rows.
func (in *insert) text(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = "(" + placeholders(1+i*in.params, in.params) + ")"
	}
	return in.head + strings.Join(rows, ", ") + in.tail
}

// of returns the statement for 1<<log rows, at least two.
func (in *insert) of(log int) string {
	if made := in.many[log].Load(); made != nil {
		return *made
	}
	made := in.text(1 << log)
	in.many[log].Store(&made)
	return made
}

// joined are writes that become one, or several if there are too many rows.
type joined struct {
	writes []*Queued
	last   int // index of the last of them, whose place they take
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
func (q *Queued) joinable() bool { return q.joins && q.rows == nil }

// repeated reports whether the queue has another write of the statement.
func (q *Queued) repeated(queue []*Queued) bool {
	return slices.ContainsFunc(queue, func(other *Queued) bool { return other != q && other.joins && other.write.insert == q.write.insert })
}

// sameAs reports whether a write differs from these in its rows only.
func (j *joined) sameAs(q *Queued) bool {
	first := j.writes[0]
	return q.joinable() && first.write.insert == q.write.insert && (first.expect < 0) == (q.expect < 0) && sameError(first.orElse, q.orElse) &&
		maps.EqualFunc(first.faults, q.faults, sameError)
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a).Comparable() && any(a) == any(b)
}

// passes reports whether these writes may be sent after another statement. A queued read may read any table.
func (j *joined) passes(q *Queued) bool {
	return q.write != nil && j.writes[0].write.apart(q.write)
}

// appendTo appends the statements with all rows.
func (j *joined) appendTo(sent []*Queued) []*Queued {
	writes := j.writes
	for len(writes) > 0 {
		n := len(writes)
		if in := writes[0].write.insert; in.params > 0 {
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
	in := q.write.insert
	if in.params == 0 {
		q.args = appendColumns(writes)
		return &q
	}
	q.sql, q.args = in.of(bits.Len(uint(len(writes)))-1), make([]any, 0, len(writes)*in.params)
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
