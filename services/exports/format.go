package exports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/money"
)

// writer writes records in the format of an export.
type writer struct {
	buf     bytes.Buffer
	json    *json.Encoder       // of ndjson
	columns []httpapi.ItemField // of csv
}

// newWriter returns the writer of one step; the first writes the header of a csv.
func newWriter(in order, source *httpapi.ListSource, first bool) *writer {
	w := &writer{}
	if in.Format != "csv" {
		w.json = json.NewEncoder(&w.buf)
		return w
	}
	w.columns = source.Fields
	if only := in.Params["fields"]; only != "" {
		wanted := append(strings.Split(only, ","), "id")
		w.columns = slices.DeleteFunc(slices.Clone(w.columns), func(column httpapi.ItemField) bool {
			return !slices.ContainsFunc(wanted, func(f string) bool { return strings.TrimSpace(f) == column.Name })
		})
	}
	if first {
		for i, column := range w.columns {
			w.begin(i)
			w.buf.WriteString(column.Name)
		}
		w.buf.WriteByte('\n')
	}
	return w
}

func (w *writer) media() string {
	if w.json != nil {
		return "application/x-ndjson"
	}
	return "text/csv; charset=utf-8"
}

func (w *writer) size() int     { return w.buf.Len() }
func (w *writer) bytes() []byte { return w.buf.Bytes() }

func (w *writer) add(page httpapi.ListPage) error {
	for i := range page.Len {
		var err error
		if w.json != nil {
			err = page.Items.Encode(w.json, i)
		} else {
			err = w.row(page.Items.Item(i))
		}
		if err != nil {
			return fmt.Errorf("write record of export: %w", err)
		}
	}
	return nil
}

func (w *writer) begin(column int) {
	if column > 0 {
		w.buf.WriteByte(',')
	}
}

func (w *writer) row(item reflect.Value) error {
	for i, column := range w.columns {
		w.begin(i)
		if v, sent := column.Value(item); sent {
			if err := w.cell(v); err != nil {
				return err
			}
		}
	}
	return w.buf.WriteByte('\n')
}

// cell writes a value as a cell: null as nothing, numbers as they are, objects and arrays as JSON.
func (w *writer) cell(v reflect.Value) error {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	// The types of most cells, which need not become JSON first.
	switch {
	case v.Kind() == reflect.Pointer: // nil
		return nil
	case v.Type() == reflect.TypeFor[string]():
		w.text(v.String())
		return nil
	}
	room := w.buf.AvailableBuffer()
	switch x := v.Addr().Interface().(type) {
	case *bool:
		room = strconv.AppendBool(room, *x)
	case *int32:
		room = strconv.AppendInt(room, int64(*x), 10)
	case *int64:
		room = strconv.AppendInt(room, *x, 10)
	case *uuid.UUID:
		room = append(room, x.String()...)
	case *money.Amount:
		room = strconv.AppendInt(room, int64(*x), 10)
	case *money.Qty:
		room = append(room, x.String()...)
	case *money.Percent:
		room = append(room, x.String()...)
	case *jsontype.Time:
		room = time.Time(*x).UTC().AppendFormat(room, jsontype.Layout)
	default:
		return w.encoded(v)
	}
	_, err := w.buf.Write(room)
	return err
}

// encoded writes the JSON of a value as a cell.
func (w *writer) encoded(v reflect.Value) error {
	raw, err := json.Marshal(v.Addr().Interface())
	if err != nil {
		return err
	}
	var text string
	switch {
	case string(raw) == "null":
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		w.text(text)
	default:
		w.quoted(string(raw))
	}
	return nil
}

// text writes a text. A spreadsheet would take one that begins like a formula for a formula; a single quote before it
// prevents that.
func (w *writer) text(s string) {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", first) { // full-width forms become plain ones
		s = "'" + s
	}
	w.quoted(strings.ToValidUTF8(s, "\ufffd")) // as in JSON
}

// quoted writes a cell, in quotes if it has to be.
func (w *writer) quoted(s string) {
	first, _ := utf8.DecodeRuneInString(s)
	if s == "" || !strings.ContainsAny(s, ",\"\r\n") && !unicode.IsSpace(first) && s != `\.` {
		w.buf.WriteString(s)
		return
	}
	w.buf.WriteByte('"')
	w.buf.WriteString(strings.ReplaceAll(s, `"`, `""`))
	w.buf.WriteByte('"')
}
