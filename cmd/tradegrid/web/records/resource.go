package records

import (
	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
)

// resource is a list of the API with the pages of its records: a line of the table in resources.go.
type resource struct {
	name      string // as exports name it; the last part of keys of its texts
	area      web.Area
	scope     string
	component string
	at        string                                   // address of the list
	page      string                                   // address of a record without its id; "" = records have no page of their own
	elsewhere bool                                     // the page of a record is another room's
	list, get string                                   // operations
	create    string                                   // operation; "" = the page of the list makes none
	asks      []string                                 // fields that its form asks for, in order
	lines     *linesInput                              // of a new record; nil = it has none
	export    bool                                     // the list can be exported
	whole     bool                                     // the list has neither pages nor a total
	about     func(q *web.Request, r record) *web.Note // the sentence that the page of a record begins with; nil = none
	columns   []column
	title     string   // field that people call a record by
	state     string   // field of the state; "" = it has none
	facts     []column // of the page, beside columns
	tables    []table
	commands  []command
}

// kind is how a value is shown.
type kind int

const (
	asText    kind = iota
	asNumber       // whole, such as a count
	asAmount       // minor units
	asQty          // with decimals
	asPercent      // with decimals
	asTime         // a moment
	asDate         // a day
	asState        // one of a few words
	asWord         // one of a few words that is no state
	asYes          // true or false
	asID           // for machines
	asWords        // several texts
	asEntry        // id of an entry of a directory, which has a name
	asPairs        // texts by their names
)

// column is a field of a record that a list or a page shows.
type column struct {
	name   string
	kind   kind
	hidden bool   // not in the list unless chosen
	id     string // field with the id of the record that the value names; "" = it leads nowhere
	to     string // name of the resource of that record
}

func text(name string) column    { return column{name: name} }
func number(name string) column  { return column{name: name, kind: asNumber} }
func amount(name string) column  { return column{name: name, kind: asAmount} }
func qty(name string) column     { return column{name: name, kind: asQty} }
func percent(name string) column { return column{name: name, kind: asPercent} }
func moment(name string) column  { return column{name: name, kind: asTime} }
func date(name string) column    { return column{name: name, kind: asDate} }
func state(name string) column   { return column{name: name, kind: asState} }
func word(name string) column    { return column{name: name, kind: asWord} }
func yes(name string) column     { return column{name: name, kind: asYes} }
func code(name string) column    { return column{name: name, kind: asID} }
func words(name string) column   { return column{name: name, kind: asWords} }
func entry(name string) column   { return column{name: name, kind: asEntry} }
func pairs(name string) column   { return column{name: name, kind: asPairs} }

// less leaves the column out of the list until somebody chooses it.
func (c column) less() column {
	c.hidden = true
	return c
}

// of makes the value lead to the record of another resource, whose id is in another field.
func (c column) of(resource, id string) column {
	c.to, c.id = resource, id
	return c
}

// end is right-aligned.
func (k kind) end() bool { return k == asNumber || k == asAmount || k == asQty || k == asPercent }

// table is a list inside a record, or one that another operation knows.
type table struct {
	name    string // last part of its key of texts
	field   string // field of the record that has it; "" = an operation lists it, and it has a tab of its own
	list    string // operation
	where   string // filter of the operation that takes the id of the record; "" = its path does
	include string // parameter of the operation: what its rows have beside their fields
	columns []column
	sums    []string // columns that are added up
	sees    web.Area // area whose records these are; "" = that of the record
	all     string   // address of the list of them all
}

// command is an operation that changes a record.
type command struct {
	name   string // last part of its keys of texts
	op     string
	when   func(r record) bool // nil = always
	each   string              // field of the record with the values of param, each of which is a command of its own
	param  string              // parameter of the path beside id: a value of each, or the id of a row
	table  string              // the command is one of the rows of this table
	adds   string              // the command stands above this table, and adds rows to it
	form   bool                // people fill in fields
	fields []string            // that the form asks for, in order; nil = all
	rows   *rowsInput          // quantities of lines that the form asks for
	traits *traitsInput        // values of attributes that the form asks for
	danger bool
	makes  bool   // it answers another record of the resource, which the page leads to
	ends   bool   // the record is gone then
	to     string // resource of the record that it makes, whose id is in the field idOf of the answer
	idOf   string
}
