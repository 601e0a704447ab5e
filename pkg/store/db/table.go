package db

import (
	"slices"
	"strings"
)

// Table is the name of a table, and makes the statements that change it. There is no other way to write one, so each says
// what it changes. A package declares the names of its tables as constants, and its writes as variables:
//
//	const orders = db.Table("orders")
//
//	var sqlArchive = orders.Update(`SET archived_at = $3 WHERE company_id = $1 AND id = $2`)
type Table string

// Insert is INSERT INTO the table, followed by rest.
func (t Table) Insert(rest string) Write { return t.write("INSERT INTO ", rest) }

// Update is UPDATE of the table, followed by rest.
func (t Table) Update(rest string) Write { return t.write("UPDATE ", rest) }

// Delete is DELETE FROM the table, followed by rest.
func (t Table) Delete(rest string) Write { return t.write("DELETE FROM ", rest) }

// InsertRow is an INSERT of one row, with a parameter for each column, for [Tx.QueueRow].
func (t Table) InsertRow(columns ...string) Write {
	in := &insert{head: "INSERT INTO " + string(t) + " (" + strings.Join(columns, ", ") + ")\nVALUES ", params: len(columns)}
	return Write{&statement{sql: in.text(1), changes: []Table{t}, insert: in}}
}

// InsertRows is INSERT INTO the table, followed by rest, which selects the rows from unnest of the parameters, for [Tx.QueueRows].
func (t Table) InsertRows(rest string) Write {
	w := t.Insert(rest)
	w.s.insert = &insert{}
	return w
}

func (t Table) write(verb, rest string) Write {
	return Write{&statement{sql: verb + string(t) + " " + rest, changes: []Table{t}}}
}

// Write is a statement that changes tables. It is made once, when the program starts.
type Write struct{ s *statement }

type statement struct {
	sql     string
	changes []Table
	reads   []Table // besides
	insert  *insert // whose rows may be joined with others; nil = none
}

// Reading declares the tables that w reads besides those that it changes.
func (w Write) Reading(tables ...Table) Write {
	c := *w.s
	c.reads = append(slices.Clone(c.reads), tables...)
	return Write{&c}
}

// OnConflict appends ON CONFLICT and rest to an INSERT. One of several rows has no parameters there.
func (w Write) OnConflict(rest string) Write {
	c, tail := *w.s, "\nON CONFLICT "+rest
	c.sql += tail
	if in := c.insert; in != nil {
		if in.params > 0 && strings.Contains(rest, "$") {
			panic("a parameter after the row of VALUES: " + c.sql)
		}
		c.insert = &insert{head: in.head, tail: in.tail + tail, params: in.params}
	}
	return Write{&c}
}

// With has another write run first. w reads the rows that it returns as those of a table of the name.
func (w Write) With(name string, first Write) Write {
	return Write{&statement{
		sql:     "WITH " + name + " AS (\n" + first.s.sql + ")\n" + w.s.sql,
		changes: slices.Concat(first.s.changes, w.s.changes),
		reads:   slices.Concat(first.s.reads, w.s.reads),
	}}
}

// SQL is the text of the statement.
func (w Write) SQL() string { return w.s.sql }

// Changes lists the tables that the statement changes.
func (w Write) Changes() []Table { return w.s.changes }

// apart reports whether two statements have the same effects in either order: none changes a table that the other changes or
// reads.
func (s *statement) apart(other *statement) bool {
	return !s.changesAny(other.changes) && !s.changesAny(other.reads) && !other.changesAny(s.reads)
}

func (s *statement) changesAny(tables []Table) bool {
	return slices.ContainsFunc(tables, func(t Table) bool { return slices.Contains(s.changes, t) })
}
