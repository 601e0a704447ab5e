package exports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// writer writes records in the format of an export.
type writer struct {
	buf     bytes.Buffer
	csv     *csv.Writer // nil = ndjson
	columns []string
}

// newWriter returns the writer of one step; the first writes the header of a csv.
func newWriter(in order, source *httpapi.ListSource, first bool) *writer {
	w := &writer{}
	if in.Format != "csv" {
		return w
	}
	w.csv, w.columns = csv.NewWriter(&w.buf), source.Fields
	if only := in.Params["fields"]; only != "" {
		wanted := append(strings.Split(only, ","), "id")
		w.columns = slices.DeleteFunc(slices.Clone(w.columns), func(name string) bool {
			return !slices.ContainsFunc(wanted, func(f string) bool { return strings.TrimSpace(f) == name })
		})
	}
	if first {
		_ = w.csv.Write(w.columns) // writing to memory does not fail
		w.csv.Flush()
	}
	return w
}

func (w *writer) media() string {
	if w.csv == nil {
		return "application/x-ndjson"
	}
	return "text/csv; charset=utf-8"
}

func (w *writer) size() int     { return w.buf.Len() }
func (w *writer) bytes() []byte { return w.buf.Bytes() }

func (w *writer) add(items []json.RawMessage) error {
	for _, item := range items {
		if w.csv == nil {
			w.buf.Write(item)
			w.buf.WriteByte('\n')
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(item, &fields); err != nil {
			return fmt.Errorf("read record of export: %w", err)
		}
		row := make([]string, len(w.columns))
		for i, name := range w.columns {
			row[i] = cell(fields[name])
		}
		_ = w.csv.Write(row)
	}
	if w.csv != nil {
		w.csv.Flush()
	}
	return nil
}

// cell writes a value as a cell: null as nothing, numbers as they are, objects and arrays as JSON. A spreadsheet would take a text
// that begins like a formula for one; a single quote before it prevents that.
func cell(raw json.RawMessage) string {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
			return "'" + text
		}
		return text
	}
	return string(raw)
}
