package spreadsheet

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of XLSX files. The first two are those of the format; a sheet ends before its size needs 64 bits.
const (
	maxSheetRows  = 1 << 20
	maxCellChars  = 32_767 // UTF-16 code units
	maxSheetBytes = 3 << 30
	maxDigits     = 15 // of a number that spreadsheets keep exactly
)

// MediaXLSX is the media type of XLSX files.
const MediaXLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// Styles of cells, by their place in styles.xml.
const (
	styleHeader = iota + 1
	styleText
	styleTime
	styleDate
	styleMoney
)

// XLSXOptions are the choices of an XLSX file.
type XLSXOptions struct {
	Sheet   string         // name of the first sheet; further ones get a number
	Zone    *time.Location // of times; nil = UTC. Headers of times name it
	Columns []Column
}

// XLSXState is where a file stands, as JSON. The zero value is its beginning.
type XLSXState struct {
	Zip   archiveState `json:"zip"`
	Sheet int          `json:"sheet"` // number of the open one
	Rows  int          `json:"rows"`  // of it
	Total int64        `json:"total"` // bytes of all sheets, before compression
	Cut   int64        `json:"cut"`   // cells that were too long
}

// XLSX writes a table as an Office Open XML workbook, in parts: each part ends with [XLSX.Suspend], and the next one continues from
// its state. Memory does not grow with the file. Rows beyond what a sheet can have go to further sheets.
type XLSX struct {
	bytes.Buffer // of this part
	opts         XLSXOptions
	at           XLSXState
	zip          *archive
	row          []byte
	letters      []string // of the columns
	err          error
}

// NewXLSX begins or continues a file.
func NewXLSX(opts XLSXOptions, at XLSXState) (*XLSX, error) {
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	w := &XLSX{opts: opts, at: at, letters: make([]string, len(opts.Columns))}
	for i := range w.letters {
		w.letters[i] = columnName(i)
	}
	var err error
	if w.zip, err = newArchive(&w.Buffer, at.Zip); err != nil {
		return nil, err
	}
	if at.Sheet == 0 {
		w.beginSheet()
	}
	return w, w.err
}

// columnName returns the letters of a column: A, B, …, Z, AA.
func columnName(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return columnName(i/26-1) + string(rune('A'+i%26))
}

// Total is the size of all sheets so far, before compression.
func (w *XLSX) Total() int64 { return w.at.Total + int64(len(w.row)) }

// Row writes a row.
func (w *XLSX) Row(cells []Cell) error {
	if w.at.Rows == maxSheetRows || w.zip.last().Size > maxSheetBytes {
		w.endSheet()
		w.beginSheet()
	}
	w.beginRow()
	for i := range cells {
		w.cell(i, &cells[i])
	}
	w.endRow()
	return w.err
}

// Suspend ends a part.
func (w *XLSX) Suspend() (XLSXState, error) {
	w.flush()
	if w.err == nil {
		w.err = w.zip.suspend()
	}
	w.at.Zip = w.zip.archiveState
	return w.at, w.err
}

// End ends the file.
func (w *XLSX) End() (XLSXState, error) {
	w.endSheet()
	for _, part := range w.parts() {
		if w.err == nil {
			w.err = w.zip.add(part.name, part.body)
		}
	}
	w.zip.finish()
	return w.at, w.err
}

// flushSize is how many bytes of a sheet are compressed at once.
const flushSize = 32 << 10

func (w *XLSX) beginRow() {
	w.at.Rows++
	w.row = append(strconv.AppendInt(append(w.row, `<row r="`...), int64(w.at.Rows), 10), `">`...)
}

func (w *XLSX) endRow() {
	if w.row = append(w.row, `</row>`...); len(w.row) >= flushSize {
		w.flush()
	}
}

func (w *XLSX) flush() {
	if len(w.row) == 0 || w.err != nil {
		return
	}
	w.at.Total += int64(len(w.row))
	_, w.err = w.zip.Write(w.row)
	w.row = w.row[:0]
}

const sheetStart = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`

// beginSheet opens the next sheet and writes its header.
func (w *XLSX) beginSheet() {
	if w.err != nil {
		return
	}
	w.at.Sheet, w.at.Rows = w.at.Sheet+1, 0
	w.zip.begin(sheetPath(w.at.Sheet))
	w.row = append(w.row, sheetStart...)
	for i, c := range w.opts.Columns {
		w.row = fmt.Appendf(w.row, `<col min="%d" max="%d" width="%d" style="%d"/>`, i+1, i+1, 18, c.style())
	}
	w.row = append(w.row, `</cols><sheetData>`...)
	w.beginRow()
	for i, c := range w.opts.Columns {
		name := c.Name
		if c.Kind == Time {
			name += " (" + w.opts.Zone.String() + ")"
		}
		w.text(i, styleHeader, name)
	}
	w.endRow()
}

func (w *XLSX) endSheet() {
	w.row = append(w.row, `</sheetData></worksheet>`...)
	w.flush()
	if w.err == nil {
		w.err = w.zip.end()
	}
}

func sheetPath(n int) string { return fmt.Sprintf("xl/worksheets/sheet%d.xml", n) }

// style is that of the cells of a column, also of those that a user adds.
func (c *Column) style() int {
	switch c.Kind {
	case Text, JSON:
		return styleText
	case Time:
		return styleTime
	case Date:
		return styleDate
	case Number:
		return numberStyle(c.Places)
	case Empty, Bool, Broken:
	}
	return 0
}

func numberStyle(places uint8) int {
	if places == 0 {
		return 0
	}
	return styleMoney + int(places) - 1
}

// maxPlaces is the number of decimal places that styles have.
const maxPlaces = 4

func (w *XLSX) begin(column, style int) {
	w.row = append(append(w.row, `<c r="`...), w.letters[column]...)
	w.row = strconv.AppendInt(w.row, int64(w.at.Rows), 10)
	w.row = append(w.row, '"')
	if style > 0 {
		w.row = append(strconv.AppendInt(append(w.row, ` s="`...), int64(style), 10), '"')
	}
}

