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
	Pictures  string // field with the ids of its images, see package pictures; "" = it has none
	Files     string // field with the ids of its files of any kind; "" = it has none
	Import    bool   // rows of files become records, see package imports
	Within    bool   // it is reached from the page that its area begins with, and has no tab of its own
	Export    bool   // the list can be exported
	Report    string // operation that adds up the records by day; "" = none does
	Totals    string // operation that adds up all that the list shows; "" = none does
	Find      *Find  // nil = the find field does not look through it

	Create string      // operation; "" = the page of the list makes none
	Asks   []string    // fields that its form asks for, in order
	Yes    []string    // of these, those that most people want, so that the form begins with yes
	Client string      // field of a new record with the id of its client; "" = it has none
	Lines  *LinesInput // of a new record; nil = it has none

	Stages []string // states that a record goes through, in order; nil = its states have none
	Next   []string // commands that take a record further, with the value of ForEach behind a point, such as move.confirmed; the first that it has is the one action of its page
	Gauges []Gauge  // how much is done of what has to be done
	Sums   []Sum    // amounts that stand below the lines; those before the last add up to it

	Views    []View // of the list, beside those that people save
	Picture  string // field with the file of the picture of a record; "" = it has none
	Columns  []Column
	Bulk     []Bulk   // what can be done with many records of the list at once
	Facts    []Column // of the page, beside columns and fields whose kind follows from their type
	Tables   []Table
	Commands []Command
	Prints   []string // documents of a record, as pages of paper name them
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

// Making is what the button that makes a record is called: the text resource.NAME.make, in English that of the operation.
func (r Resource) Making(q *web.Request) string {
	return q.Named("resource."+r.Name+".make", r.Create)
}

// View is a list with filters that most shops need.
type View struct {
	Name  string // last part of its key of texts
	Query string // of the address; a day may be today or yesterday
}

// Bulk changes many records of a list at once, by a batch operation of the API.
type Bulk struct {
	Name    string              // last part of its keys of texts
	Op      string              // the batch
	Field   string              // of the body of each item: people choose one value for all
	Value   string              // of the field, if nobody has to choose
	ID      string              // field of the body of an item with the id of its record; "" = the item has it beside its body, and changes it
	Among   string              // field of the records with the values that theirs can take; "" = entries of a directory
	Nobody  string              // what stands for none; "" = null
	Entries string              // field of the records with a list, of which people name one entry that the change adds, or takes away; "" = it changes a value
	Back    string              // field of the body of an item that takes the change of entries back
	Removes bool                // it takes the entry away
	When    func(r Record) bool // nil = always
	Undo    bool                // an item with the value that was there before takes it back
	Reprice bool                // it is the change of prices, which has a form and a preview of its own
	Paper   string              // address of the page that prints them, which takes ids; it changes nothing, and has no Op
}

// Kind is how a value is shown.
type Kind int

// The kinds of values.
const (
	AsText       Kind = iota
	AsNumber          // whole, such as a count
	AsAmount          // minor units
	AsQty             // with decimals
	AsPercent         // with decimals
	AsTime            // a moment
	AsDate            // a day
	AsState           // one of a few words
	AsWord            // one of a few words that is no state
	AsYes             // true or false
	AsID              // for machines
	AsTexts           // several texts
	AsEntry           // id of an entry of a directory, which has a name
	AsEntries         // ids of entries of a directory, from the outermost to the innermost
	AsPairs           // texts by their names
	AsField           // name of a field of the record that the table belongs to
	AsFieldValue      // value of the field that the column field names
)

// Column is a field of a record that a list or a page shows.
type Column struct {
	Name   string
	Kind   Kind
	Hidden bool     // not in the list unless chosen
	ID     string   // field with the id of the record that the value names; "" = it leads nowhere
	To     string   // name of the resource of that record
	Under  []string // fields of which the first that is there stands below the value, such as the code of an item below its name
	Unit   string   // field with the unit of the value
	Some   bool     // a table leaves the column out where all are 0
	Told   bool     // a table tells the value below its first column, where it is not 0
	Face   bool     // the value names a person or a firm, whose initials stand before it

	Due func(r Record) bool // a time in the past is late for such records; nil = for none
}

