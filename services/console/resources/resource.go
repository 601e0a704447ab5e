package resources

import (
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/web"
)

// Resource is a list of the API with the pages of its records.
type Resource struct {
	Name      string // as exports name it; its texts are resource.NAME and those below it
	Area      web.Area
	Scope     string
	Component string

	Address   string                                   // address of the list
	Page      string                                   // address of a record without its id; "" = records have no page of their own
	Elsewhere bool                                     // the page of a record is that of another package
	Title     string                                   // field that people call a record by
	State     string                                   // field of the state; "" = it has none
	About     func(q *web.Request, r Record) *web.Note // the sentence that the page of a record begins with; nil = none

	List, Get string // operations
	Whole     bool   // the list has neither pages nor a total
	Export    bool   // the list can be exported
	Report    string // operation that adds up the records by day; "" = none does
	Find      *Find  // nil = the find field does not look through it

	Create string      // operation; "" = the page of the list makes none
	Asks   []string    // fields that its form asks for, in order
	Lines  *LinesInput // of a new record; nil = it has none

	Columns  []Column
	Facts    []Column // of the page, beside columns and fields whose kind follows from their type
	Tables   []Table
	Commands []Command
}

// Heading is what people call the list: the text resource.NAME, in English the words of the name unless there is one.
func (r Resource) Heading(q *web.Request) string { return q.Named("resource."+r.Name, r.Name) }

// One is what people call a record: the text resource.NAME.one, in English that of the operation which reads it unless there is one.
func (r Resource) One(q *web.Request) string {
	return q.Named("resource."+r.Name+".one", strings.TrimPrefix(r.Get, "get"))
}

// New is what people call the making of a record: the text resource.NAME.new, in English that of the operation unless there is one.
func (r Resource) New(q *web.Request) string {
	return q.Named("resource."+r.Name+".new", "new"+strings.TrimPrefix(r.Create, "create"))
}

// Kind is how a value is shown.
type Kind int

// The kinds of values.
const (
	AsText    Kind = iota
	AsNumber       // whole, such as a count
	AsAmount       // minor units
	AsQty          // with decimals
	AsPercent      // with decimals
	AsTime         // a moment
	AsDate         // a day
	AsState        // one of a few words
	AsWord         // one of a few words that is no state
	AsYes          // true or false
	AsID           // for machines
	AsTexts        // several texts
	AsEntry        // id of an entry of a directory, which has a name
	AsPairs        // texts by their names
)

// Column is a field of a record that a list or a page shows.
type Column struct {
	Name   string
	Kind   Kind
	Hidden bool   // not in the list unless chosen
	ID     string // field with the id of the record that the value names; "" = it leads nowhere
	To     string // name of the resource of that record
}

func text(name string) Column    { return Column{Name: name} }
func number(name string) Column  { return Column{Name: name, Kind: AsNumber} }
func amount(name string) Column  { return Column{Name: name, Kind: AsAmount} }
func qty(name string) Column     { return Column{Name: name, Kind: AsQty} }
func percent(name string) Column { return Column{Name: name, Kind: AsPercent} }
func moment(name string) Column  { return Column{Name: name, Kind: AsTime} }
func state(name string) Column   { return Column{Name: name, Kind: AsState} }
func word(name string) Column    { return Column{Name: name, Kind: AsWord} }
func yes(name string) Column     { return Column{Name: name, Kind: AsYes} }
func code(name string) Column    { return Column{Name: name, Kind: AsID} }
func texts(name string) Column   { return Column{Name: name, Kind: AsTexts} }
func entry(name string) Column   { return Column{Name: name, Kind: AsEntry} }
func pairs(name string) Column   { return Column{Name: name, Kind: AsPairs} }

// Less leaves the column out of the list until somebody chooses it.
func (c Column) Less() Column {
	c.Hidden = true
	return c
}

// Of makes the value lead to the record of another resource, whose id is in another field.
func (c Column) Of(resource, id string) Column {
	c.To, c.ID = resource, id
	return c
}

// End is right-aligned.
func (k Kind) End() bool { return k == AsNumber || k == AsAmount || k == AsQty || k == AsPercent }

// Table is a list inside a record, or one that another operation knows.
type Table struct {
	Name    string   // last part of its key of texts
	Field   string   // field of the record that has it; "" = an operation lists it, and it has a tab of its own
	List    string   // operation
	Where   string   // filter of the operation that takes the id of the record; "" = its path does
	Include string   // parameter of the operation: what its rows have beside their fields
	Columns []Column // of a field of the record, with those that follow from types; Less leaves one out
	Sums    []string // columns that are added up
	Sees    web.Area // area whose records these are; "" = that of the record
	All     string   // address of the list of them all
}

