package web

import (
	"hash/crc32"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

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
type Note struct {
	Kind, Title, Text string

	Links []Link // where something can be done about it
}

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
	Sub  string // quieter, below it
	Num  bool   // right-aligned
	Act  *Action
	Tick *Check   // a box to select the row
	Plot *Chart   // a spark
	Part *Part    // progress
	Pic  *Picture // before the text
	Late bool     // what was due has not happened
}

// Picture is a picture of what stands beside it. Without an image it is the emoji, or the first letter, on a colour of its own.
type Picture struct {
	Src    string // address of the image; "" = there is none
	Letter string
	Tint   int    // 1 to 6
	Size   string // s, "", t or l
	Face   bool   // it is that of a person or a firm: round, with initials
	Alt    string // "" = what stands beside it says it
}

// Gallery is the images of a record, the main one first.
type Gallery struct {
	Name   string
	Main   Picture
	Images []GalleryImage
	Change string // where their order is posted; "" = the person may not change them
	Add    string // where images are sent
	Full   bool   // there is no room for more
	Gone   string // the image that was removed last, and its place
	Fault  string
}

// GalleryImage is one of them.
type GalleryImage struct {
	ID, Large, Alt string
	Picture        Picture
	First, Last    bool
	Focus          string // button that gets the focus again: up, down or ""
}

// Picture is that of a record, by the id of its image and its name. thumbnail names the size of the image: small, medium or large.
func (q *Request) Picture(file, thumbnail, emoji, name string) Picture {
	p := Picture{Letter: emoji, Tint: tintOf(name)}
	if _, err := uuid.Parse(file); err == nil {
		p.Src = q.Path("/pictures/" + file + "/" + thumbnail)
	}
	if p.Letter == "" {
		first, _ := utf8.DecodeRuneInString(strings.TrimSpace(name))
		p.Letter = strings.ToUpper(string(first))
	}
	return p
}

// Face stands for a person or a firm: the initials of its first two words.
func Face(name string) Picture {
	p := Picture{Face: true, Tint: tintOf(name)}
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		first, _ := utf8.DecodeRuneInString(word)
		if p.Letter += strings.ToUpper(string(first)); utf8.RuneCountInString(p.Letter) == 2 {
			break
		}
	}
	return p
}

func tintOf(name string) int { return 1 + int(crc32.ChecksumIEEE([]byte(name))%tints) }

// tints is how many colours pictures without an image have.
const tints = 6

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

// Pictured puts a picture before the text.
func (c Cell) Pictured(p Picture) Cell {
	p.Size = "s"
	c.Pic = &p
	return c
}

// With adds a quieter text behind.
func (c Cell) With(also string) Cell {
	c.Also = also
	return c
}

// Told is a change in words: piece "told". Operation, Entity and Sent are folded.
type Told struct {
	At        Moment
	By, Text  string
	Href      string // of the record; "" = it has no page
	Fields    []ToldField
	Operation string
	Entity    string // id of the record
	Sent      string // as JSON
}

// ToldField is a field with what it was and is.
type ToldField struct{ Name, Before, After string }

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
	Name    string // what it acts on, for those who do not see its row; "" = the text says it
	Post    string
	Kind    string // primary, danger or ""
	Confirm string
	Values  map[string]string // hidden fields
	Small   bool
}

// Toast says what was done, and offers to take it back.
type Toast struct {
	Text string
	Undo *Action // nil = it cannot be taken back
}

// Field is a field of a form.
type Field struct {
	Name, Label, Type string // Type of the input; "" = text, "select" = Options
	Value             string
	Was               *string // what a form that changes a record showed at first; nil = it changes none
	Help, Fault       string
	Autocomplete      string
	Required          bool
	Focus             bool
	MaxLength         *int // characters
	Options           []Option
	Pick              *Picker // nil = the value is typed

	Spans     []SpanRow // of a field of the type spans: how long before something
	MoreSpans []SpanRow // those that are empty, which are folded
}

// SpanRow is one of several lengths of time that a field takes: a number, and its unit.
type SpanRow struct {
	No         int // from 1
	Time, Unit string
	Value      string
	Units      []Option
}

// Picker lets people find the record whose id a field takes. Without a script they type the id.
type Picker struct {
	Address string // of what is found
	Hint    string // what can be typed
	Text    string // what the record is called that the field has now
}

// AnyCompany is the address of a [Picker] of companies, for operators.
const AnyCompany = "/companies/suggest"

// Suggested are the records that a [Picker] or the find field finds: piece "suggested".
type Suggested struct {
	Query string
	Hits  []Hit
	None  string // why there are none; "" = nothing is said
}

// AnyRecord is the address of a [Picker] that finds records of all lists, in the company.
const AnyRecord = "/find/suggest?of=any"

// Option is a choice of a field.
type Option struct {
	Value, Text string
	Selected    bool
	Picture     *Picture // of a choice among pictures
}

// Combo is a field of a form in which people look for something and choose it: what they type is sent to Post, and what was found are
// buttons of the form, each named "do". A script lets the arrows and Enter choose.
type Combo struct {
	Name, Label string
	Post        string
	Query       string // what was typed
	Found       []Hit
	None        string // what to say if nothing was found
	Other       *Hit   // what else can be done with what was typed
	Key         string // that leads to the field from anywhere on the page
	Scan        bool   // digits that are typed outside of fields come from a scanner, and go here
	Focus       bool
}

// Hit is something that a [Combo] has found.
type Hit struct {
	Do      string // value of its button
	Href    string // of a link that stands in place of the button
	Picture *Picture
	Name    string
	Code    string
	Detail  string
	Chip    *Chip
	End     string // at the right
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

// Faults are what is wrong with a form, as a whole and in its fields, at its top: piece "faults".
type Faults struct {
	Text   string
	Fields []Field
}

// Faults are those of the form and of its fields.
func (f Form) Faults() Faults { return FaultsOf(f.Fault, f.Fields) }

// FaultsOf are the faults of a form whose fields stand in several places.
func FaultsOf(text string, fields ...[]Field) Faults {
	all, shown := Faults{Text: text}, slices.Concat(fields...)
	for _, f := range shown {
		if f.Fault != "" && len(shown) > 1 { // a form of one field needs no list
			all.Fields = append(all.Fields, f)
		}
	}
	return all
}

// Any reports whether something is wrong.
func (f Faults) Any() bool { return f.Text != "" || len(f.Fields) > 0 }

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
	Ranges *Ranges           // of its two days; nil = it has none
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
	Act  *Action // what can be done about it; nil = nothing
}

// Header is the head of a page.
type Header struct {
	Crumbs  []Link
	Title   string
	Chip    *Chip
	Lead    *Note // what is the case, and what happens next
	Facts   string
	Actions []Action
	Links   []Link // such as: as JSON
	Main    *Link  // what people come here for; nil = an action is, or nothing
	First   *Action
	Edit    *Link  // to the form of what the page shows
	Menu    Menu   // what is done now and then
	Prints  Menu   // documents of what the page shows
	Print   string // the button that prints the page; "" = none
}

// Stage is a state that a record goes through.
type Stage struct {
	Text      string
	Done, Now bool
}

// Gauge is how much is done of something.
type Gauge struct {
	Title, Text string
	Left        string // what is not done yet
	Percent     int
	Chip        *Chip
	Do          *Link // what does more of it; nil = nothing
}

// Menu is what can be done besides, behind a button.
type Menu struct {
	Text    string // of the button; "" = more
	Links   []Link
	Actions []Action
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