func text(name string) Column    { return Column{Name: name} }
func number(name string) Column  { return Column{Name: name, Kind: AsNumber} }
func amount(name string) Column  { return Column{Name: name, Kind: AsAmount} }
func qty(name string) Column     { return Column{Name: name, Kind: AsQty} }
func percent(name string) Column { return Column{Name: name, Kind: AsPercent} }
func moment(name string) Column  { return Column{Name: name, Kind: AsTime} }
func due(name string, open func(r Record) bool) Column {
	return Column{Name: name, Kind: AsTime, Due: open}
}
func date(name string) Column    { return Column{Name: name, Kind: AsDate} }
func state(name string) Column   { return Column{Name: name, Kind: AsState} }
func word(name string) Column    { return Column{Name: name, Kind: AsWord} }
func yes(name string) Column     { return Column{Name: name, Kind: AsYes} }
func code(name string) Column    { return Column{Name: name, Kind: AsID} }
func texts(name string) Column   { return Column{Name: name, Kind: AsTexts} }
func entries(name string) Column { return Column{Name: name, Kind: AsEntries} }
func entry(name string) Column   { return Column{Name: name, Kind: AsEntry} }
func field(name string) Column   { return Column{Name: name, Kind: AsField} }
func changed(name string) Column { return Column{Name: name, Kind: AsFieldValue} }
func pairs(name string) Column   { return Column{Name: name, Kind: AsPairs} }

// Less leaves the column out of the list until somebody chooses it.
func (c Column) Less() Column {
	c.Hidden = true
	return c
}

// told takes each of the columns out of a table, which tells them below its first one where they are not 0.
func told(columns ...Column) []Column {
	for i := range columns {
		columns[i].Told = true
	}
	return columns
}

// Faced puts the initials of a person or a firm before the value.
func (c Column) Faced() Column {
	c.Face = true
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
	Name     string   // last part of its key of texts
	Field    string   // field of the record that has it; "" = an operation lists it, and it has a tab of its own
	List     string   // operation
	Where    string   // filter of the operation that takes the id of the record; "" = its path does
	Include  string   // parameter of the operation: what its rows have beside their fields
	Columns  []Column // of a field of the record, with those that follow from types; Less leaves one out
	Sums     []string // columns that are added up
	Returned string   // field of the record with how much of the last sum its returns took; "" = none
	Sees     web.Area // area whose records these are; "" = that of the record
	All      string   // address of the list of them all
	First    string   // command that makes the first row, which an empty table offers
	Tells    bool     // columns that follow from types are told below the first one
	Picture  string   // field with the file of the picture of a row, which otherwise has that of the record; "" = rows have none
	Brief    []string // columns that the overview shows of what an operation lists; nil = it has its tab only
}

// Due is the amount that a field begins with, in minor units; row is the row of the table that the command is of, nil for others. 0 = empty.
type Due func(r, row Record) int64

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
	Page       string              // address below that of the record: a page of another package does it; "" = none
	Fields     []string            // that the form asks for, in order; nil = all that people fill in
	Due        map[string]Due      // fields with amounts that begin with what is due
	Rows       *RowsInput          // quantities of lines that the form asks for
	Attributes *AttributesInput    // values of attributes that the form asks for
	Picture    string              // field of the form with one of the pictures of the record; "" = it has none
	Danger     bool
	Makes      bool   // it answers another record of the resource, which the page leads to
	Ends       bool   // the record is gone then
	Starts     bool   // it starts a job, which goes on when the page has been answered
	Undo       string // name of the command that takes it back; its own where that sets the value from before; "" = none does
	Sets       string // field of the record that it sets to its param or to the required field of its body, if it takes itself back
	To         string // resource of the record that it makes, whose id is in the field idOf of the answer
	IDOf       string
}

// Gauge is how much is done of what a record needs done, such as what was paid of an order.
type Gauge struct {
	Name    string                               // last part of its keys of texts
	Part    func(r Record) (done, whole float64) // amounts in minor units, or quantities; it is not shown where the whole is 0
	Amount  bool
	State   string // field
	Command string // that does more of it
	Back    string // table whose rows give back what was done beyond the whole; "" = none
}

// Sum is an amount of a document, beside its lines.
type Sum struct {
	Name string
	Less bool                // the document costs that much less
	When func(r Record) bool // nil = always
}

