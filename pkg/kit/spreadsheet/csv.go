package spreadsheet

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// CSVOptions are the choices of a CSV file.
type CSVOptions struct {
	BOM       bool           // whether a byte order mark precedes the header
	Delimiter byte           // between cells; 0 = a comma
	Decimal   byte           // before the decimal places of numbers; 0 = a point
	Zone      *time.Location // of times; nil = UTC
}

// bom marks a file as UTF-8 for programs that would guess otherwise.
const bom = "\ufeff"

// CSV writes a table as RFC 4180 says, with LF at the end of lines.
type CSV struct {
	bytes.Buffer
	opts CSVOptions
}

// NewCSV returns a writer of rows. To continue a file, begin with its next row.
func NewCSV(opts CSVOptions) *CSV {
	if opts.Delimiter == 0 {
		opts.Delimiter = ','
	}
	if opts.Decimal == 0 {
		opts.Decimal = '.'
	}
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	return &CSV{opts: opts}
}

// Header writes the first row.
func (w *CSV) Header(columns []Column) {
	if w.opts.BOM {
		_, _ = w.WriteString(bom) // a buffer never fails
	}
	for i, c := range columns {
		w.begin(i)
		w.quoted(c.Name)
	}
	_ = w.WriteByte('\n')
}

// Row writes a row of at least one cell.
func (w *CSV) Row(cells []Cell) {
	if len(cells) == 1 && cells[0].empty() {
		_, _ = w.WriteString("\"\"\n") // an empty line would be none
		return
	}
	for i := range cells {
		w.begin(i)
		w.cell(&cells[i])
	}
	_ = w.WriteByte('\n')
}

func (c *Cell) empty() bool { return c.Kind == Empty || c.Kind == Text && c.Text == "" }

func (w *CSV) begin(column int) {
	if column > 0 {
		_ = w.WriteByte(w.opts.Delimiter)
	}
}

func (w *CSV) cell(c *Cell) {
	room := w.AvailableBuffer()
	switch c.Kind {
	case Empty, Broken:
		return
	case Text:
		w.quoted(valid(guard(c.Text)))
		return
	case JSON:
		w.quoted(valid(c.Text))
		return
	case Number:
		room = c.appendNumber(room)
		if w.opts.Decimal != '.' {
			if i := bytes.IndexByte(room, '.'); i >= 0 {
				room[i] = w.opts.Decimal
			}
		}
	case Bool:
		room = append(room, boolText(c.Num)...)
	case Time:
		room = c.Time.In(w.opts.Zone).AppendFormat(room, timeLayout)
	case Date:
		room = c.Time.AppendFormat(room, time.DateOnly)
	}
	_, _ = w.Write(room)
}

// timeLayout is that of times in CSV files, with the offset of the zone.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func boolText(v int64) string {
	if v != 0 {
		return "true"
	}
	return "false"
}

// quoted writes a text, in quotes if it has to be.
func (w *CSV) quoted(s string) {
	first, _ := utf8.DecodeRuneInString(s)
	if s == "" || strings.IndexByte(s, w.opts.Delimiter) < 0 && !strings.ContainsAny(s, ",;\"\r\n") && !unicode.IsSpace(first) && first != '\ufeff' && s != `\.` {
		_, _ = w.WriteString(s)
		return
	}
	_ = w.WriteByte('"')
	_, _ = w.WriteString(strings.ReplaceAll(s, `"`, `""`))
	_ = w.WriteByte('"')
}
