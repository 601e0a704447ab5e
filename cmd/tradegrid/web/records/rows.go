package records

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/money"
)

// rowsInput is a field of a body that is an array with a quantity for some lines of the record.
type rowsInput struct {
	field string // of the body
	id    string // field of an element that names the line
	done  string // field of a line: how much of it is dealt with
	only  string // kind of the lines; "" = all
}

// rowsForm is the part of a form that asks for quantities of lines.
type rowsForm struct {
	Label string
	Rows  []rowForm
}

type rowForm struct {
	Name, Text, Left string // Left is how much may be typed
	Field            web.Field
}

// rowPrefix is the first part of the names of the fields; the id of the line follows.
const rowPrefix = "qty."

// rowsOf asks for quantities of those lines of which something is left.
func rowsOf(q *web.Request, s shown, c command, typed url.Values, refusal error) *rowsForm {
	if c.rows == nil {
		return nil
	}
	form := &rowsForm{Label: q.T("records.rows." + c.name)}
	sent, short := 0, shortOf(refusal)
	for _, l := range s.record.records("lines") {
		left, ok := leftOf(l, c.rows)
		if !ok {
			continue
		}
		name := rowPrefix + l.text("id")
		row := rowForm{Name: name, Text: l.text("name"), Left: q.T("records.left", web.Decimal(left), l.text("unit")), Field: web.Field{Name: name, Label: l.text("name"), Type: "number", Value: left, Autocomplete: "off"}}
		if typed != nil {
			row.Field.Value = typed.Get(name)
		}
		if wanted(row.Field.Value) {
			at := c.rows.field + "[" + strconv.Itoa(sent) + "]."
			if row.Field.Fault = web.FaultOf(refusal, at+"qty"); row.Field.Fault == "" {
				row.Field.Fault = web.FaultOf(refusal, at+c.rows.id)
			}
			if row.Field.Fault == "" && strings.Contains(short, l.text("id")) {
				row.Field.Fault = q.T("records.too_much", row.Left)
			}
			sent++
		}
		form.Rows = append(form.Rows, row)
	}
	return form
}

// shortOf has the ids of the lines of which less is left than was asked for.
func shortOf(refusal error) string {
	known, ok := apierr.As(refusal)
	if !ok {
		return ""
	}
	raw, err := json.Marshal(known.Meta["lines"])
	if err != nil {
		return ""
	}
	return string(raw)
}

// leftOf is how much of a line is left.
func leftOf(l record, of *rowsInput) (left string, ok bool) {
	if of.only != "" && l.text("kind") != of.only {
		return "", false
	}
	qty, err := money.ParseQty(l.text("qty"))
	if err != nil {
		return "", false
	}
	done, err := money.ParseQty(l.text(of.done))
	if err != nil || qty <= done {
		return "", false
	}
	return (qty - done).String(), true
}

// wanted reports whether a quantity is more than nothing.
func wanted(text string) bool { return strings.Trim(text, " 0.,") != "" }

// shows reports whether a row shows a fault; "" = any.
func (f *rowsForm) shows(fault string) bool {
	return f != nil && slices.ContainsFunc(f.Rows, func(r rowForm) bool { return r.Field.Fault != "" && (fault == "" || r.Field.Fault == fault) })
}

// items are the elements of the array, in the order of the lines.
func (of *rowsInput) items(s shown, form url.Values) []any {
	items := []any{}
	for _, l := range s.record.records("lines") {
		id := l.text("id")
		if typed := form.Get(rowPrefix + id); wanted(typed) {
			items = append(items, map[string]any{of.id: id, "qty": numberOf(typed)})
		}
	}
	return items
}
