package web

// The pieces that pages are made of. Each is a struct here, a template of the same name in frame/pieces.html, and a part of /gallery.

// Kinds of chips and notes. A word always stands beside the colour.
const (
	Good = "good"
	Warn = "warn"
	Bad  = "bad"
	Info = "info"
	Off  = "off"
)

// Chip is a state in a word.
type Chip struct{ Kind, Text string }

// Note is what is the case, and what happens next.
type Note struct{ Kind, Title, Text string }

// Figure is a number with what it counts; it leads to what it counts.
type Figure struct {
	Label, Value, Detail, Href string
	Kind                       string // of the detail
}

// Link is a text that leads somewhere.
type Link struct{ Text, Href string }

// Cell is what stands at one place of a table or of facts.
type Cell struct {
	Text string
	Href string // "" = no link
	Code bool   // an id or a URL
	Chip *Chip
	At   *Moment
	Also string // quieter, behind it
	Num  bool   // right-aligned
	Act  *Action
	Tick *Check // a box to select the row
	Plot *Chart // a spark
	Part *Part  // progress
}

// Part is how far something has come.
type Part struct {
	Percent int
	Text    string
}

// Check is a box to tick, in a row of a table that is part of a form.
type Check struct {
	Name, Value, Label string
	Form               string // id of the form
	Checked            bool
}

// Text is a cell with a text.
func Text(text string) Cell { return Cell{Text: text} }

// LinkTo is a text that leads somewhere.
func LinkTo(text, href string) Cell { return Cell{Text: text, Href: href} }

// Code is an id, or another text for machines, that may lead somewhere.
func Code(text, href string) Cell { return Cell{Text: text, Href: href, Code: true} }

// State is a state in a word.
func State(kind, text string) Cell { return Cell{Chip: &Chip{kind, text}} }

// Number is right-aligned.
func Number(text string) Cell { return Cell{Text: text, Num: true} }

// When is a time.
func When(at Moment) Cell { return Cell{At: &at} }

// Do is a button.
func Do(act Action) Cell { return Cell{Act: &act} }

// Select is a box that selects the row for the form with the id.
func Select(form, name, value, label string) Cell {
	return Cell{Tick: &Check{Name: name, Value: value, Label: label, Form: form}}
}

// Plot is a small chart.
func Plot(c *Chart) Cell { return Cell{Plot: c} }

// Progress is how far something has come, in percent, and in words.
func Progress(percent int, text string) Cell { return Cell{Part: &Part{percent, text}} }

// With adds a quieter text behind.
func (c Cell) With(also string) Cell {
	c.Also = also
	return c
}

// Column is the head of a column.
type Column struct {
	Text string
	Num  bool
	Href string // sorts the table by the column; "" = it cannot be
	Sort string // ascending or descending, if the table is sorted by it
}

// Table has rows, or says what to do to have some.
type Table struct {
	Label   string // what it lists, for those who do not see it
	Columns []Column
	Rows    [][]Cell
	Empty   Empty
	Foot    []Cell // last row, such as sums; nil = none
	Next    string // address of the next page; "" = this is the last
}

// Empty is a table without rows.
type Empty struct {
	Title, Text string
	Action      *Link
}

// Fact is a line of facts.
type Fact struct {
	Label string
	Cell  Cell
}

// Tab is a part of a page.
type Tab struct {
	Text, Href string
	Current    bool
}

// Action is a button that changes something. One with Confirm asks first, and says what will happen.
type Action struct {
	ID      string // unique on the page; needed with Confirm
	Text    string
	Post    string
	Kind    string // primary, danger or ""
	Confirm string
	Values  map[string]string // hidden fields
	Small   bool
}

// Field is a field of a form.
type Field struct {
	Name, Label, Type string // Type of the input; "" = text, "select" = Options
	Value             string
	Help, Fault       string
	Autocomplete      string
	Required          bool
	Focus             bool
	MaxLength         *int // characters
	Options           []Option
}

// Option is a choice of a field.
type Option struct {
	Value, Text string
	Selected    bool
}

// Form is a form with its button.
type Form struct {
	Post   string
	Fields []Field
	Hidden map[string]string
	Button string
	Kind   string // of the button; "" = primary
	Fault  string // about the form as a whole
}

// PasskeyForm is a form with which the browser sends the answer of an authenticator. It is shown where there are scripts.
type PasskeyForm struct {
	Form

	Ask     string // what the script asks for: create or get
	Options string // address of what the authenticator is handed
	Failed  string // shown when nothing came of it
	Without string // shown without the script
}

// Filter is a form whose choices stand in the address.
type Filter struct {
	Action string
	Fields []Field
	Button string
	Clear  string            // address without filters; "" = none is set
	Hidden map[string]string // further parameters
}

// Step is a step of a timeline.
type Step struct {
	Time     string
	Kind     string
	Title    string
	Chip     *Chip
	Text     string
	Links    []Link
	Branches []Branch
}

// Branch is what became of an event for one subscription.
type Branch struct {
	Chip Chip
	Name Link
	Text string
	Why  string
}

// Header is the head of a page.
type Header struct {
	Crumbs  []Link
	Title   string
	Chip    *Chip
	Facts   string
	Actions []Action
	Links   []Link // such as: as JSON
}

// Secret is what is shown once, with what to do with it.
type Secret struct {
	Note Note
	Text string
}

// Snippet is a text to copy.
type Snippet struct {
	ID    string // unique on the page
	Title string
	Text  string
}

// Ordered is a table whose rows people put in another order: by buttons, or by dragging.
type Ordered struct {
	Table

	Order string   // where the order is posted: up or down has an id, or order all of them; "" = it is fixed
	IDs   []string // of the rows
	Names []string // of the rows, for those who do not see them
	Moved string   // id of the row that was moved last, whose button gets the focus again
	Down  bool     // it was moved down
}

// Week is hours of weekdays as a grid, with a column for each day.
type Week struct {
	Zone   string
	Days   []Day
	Marks  []Mark
	Edit   string // address of a form; "" = none
	Always bool   // none are set, so that those of the platform hold
}

// Day is a column of a [Week].
type Day struct {
	Name, Short string
	Field       string // of a form
	Text        string // as people type the hours: 09:00–12:00, 13:00–18:00
	Fault       string
	X           int // place in the grid
	Bars        []Bar
}

// Bar is an interval of a [Day], in points of the grid.
type Bar struct {
	Y, Height int
	Text      string
}

// Mark names a line of a [Week].
type Mark struct {
	Y    int
	Text string
}
