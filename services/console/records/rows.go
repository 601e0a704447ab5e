package records

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// rowsForm is the part of a form that asks for quantities of lines.
type rowsForm struct {
	Label string
	Rows  []rowForm
}

type rowForm struct {
	Name, Text, Left string // Left is how much may be typed
	Field            web.Field
}

// fields are those in which quantities are typed.
func (f *rowsForm) fields() (all []web.Field) {
	if f == nil {
		return nil
	}
	for _, r := range f.Rows {
		all = append(all, r.Field)
	}
	return all
}

// rowPrefix is the first part of the names of the fields; the id of the line follows.
const rowPrefix = "qty."

// rowsOf asks for quantities of those lines of which something is left.
func rowsOf(q *web.Request, s shown, c resources.Command, typed url.Values, refusal error) *rowsForm {
	if c.Rows == nil {
		return nil
	}
	form := &rowsForm{Label: q.T("records.rows." + c.Name)}
	sent, short := 0, shortOf(refusal)
	for _, l := range s.record.Records("lines") {
		left, ok := leftOf(l, c.Rows)
		if !ok {
			continue
		}
		name := rowPrefix + l.Text("id")
		text := cmp.Or(l.Text("name"), l.Text("productName"))
		hint := q.T("records.left", q.Number(left), l.Text("unit"))
		if c.Rows.Zero {
			hint = q.T("records.expected", q.Number(left), l.Text("unit"))
		}
		row := rowForm{Name: name, Text: text, Left: hint, Field: web.Field{Name: name, Label: text, Type: "number", Value: left, Autocomplete: "off"}}
		if typed != nil || c.Rows.Blank {
			row.Field.Value = typed.Get(name)
		}
		if c.Rows.Wants(row.Field.Value) {
			at := c.Rows.Field + "[" + strconv.Itoa(sent) + "]."
			if row.Field.Fault = q.FaultOf(refusal, at+"qty"); row.Field.Fault == "" {
				row.Field.Fault = q.FaultOf(refusal, at+c.Rows.ID)
			}
			if row.Field.Fault == "" && strings.Contains(short, l.Text("id")) {
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
func leftOf(l resources.Record, of *resources.RowsInput) (left string, ok bool) {
	if of.Only != "" && l.Text("kind") != of.Only {
		return "", false
	}
	qty, err := money.ParseQty(l.Text(cmp.Or(of.Of, "qty")))
	if err != nil {
		return "", false
	}
	done, err := money.ParseQty(cmp.Or(l.Text(of.Done), "0"))
	if err != nil || qty <= done && !of.Blank {
		return "", false
	}
	return (qty - done).String(), true
}

// shows reports whether a row shows a fault; "" = any.
func (f *rowsForm) shows(fault string) bool {
	return f != nil && slices.ContainsFunc(f.Rows, func(r rowForm) bool { return r.Field.Fault != "" && (fault == "" || r.Field.Fault == fault) })
}

// itemsOfRows are the elements of the array, in the order of the lines.
func itemsOfRows(of *resources.RowsInput, s shown, form url.Values) []any {
	items := []any{}
	for _, l := range s.record.Records("lines") {
		id := l.Text("id")
		if typed := form.Get(rowPrefix + id); of.Wants(typed) {
			items = append(items, map[string]any{of.ID: id, "qty": lines.Number(typed)})
		}
	}
	return items
}
