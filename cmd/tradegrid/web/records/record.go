package records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
)

// record is a record as the API returns it. Numbers are [json.Number], which keeps them exact.
type record map[string]any

func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read answer of the API: %w", err)
	}
	return nil
}

// text is a field as text; "" if it is null.
func (r record) text(name string) string {
	switch v := r[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// number is a whole number; 0 if it is null.
func (r record) number(name string) int64 {
	n, ok := r[name].(json.Number)
	if !ok {
		return 0
	}
	v, err := n.Int64()
	if err != nil {
		return 0
	}
	return v
}

func (r record) has(name string) bool { return r[name] != nil && r[name] != "" }

// texts are the elements of an array of texts.
func (r record) texts(name string) (all []string) {
	list, _ := r[name].([]any)
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// pairs are the fields of an object with texts, sorted by their names.
func (r record) pairs(name string) (all []string) {
	object, _ := r[name].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if s, ok := object[key].(string); ok {
			all = append(all, key+": "+s)
		}
	}
	return all
}

// records are the elements of an array of objects.
func (r record) records(name string) (all []record) {
	list, _ := r[name].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// maxCell is how many characters of a text a table shows.
const maxCell = 80

// cell shows a field of a record.
func (room *Room) cell(ctx context.Context, q *web.Request, c column, r record, names *directories) (web.Cell, error) {
	cell := value(q, c, r)
	if c.kind == asEntry && r.has(c.name) {
		name, err := names.name(ctx, c.name, r.text(c.name))
		if err != nil {
			return cell, err
		}
		if cell = web.Text(name); name == "" {
			cell = web.Code(r.text(c.name), "")
		}
	}
	if c.to != "" && cell.Text != "" && r.has(c.id) {
		cell.Href = room.recordPath(q, c.to, r.text(c.id))
	}
	return cell, nil
}

// value shows a field by its kind.
func value(q *web.Request, c column, r record) web.Cell {
	if r[c.name] == nil {
		return web.Cell{Num: c.kind.end()}
	}
	text := r.text(c.name)
	switch c.kind {
	case asNumber, asQty:
		return web.Number(web.Decimal(text))
	case asAmount:
		return web.Number(q.Amount(r.number(c.name)))
	case asPercent:
		return web.Number(web.Decimal(text) + "\u00a0%")
	case asTime:
		return moments(q, text)
	case asDate:
		return web.Text(day(q, text))
	case asState:
		if text == "" {
			return web.Cell{}
		}
		return web.State(kindOf(text), q.InlineWord(text))
	case asWord:
		return web.Text(q.InlineWord(text))
	case asYes:
		if text == "true" {
			return web.Text(q.T("form.yes"))
		}
		return web.Text(q.T("form.no"))
	case asID:
		return web.Code(short(text), "")
	case asWords:
		return web.Text(short(strings.Join(r.texts(c.name), ", ")))
	case asPairs:
		return web.Text(short(strings.Join(r.pairs(c.name), ", ")))
	case asText, asEntry:
	}
	return web.Text(short(r.shown(c.name)))
}

// shown is a field as text, whatever it has.
func (r record) shown(name string) string {
	switch r[name].(type) {
	case []any, map[string]any:
		raw, err := json.Marshal(r[name])
		if err != nil {
			return ""
		}
		return string(raw)
	}
	return r.text(name)
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

// kinds are the colours of states. Others are neutral.
var kinds = map[string]string{
	"new": web.Info, "pending": web.Warn, "confirmed": web.Info, "in_progress": web.Info, "ready": web.Info, "completed": web.Good, "cancelled": web.Off,
	"no_show": web.Bad, "unpaid": web.Warn, "partial": web.Warn, "paid": web.Good, "refunded": web.Off, "full": web.Off, "active": web.Good, "archived": web.Off,
	"hidden": web.Off, "open": web.Info, "closed": web.Off, "posted": web.Good, "won": web.Good, "done": web.Good, "lost": web.Bad, "converted": web.Good, "spam": web.Bad,
	"shipped": web.Good, "payment": web.Good, "sale": web.Good, "refund": web.Warn, "in": web.Good, "out": web.Warn,
}

func kindOf(value string) string {
	if k, ok := kinds[value]; ok {
		return k
	}
	return web.Off
}