// Command is an operation that changes a record.
type Command struct {
	Name       string // last part of its keys of texts
	Op         string
	When       func(r Record) bool // nil = always
	ForEach    string              // field of the record with the values of param, each of which is a command of its own
	Param      string              // parameter of the path beside id: a value of each, or the id of a row
	Table      string              // the command is one of the rows of this table
	AddsTo     string              // the command stands above this table, and adds rows to it
	Form       bool                // people fill in fields
	Fields     []string            // that the form asks for, in order; nil = all that people fill in
	Rows       *RowsInput          // quantities of lines that the form asks for
	Attributes *AttributesInput    // values of attributes that the form asks for
	Danger     bool
	Makes      bool   // it answers another record of the resource, which the page leads to
	Ends       bool   // the record is gone then
	To         string // resource of the record that it makes, whose id is in the field idOf of the answer
	IDOf       string
}

// LinesInput is a field of a body with the lines of a new document.
type LinesInput struct {
	Field string // of the body
	Ref   string // field of a line with the id of the product
	Price string // field of a line with its price
}

// RowsInput is a field of a body that is an array with a quantity for some lines of the record.
type RowsInput struct {
	Field string // of the body
	ID    string // field of an element that names the line
	Done  string // field of a line: how much of it is dealt with
	Only  string // kind of the lines; "" = all
}

// AttributesInput is a field of a body with values of the attributes that tell the variants of a product apart.
type AttributesInput struct {
	Field  string // of the body
	Matrix bool   // several options of each attribute; each combination becomes a variant
}

// Choices are a short list of the API whose entries other records name by their ids.
type Choices struct {
	List   string   // operation
	Name   string   // field with the name of an entry
	Paged  bool     // the answer is a page, of which the first 200 are read
	Within string   // field of an entry with the entries that are meant; "" = it is meant itself
	Fields []string // fields of records that name an entry
}

// ChoicesOf are those that a field names one of.
func ChoicesOf(field string) (c Choices, ok bool) {
	all := choices()
	i := slices.IndexFunc(all, func(c Choices) bool { return slices.Contains(c.Fields, field) })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

func choices() []Choices {
	return []Choices{
		{List: "listUsers", Name: "name", Fields: []string{"assignedToId", "assigneeId", "createdById", "cashierId", "openedById", "actorId"}},
		{List: "listBranches", Name: "name", Fields: []string{"branchId"}},
		{List: "listWarehouses", Name: "name", Paged: true, Fields: []string{"warehouseId"}},
		{List: "listSuppliers", Name: "name", Paged: true, Fields: []string{"supplierId", "defaultSupplierId"}},
		{List: "listResources", Name: "name", Paged: true, Fields: []string{"resourceId", "venueResourceId"}},
		{List: "listServices", Name: "name", Paged: true, Fields: []string{"serviceId"}},
		{List: "listClientGroups", Name: "name", Fields: []string{"groupId"}},
		{List: "listPriceLists", Name: "name", Fields: []string{"priceListId"}},
		{List: "listDealTypes", Name: "name", Fields: []string{"typeId"}},
		{List: "listDealTypes", Name: "name", Within: "stages", Fields: []string{"stageId", "fromStageId", "toStageId"}},
		{List: "listLeadSources", Name: "name", Fields: []string{"sourceId"}},
		{List: "listDealLostReasons", Name: "name", Fields: []string{"lostReasonId"}},
		{List: "listCategories", Name: "name", Fields: []string{"categoryId", "parentId"}},
	}
}

// colours are those of states. Others are neutral.
var colours = map[string]string{
	"new": web.Info, "pending": web.Warn, "confirmed": web.Info, "in_progress": web.Info, "ready": web.Info, "completed": web.Good, "cancelled": web.Off,
	"no_show": web.Bad, "unpaid": web.Warn, "partial": web.Warn, "paid": web.Good, "refunded": web.Off, "full": web.Off, "active": web.Good, "archived": web.Off,
	"hidden": web.Off, "open": web.Info, "closed": web.Off, "posted": web.Good, "won": web.Good, "done": web.Good, "lost": web.Bad, "converted": web.Good, "spam": web.Bad,
	"shipped": web.Good, "payment": web.Good, "sale": web.Good, "refund": web.Warn, "in": web.Good, "out": web.Warn,
}

// Colour is the colour in which a state is shown.
func Colour(state string) string {
	if c, ok := colours[state]; ok {
		return c
	}
	return web.Off
}

// Over reports whether a record in a state is out of use, so that moving it there is a danger.
func Over(state string) bool { return colours[state] == web.Off }