func (w *XLSX) cell(column int, c *Cell) {
	switch c.Kind {
	case Empty, Broken:
	case Text, JSON:
		if c.Text != "" {
			w.text(column, styleText, c.Text)
		}
	case Number:
		w.number(column, c)
	case Bool:
		w.begin(column, 0)
		w.row = append(append(w.row, ` t="b"><v>`...), byte('0'+c.Num))
		w.row = append(w.row, `</v></c>`...)
	case Time:
		t := c.Time.In(w.opts.Zone)
		_, offset := t.Zone()
		if !w.serial(column, styleTime, t.UnixMilli()+int64(offset)*1000) {
			w.text(column, styleText, t.Format(timeLayout))
		}
	case Date:
		if !w.serial(column, styleDate, c.Time.UnixMilli()) {
			w.text(column, styleText, c.Time.Format(time.DateOnly))
		}
	}
}

// number writes a number, as text if a spreadsheet would round it.
func (w *XLSX) number(column int, c *Cell) {
	var room [48]byte
	text := c.appendNumber(room[:0])
	if significant(text) > maxDigits {
		w.text(column, styleText, string(text))
		return
	}
	w.begin(column, numberStyle(min(c.Places, maxPlaces)))
	w.row = append(append(w.row, `><v>`...), text...)
	w.row = append(w.row, `</v></c>`...)
}

// significant counts the digits of a decimal number without leading and trailing zeros.
func significant(text []byte) int {
	digits, zeros := 0, 0
	for _, c := range text {
		switch {
		case c == 'e' || c == 'E':
			return digits
		case c == '0' && digits > 0:
			zeros++
		case c > '0' && c <= '9':
			digits, zeros = digits+zeros+1, 0
		}
	}
	return digits
}

// Bounds of dates of spreadsheets: they count days, and take 1900 for a leap year.
const (
	epochDay = 25_569    // 1970-01-01
	firstDay = 61        // 1900-03-01
	lastDay  = 2_958_465 // 9999-12-31
	dayMS    = 24 * 60 * 60 * 1000
)

// serial writes a date and time of day, in milliseconds of a clock on the wall. It reports whether spreadsheets know it.
func (w *XLSX) serial(column, style int, ms int64) bool {
	if ms < (firstDay-epochDay)*dayMS || ms >= (lastDay+1-epochDay)*dayMS {
		return false
	}
	w.begin(column, style)
	w.row = append(w.row, `><v>`...)
	w.row = strconv.AppendFloat(w.row, float64(ms)/dayMS+epochDay, 'f', -1, 64)
	w.row = append(w.row, `</v></c>`...)
	return true
}

// text writes a text; one that is longer than a cell may be is cut.
func (w *XLSX) text(column, style int, s string) {
	if len(s) > maxCellChars {
		s = w.cut(s)
	}
	w.begin(column, style)
	w.row = append(w.row, ` t="inlineStr"><is><t xml:space="preserve">`...)
	w.row = appendXML(w.row, s)
	w.row = append(w.row, `</t></is></c>`...)
}

// cut shortens a text to what a cell can have, and says so at its end.
func (w *XLSX) cut(s string) string {
	units := 0
	end := -1
	const mark = "… [cut]"
	for i, r := range s {
		if end < 0 && units+2 > maxCellChars-utf8.RuneCountInString(mark) {
			end = i
		}
		if units++; r > 0xffff {
			units++
		}
	}
	if units <= maxCellChars {
		return s
	}
	w.at.Cut++
	return s[:end] + mark
}

// appendXML writes a text as the content of an element. Characters that XML does not have are written as _xHHHH_, and so is the
// underscore of a text that looks like that.
func appendXML(to []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		var as string
		switch {
		case c == '&':
			as = "&amp;"
		case c == '<':
			as = "&lt;"
		case c == '>':
			as = "&gt;"
		case c == '_' && isEscape(s[i:]):
			as = "_x005F_"
		case c < ' ' && c != '\n' && c != '\t', c == 0xfffe, c == 0xffff:
			as = fmt.Sprintf("_x%04X_", c)
		case c == utf8.RuneError && size == 1:
			as = "\ufffd"
		}
		if as != "" {
			to = append(append(to, s[from:i]...), as...)
			from = i + size
		}
		i += size
	}
	return append(to, s[from:]...)
}

// isEscape reports whether a text begins with _xHHHH_.
func isEscape(s string) bool {
	if len(s) < 7 || s[1] != 'x' || s[6] != '_' {
		return false
	}
	for _, c := range []byte(s[2:6]) {
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}
