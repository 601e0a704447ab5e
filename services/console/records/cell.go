package records

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

func decode(raw []byte, into any) error { return resources.Decode(raw, into) }

// maxCell is how many characters of a text a table shows.
const maxCell = 80

// cell shows a field of a record.
func (pages *Pages) cell(ctx context.Context, q *web.Request, c resources.Column, r resources.Record, names *directories) (web.Cell, error) {
	cell := value(q, c, r)
	if c.Kind == resources.AsEntry && r.Has(c.Name) {
		name, err := names.name(ctx, c.Name, r.Text(c.Name))
		if err != nil {
			return cell, err
		}
		if cell = web.Text(name); name == "" {
			cell = web.Code(r.Text(c.Name), "")
		}
	}
	if c.Kind == resources.AsEntries {
		var all []string
		for _, id := range r.Texts(c.Name) {
			name, err := names.name(ctx, c.Name, id)
			if err != nil {
				return cell, err
			}
			all = append(all, cmp.Or(name, id))
		}
		cell = web.Text(short(strings.Join(all, " / ")))
	}
	if c.To != "" && cell.Text != "" && r.Has(c.ID) {
		cell.Href = pages.recordPath(q, c.To, r.Text(c.ID))
	}
	if c.Face && cell.Text != "" {
		cell = cell.Pictured(web.Face(cell.Text))
	}
	cell.Late = c.Due != nil && cell.At != nil && cell.At.Past() && c.Due(r)
	return cell, nil
}

// value shows a field by its kind.
func value(q *web.Request, c resources.Column, r resources.Record) web.Cell {
	if r[c.Name] == nil {
		return web.Cell{Num: c.Kind.End()}
	}
	text := r.Text(c.Name)
	switch c.Kind {
	case resources.AsNumber, resources.AsQty:
		return web.Number(q.Number(text))
	case resources.AsAmount:
		n := r.Number(c.Name)
		if takesBack(r) && n > 0 { // as in files and in sums
			n = -n
		}
		return web.Number(q.Amount(n))
	case resources.AsPercent:
		return web.Number(q.Percent(text))
	case resources.AsTime:
		return moments(q, text)
	case resources.AsDate:
		return web.Text(strings.ReplaceAll(day(q, text), " ", "\u00a0"))
	case resources.AsState:
		if text == "" {
			return web.Cell{}
		}
		return web.State(resources.Colour(text), q.InlineWord(text))
	case resources.AsWord:
		return web.Text(q.InlineWord(text))
	case resources.AsYes:
		if text == "true" {
			return web.Text(q.T("form.yes"))
		}
		return web.Text(q.T("form.no"))
	case resources.AsID:
		return web.Code(short(text), "")
	case resources.AsTexts:
		return web.Text(short(strings.Join(r.Texts(c.Name), ", ")))
	case resources.AsPairs:
		return web.Text(short(strings.Join(r.Pairs(c.Name), ", ")))
	case resources.AsField:
		return web.Text(q.Label(text))
	case resources.AsText, resources.AsEntry, resources.AsEntries, resources.AsFieldValue:
	}
	return web.Text(short(r.Shown(c.Name)))
}

// takesBack reports whether a record takes back another one, so that its amounts are below 0.
func takesBack(r resources.Record) bool {
	return r.Text("kind") == "refund" || r.Text("kind") == "credit_note"
}

// ofField makes a column with values of different fields one with the value of the field that a row names, so that an amount is shown as
// one, and the name of a user instead of the id.
func ofField(q *web.Request, res resources.Resource, c resources.Column, r resources.Record) (resources.Column, resources.Record) {
	of := q.Operation(res.Get).Answer
	if c.Kind != resources.AsFieldValue || of == nil {
		return c, r
	}
	name := r.Text("field")
	shape, ok := of.Field(name)
	kind, shown := kindOf(shape)
	if !ok || !shown {
		return c, inWords(q, c, r)
	}
	if name == res.State || strings.HasSuffix(name, "Status") {
		kind = resources.AsState
	}
	return resources.Column{Name: name, Kind: kind}, resources.Record{name: r[c.Name]}
}

// inWords is a row of changes in which a list, such as the taxes of a document, is no JSON: it says that the list is another one.
func inWords(q *web.Request, c resources.Column, r resources.Record) resources.Record {
	if _, list := r[c.Name].([]any); !list {
		return r
	}
	text := ""
	if c.Name == "to" {
		text = q.T("records.changed.list")
	}
	return resources.Record{c.Name: text}
}

func moments(q *web.Request, text string) web.Cell {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return web.Text(text)
	}
	return web.When(q.At(at))
}

// day is a date of the API as people read it.
func day(q *web.Request, text string) string {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return q.Date(at, "2 Jan 2006")
}

// short keeps a table readable; the page of the record has the whole text.
func short(text string) string {
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell]) + "…"
	}
	return text
}

// versionOf is the version that a form was shown with; 0 = any.
func versionOf(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