// LinesInput is a field of a body with the lines of a new document.
type LinesInput struct {
	Field string // of the body
	Ref   string // field of a line with the id of the product
	Price string // field of a line with its price; "" = it has none
	NoQty bool   // lines have no quantity
	Kinds bool   // lines are of products, services, or free, and can have a discount

	Open  func(r Record) bool // the lines of a document can be changed; nil = always
	Keeps []string            // fields of a line that nobody types, and that are sent as they are

	Optional bool   // the operation chooses the lines if there are none, or leaves them out
	Preview  string // operation that adds the document up without making it; "" = none does
	Then     string // name of the command that a new document can be led to at once, with a form; "" = none

	Groups []FieldGroup // of the fields beside lines; what is in none stands after them
}

// FieldGroup is fields of a form under a heading of their own.
type FieldGroup struct {
	Name   string // last part of the key of its text
	Fields []string
}

// RowsInput is a field of a body that is an array with a quantity for some lines of the record.
type RowsInput struct {
	Field string // of the body
	ID    string // field of an element that names the line
	Of    string // field of a line with its quantity; "" = qty
	Done  string // field of a line: how much of it is dealt with; "" = nothing is
	Zero  bool   // 0 is a quantity; an empty field is none
	Blank bool   // all lines are asked for, in empty fields: what is left is only expected
	Only  string // kind of the lines; "" = all
}

// Wants reports whether what somebody typed is a quantity for the array.
func (in *RowsInput) Wants(typed string) bool {
	if in.Zero {
		return strings.TrimSpace(typed) != ""
	}
	return strings.Trim(typed, " 0.,") != ""
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
	ByCode bool     // they name it by its code instead of its id; names of built-in entries are texts of the console
}

// Of is what a field names the entry by.
func (c Choices) Of(r Record) string {
	if c.ByCode {
		return r.Text("code")
	}
	return r.Text("id")
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
		{List: "listTaxRates", Name: "name", Paged: true, Fields: []string{"taxRateId"}},
		{List: "listChannels", Name: "name", ByCode: true, Fields: []string{"channel"}},
		{List: "listDeliveryMethods", Name: "name", ByCode: true, Fields: []string{"deliveryMethod"}},
		{List: "listUsers", Name: "name", Fields: []string{"assignedToId", "assigneeId", "createdById", "cashierId", "openedById", "actorId"}},
		{List: "listBranches", Name: "name", Fields: []string{"branchId"}},
		{List: "listWarehouses", Name: "name", Paged: true, Fields: []string{"warehouseId", "toWarehouseId"}},
		{List: "listSuppliers", Name: "name", Paged: true, Fields: []string{"supplierId", "defaultSupplierId"}},
		{List: "listResources", Name: "name", Paged: true, Fields: []string{"resourceId", "venueResourceId"}},
		{List: "listServices", Name: "name", Paged: true, Fields: []string{"serviceId"}},
		{List: "listClientGroups", Name: "name", Fields: []string{"groupId"}},
		{List: "listPriceLists", Name: "name", Fields: []string{"priceListId"}},
		{List: "listDealTypes", Name: "name", Fields: []string{"typeId"}},
		{List: "listDealTypes", Name: "name", Within: "stages", Fields: []string{"stageId", "fromStageId", "toStageId"}},
		{List: "listLeadSources", Name: "name", Fields: []string{"sourceId"}},
		{List: "listDealLostReasons", Name: "name", Fields: []string{"lostReasonId"}},
		{List: "listCategories", Name: "name", Fields: []string{"categoryId", "parentId", "path"}},
	}
}

// colours are those of states. Others are neutral.
var colours = map[string]string{
	"new": web.Info, "pending": web.Warn, "confirmed": web.Info, "in_progress": web.Info, "ready": web.Info, "completed": web.Good, "cancelled": web.Off,
	"no_show": web.Bad, "unpaid": web.Warn, "partial": web.Warn, "paid": web.Good, "refunded": web.Off, "full": web.Off, "active": web.Good, "archived": web.Off,
	"hidden": web.Off, "draft": web.Warn, "sent": web.Info, "received": web.Good, "partly_received": web.Warn, "open": web.Info, "closed": web.Off, "posted": web.Good, "won": web.Good, "done": web.Good, "lost": web.Bad, "converted": web.Good, "spam": web.Bad,
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

// Changes is the operation that changes a record; "" = there is none.
func (r Resource) Changes() string {
	for _, c := range r.Commands {
		if c.Name == "edit" {
			return c.Op
		}
	}
	return ""
}
