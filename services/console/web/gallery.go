package web

import (
	"context"
	"embed"
	"io/fs"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

//go:embed gallery/*.html
var galleryFiles embed.FS

// gallery shows the pieces, for those who make pages.
type gallery struct{}

// Folder implements [Pages].
func (g gallery) Folder() Folder {
	sub, err := fs.Sub(galleryFiles, "gallery")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	return Folder{Name: "web/gallery", Templates: sub, Routes: []Page{Get(Account, "", "/gallery", g.show).For(Anyone)}}
}

type galleryPage struct {
	Header   Header
	Notes    []Note
	Chips    []Chip
	Figures  []Figure
	Table    Table
	Empty    Table
	Ordered  Ordered
	Week     Week
	Facts    []Fact
	Tabs     []Tab
	Pictures []Picture
	Form     Form
	Passkey  PasskeyForm
	Combo    Combo
	Filter   Filter
	Actions  []Action
	Timeline []Step
	Matrix   Matrix
	Secret   Secret
	Snippet  Snippet
	Bars     *Chart
	Lines    *Chart
	Course   *Course
}

func (gallery) show(_ context.Context, q *Request) (Answer, error) {
	at := q.At(q.Now.Add(-26 * time.Hour))
	columns := []Column{{Text: "Event"}, {Text: "State"}, {Text: "Took", Num: true}, {Text: "When"}, {}}
	p := galleryPage{
		Header: Header{
			Crumbs: []Link{{"Gallery", "/gallery"}}, Title: "A page header", Chip: &Chip{Bad, "failing"}, Facts: "Facts in one line",
			Actions: []Action{{Text: "An action", Post: "/gallery", Kind: "primary"}}, Links: []Link{{"A link", "/gallery"}},
			Prints: Menu{Text: "Print …", Links: []Link{{"A document", "/gallery"}}}, Print: "Print this page",
		},
		Figures: []Figure{{"A figure", "1 048", "12 more than yesterday", "/gallery", Good}, {"Another", "3", "since 08:14", "/gallery", Bad}, {"Without detail", "0", "", "/gallery", ""}},
		Table: Table{Label: "A table", Columns: columns, Next: "/gallery", Rows: [][]Cell{
			{LinkTo("order.created", "/gallery").Pictured(q.Picture("", "", "", "Order")), State(Good, "delivered"), Number("41 ms"), When(at), Do(Action{Text: "Redeliver", Post: "/gallery", Small: true})},
			{Code("01a20673-2d1e-76a6", "/gallery"), State(Bad, "failed").With("HTTP 500"), Number("10.0 s"), When(at), Text("")},
		}},
		Empty: Table{Label: "An empty table", Columns: columns, Empty: Empty{"Nothing here", "A sentence that says what to do next.", &Link{"Do it", "/gallery"}}},
		Ordered: Ordered{
			Table: Table{Label: "A table in an order of its own", Columns: []Column{{Text: "Stage"}, {Text: "State"}}, Rows: [][]Cell{{LinkTo("New", "/gallery"), State(Good, "in use")}, {LinkTo("Won", "/gallery"), State(Off, "out of use")}}},
			Order: "/gallery", IDs: []string{"1", "2"}, Names: []string{"New", "Won"},
		},
		Week: Week{
			Marks: []Mark{{0, "00:00"}, {144, "12:00"}, {288, "24:00"}},
			Days:  []Day{{Name: "Monday", Short: "Mon", Text: "09:00–12:00", X: 44, Bars: []Bar{{108, 36, "Monday 09:00–12:00"}}}, {Name: "Tuesday", Short: "Tue", X: 104}},
		},
		Facts: []Fact{{"A fact", Text("its value")}, {"A time", When(at)}, {"An id", Code("01a20673-2d1e-76a6-afbd-9f73306bf38d", "")}},
		Tabs:  []Tab{{"Overview", "/gallery", true}, {"Deliveries", "/gallery", false}},
		Form: Form{Post: "/gallery", Button: "Save", Fault: "What is wrong with the form as a whole.", Fields: []Field{
			{Name: "a", Label: "A field", Help: "What it means."},
			{Name: "b", Label: "A field with a fault", Value: "what was typed", Fault: "The rule, and what to do."},
			{Name: "c", Label: "A choice", Type: "select", Options: []Option{{Value: "1", Text: "One"}, {Value: "2", Text: "Two", Selected: true}}},
			{Name: "images", Label: "One of several pictures", Type: typeImages, Options: []Option{{Text: "None", Selected: true}, {Value: "1", Text: "Picture 1", Picture: &Picture{Letter: "🚲", Tint: 2}}}},
			{Name: "d", Label: "Several choices", Type: typeChecks, Help: "As many as are wanted.", Options: []Option{{Value: "1", Text: "One", Selected: true}, {Value: "2", Text: "Two"}}},
		}},
		Passkey: PasskeyForm{Form: Form{Post: "/gallery", Button: "Use a passkey", Kind: "secondary"}, Ask: "get", Options: "/gallery", Failed: "Nothing came of it, and what to do.", Without: "What to do without a script."},
		Combo: Combo{Name: "combo", Label: "A field that looks for something", Post: "/gallery", Query: "glo", Found: []Hit{
			{Do: "1", Picture: &Picture{Letter: "🧤", Tint: 1, Size: "s"}, Name: "Gloves", Code: "CL-0002", Detail: "23 available", End: "29.90"}, {Do: "2", Name: "Ada Gloster", Detail: "+49 30 23125 142", Chip: &Chip{Warn, "owes 84.00"}},
		}, Other: &Hit{Do: "3", Name: "Add “glo” as it is"}},
		Filter:  Filter{Action: "/gallery", Button: "Apply", Clear: "/gallery", Fields: []Field{{Name: "f", Label: "A filter"}}},
		Actions: []Action{{Text: "Plain", Post: "/gallery"}, {Text: "Primary", Post: "/gallery", Kind: "primary"}, {ID: "ask", Text: "Asks first", Post: "/gallery", Kind: "danger", Confirm: "What will happen, in a sentence."}},
		Timeline: []Step{
			{Time: "0 ms", Title: "POST /orders", Chip: &Chip{Good, "201"}, Text: "Token Web shop"},
			{Time: "+9 ms", Title: "2 subscriptions looked at", Branches: []Branch{
				{Chip{Good, "delivered"}, Link{"shop.example.com", "/gallery"}, "attempt 1", "", nil},
				{Chip{Off, "filtered out"}, Link{"erp.example.com", ""}, "", "The filter wants another channel.", nil},
				{Chip{Warn, "waits"}, Link{"pos.example.com", "/gallery"}, "", "Attempt 2 of 7 at 15:12.", &Action{Text: "Send now", Post: "/gallery", Small: true}},
			}},
			{Time: "next", Kind: Warn, Title: "Attempt 3"},
		},
	}
	for i, size := range []string{"s", "", "l"} {
		p.Pictures = append(p.Pictures, Picture{Letter: "A", Tint: 1 + i, Size: size})
	}
	p.Pictures = append(p.Pictures, Face("Ada Gloster"))
	p.Matrix = q.ScopeMatrix([]string{"orders:read", "orders:write", "events:read"}, access.Scopes{"orders:read"}, true)
	p.Secret = Secret{Note: Note{Kind: Warn, Title: "Copy it.", Text: "It is shown only now."}, Text: "what-is-shown-once"}
	p.Snippet = Snippet{ID: "snippet", Title: "A snippet", Text: "tradegrid version"}
	span := Span{From: q.Now.Truncate(time.Hour).Add(-11 * time.Hour), Step: time.Hour}
	p.Bars = q.Bars("Bars: delivered and failed", span, Series{Kind: Good, Name: "delivered", Values: []float64{12, 40, 38, 0, 7, 1048, 900, 310, 20, 22, 41, 3}}, Series{Kind: Bad, Name: "failed", Values: []float64{0, 0, 2, 0, 0, 120, 80, 0, 0, 1, 0, 0}})
	p.Lines = q.Lines("Lines: seconds to an answer", span, Series{Kind: Info, Name: "median", Values: []float64{3, 4, 4, 5, 9, 8, 7, 4, 3, 3, 4, 4}}, Series{Kind: Warn, Name: "slowest", Values: []float64{8, 9, 9, 12, 30, 28, 19, 12, 9, 9, 10, 11}})
	p.Course = q.Course("Sold by hour, today against a week ago", "Hour", []string{"9", "10", "11", "12", "13"}, Series{Name: "today", Values: []float64{120, 340, 280}}, Series{Name: "a week ago", Values: []float64{90, 200, 310, 400, 120}})
	p.Table.Rows[0][2] = Plot(q.Spark("1048 in 3 hours, 120 of them failed", Series{Kind: Good, Values: []float64{900, 28, 0}}, Series{Kind: Bad, Values: []float64{100, 20, 0}}))
	for _, kind := range []string{Good, Warn, Bad, Info, Off} {
		p.Notes = append(p.Notes, Note{Kind: kind, Title: "What is the case.", Text: "And what happens next."})
		p.Chips = append(p.Chips, Chip{kind, kind})
	}
	return Show("web/gallery/gallery", "Gallery", p), nil
}
