package spreadsheet

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

const (
	// maxEntries is how many parts a workbook may consist of, and maxDirectory how many bytes the list of them may have.
	maxEntries   = 1000
	maxDirectory = 1 << 20
	// maxRatio is how much larger a part may be than its compressed form, if it is not smaller than anyRatio.
	maxRatio = 200
	anyRatio = 4 << 20
)

// xlsxRows reads the first sheet of a workbook. Memory is bounded by the limits: a file may expand to a thousand times its size.
// Measured side by side, the row iterator of excelize took half as much time again and 2.5 times the memory for 20 000 rows, and up to
// 190 MiB for files of pkg/kit/hostile that are refused here within 64, because it decodes a row's attributes and all texts before
// anything can be limited.
type xlsxRows struct {
	ctx    context.Context //nolint:containedctx // that of the request; the rows are read within it
	sheet  *xml.Decoder
	shared []string
	limits Limits
	row    int
	begun  int // rows, also those that are empty
	seen   int
	cells  []Value
	is1904 bool
	dates  []bool // by style: numbers are shown as dates
}

// ReadXLSX reads the first sheet of an XLSX file of size bytes. Cells with formulas have the values that were stored with them. The
// rows end with ctx.
func ReadXLSX(ctx context.Context, raw io.ReaderAt, size int64, limits Limits) (Rows, error) {
	directory := &opening{ReaderAt: raw, left: maxDirectory}
	z, err := zip.NewReader(directory, size)
	switch {
	case directory.left < 0 || err == nil && len(z.File) > maxEntries:
		return nil, wrongFile("has more than %d parts; save it anew", maxEntries)
	case err != nil:
		return nil, wrongFile("is not an XLSX file; save it as an Excel workbook (.xlsx)")
	}
	directory.done = true
	r := &xlsxRows{ctx: ctx, limits: limits}
	sheet, err := r.firstSheet(z)
	if err != nil {
		return nil, err
	}
	if err := r.readShared(z); err != nil {
		return nil, err
	}
	if err := r.readStyles(z); err != nil {
		return nil, err
	}
	if r.sheet, err = r.open(z, sheet); err != nil {
		return nil, err
	}
	return r, nil
}

// opening bounds what is read of a file to learn its parts: a short file can have a long list of them.
type opening struct {
	io.ReaderAt
	left int64
	done bool
}

var errDirectory = errors.New("the list of parts is too long")

// ReadAt implements [io.ReaderAt].
func (o *opening) ReadAt(p []byte, at int64) (int, error) {
	if !o.done {
		if o.left -= int64(len(p)); o.left < 0 {
			return 0, errDirectory
		}
	}
	return o.ReaderAt.ReadAt(p, at) //nolint:wrapcheck // a reader
}

// Is1904 reports whether dates of a file count from 1904, as some programs of Apple have it.
func Is1904(rows Rows) bool {
	r, ok := rows.(*xlsxRows)
	return ok && r.is1904
}

// open begins to read a part of the file. The archive refuses one that is larger than it says.
func (r *xlsxRows) open(z *zip.Reader, name string) (*xml.Decoder, error) {
	f, err := z.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return nil, wrongFile("has no part %s; save it anew as an Excel workbook (.xlsx)", name)
	}
	size, packed := sizeOf(f)
	switch {
	case size > uint64(r.limits.Expand):
		return nil, wrongFile("has a sheet of more than %d MiB without compression; split it", r.limits.Expand>>20)
	case size > anyRatio && size/maxRatio > packed:
		return nil, wrongFile("has a part that is more than %d times as large without compression; save it anew, without empty rows and columns", maxRatio)
	}
	return xml.NewDecoder(newLimitedXML(r.ctx, f, r.limits)), nil
}

// sizeOf is the size of a part, and that of its compressed form.
func sizeOf(f fs.File) (size, packed uint64) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0
	}
	if h, ok := info.Sys().(*zip.FileHeader); ok {
		return h.UncompressedSize64, h.CompressedSize64
	}
	return 0, 0 // a folder
}

// failed turns an error of a part into one that says what is wrong.
func (r *xlsxRows) failed(err error) error {
	var known *FileError
	if errors.As(err, &known) || r.ctx.Err() != nil {
		return err
	}
	return wrongFile("is damaged: %s; save it anew", err)
}

// tokens calls do with the tokens of a part until its end.
func (r *xlsxRows) tokens(z *zip.Reader, name string, do func(xml.Token) error) error {
	part, err := r.open(z, name)
	if err != nil {
		return err
	}
	for {
		t, err := part.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(t)
		}
		if err != nil {
			return r.failed(err)
		}
	}
}

func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// relID is the attribute r:id, whatever its prefix is: sheets have another attribute that ends in id.
func relID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// firstSheet returns the path of the first sheet that is not hidden.
func (r *xlsxRows) firstSheet(z *zip.Reader) (string, error) {
	var first string
	hidden := true // what first names
	err := r.tokens(z, "xl/workbook.xml", func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok {
			switch e.Name.Local {
			case "sheet":
				shown := attr(e, "state") == "" || attr(e, "state") == "visible"
				if first == "" || hidden && shown {
					first, hidden = relID(e), !shown
				}
			case "workbookPr":
				v := attr(e, "date1904")
				r.is1904 = v == "1" || v == "true"
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	var target string
	err = r.tokens(z, "xl/_rels/workbook.xml.rels", func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" && attr(e, "Id") == first && first != "" {
			target = attr(e, "Target")
		}
		return nil
	})
	if err == nil && target == "" {
		err = wrongFile("has no sheet; save it anew as an Excel workbook (.xlsx)")
	}
	if strings.HasPrefix(target, "/") {
		return target, err
	}
	return path.Join("xl", target), err
}

// perText is what a text takes beside its bytes, while the list of all of them grows.
const perText = 48

// readShared reads the texts that cells refer to.
func (r *xlsxRows) readShared(z *zip.Reader) error {
	const name = "xl/sharedStrings.xml"
	f, err := z.Open(name)
	if err != nil {
		return nil //nolint:nilerr // a file without texts has none
	}
	_ = f.Close()
	var text []byte
	free := r.limits.Expand / 2
	inText, phonetic := false, false
	return r.tokens(z, name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				text = text[:0]
			case "t":
				inText = !phonetic
			case "rPh":
				phonetic = true
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "si":
				if free -= len(text) + perText; free < 0 {
					return wrongFile("has more than %d MiB of texts; split it", r.limits.Expand>>21)
				}
				r.shared = append(r.shared, unescape(string(text)))
			case "t":
				inText = false
			case "rPh":
				phonetic = false
			}
		case xml.CharData:
			if inText {
				if text = append(text, t...); len(text) > r.limits.Cell {
					return wrongFile("has a text of more than %d bytes; shorten it", r.limits.Cell)
				}
			}
		}
		return nil
	})
}

// Next implements [Rows].
func (r *xlsxRows) Next() (Row, error) {
	for {
		t, err := r.sheet.RawToken()
		if errors.Is(err, io.EOF) {
			return Row{}, io.EOF
		}
		if err != nil {
			return Row{}, r.failed(err)
		}
		e, ok := t.(xml.StartElement)
		if !ok || e.Name.Local != "row" {
			continue
		}
		if r.begun++; r.begun > maxSheetRows {
			return Row{}, errEmptyRows
		}
		r.row++
		if n, err := strconv.Atoi(attr(e, "r")); err == nil && n > 0 && n <= maxSheetRows {
			r.row = n
		}
		empty, err := r.readRow()
		if err != nil {
			return Row{}, r.failed(err)
		}
		if empty {
			continue
		}
		if r.seen++; r.seen > r.limits.Rows+1 {
			return Row{}, wrongFile("has more than %d rows; split it", r.limits.Rows)
		}
		return Row{r.row, r.cells}, nil
	}
}

// readRow reads the cells up to the end of the row.
func (r *xlsxRows) readRow() (empty bool, err error) {
	r.cells, empty = r.cells[:0], true
	for next, size := 0, 0; ; {
		t, err := r.sheet.RawToken()
		if err != nil {
			return false, err
		}
		switch t := t.(type) {
		case xml.EndElement:
			if t.Name.Local == "row" {
				return empty, nil
			}
		case xml.StartElement:
			if t.Name.Local != "c" {
				continue
			}
			if ref := attr(t, "r"); ref != "" {
				next = columnOf(ref)
			}
			v, err := r.readCell(attr(t, "t"), attr(t, "s"))
			if err != nil {
				return false, err
			}
			if v.Kind == Empty || v.Text == "" {
				next++
				continue
			}
			if next < 0 || next >= r.limits.Columns {
				return false, &FileError{r.row, fmt.Sprintf("has more than %d cells; leave out columns", r.limits.Columns)}
			}
			if size += len(v.Text); size > r.limits.Row {
				return false, longRow(r.row, r.limits)
			}
			for len(r.cells) <= next {
				r.cells = append(r.cells, Value{})
			}
			r.cells[next], empty = v, empty && strings.TrimSpace(v.Text) == ""
			next++
		}
	}
}

// columnOf returns the index of the column of a reference such as AB12; -1 if it has none.
func columnOf(ref string) int {
	n := 0
	for i := range len(ref) {
		c := ref[i] &^ 0x20
		if c < 'A' || c > 'Z' || i > 3 {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	return n - 1
}

// readCell reads a cell of a type and style up to its end.
func (r *xlsxRows) readCell(kind, style string) (Value, error) {
	var text []byte
	take, phonetic, found := false, false, false
	for {
		t, err := r.sheet.RawToken()
		if err != nil {
			return Value{}, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "v":
				take, found = true, true
			case "t":
				take, found = !phonetic, true
			case "rPh":
				phonetic = true
			}
		case xml.CharData:
			if take {
				if text = append(text, t...); len(text) > r.limits.Cell {
					return Value{}, &FileError{r.row, fmt.Sprintf("has a cell of more than %d bytes; shorten it", r.limits.Cell)}
				}
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "v", "t":
				take = false
			case "rPh":
				phonetic = false
			case "c":
				if !found {
					return Value{}, nil
				}
				return r.value(kind, style, string(text))
			}
		}
	}
}

// value makes the value of a cell of what its XML has.
func (r *xlsxRows) value(kind, style, text string) (Value, error) {
	switch kind {
	case "s":
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(r.shared) {
			return Value{}, fmt.Errorf("row %d refers to the text %q, which does not exist", r.row, text)
		}
		if text = r.shared[i]; len(text) > r.limits.Cell {
			return Value{}, &FileError{r.row, fmt.Sprintf("has a cell of more than %d bytes; shorten it", r.limits.Cell)}
		}
		return Value{Text, text}, nil
	case "inlineStr", "str":
		return Value{Text, unescape(text)}, nil
	case "b":
		return Value{Bool, map[bool]string{true: "true", false: "false"}[text == "1" || text == "true"]}, nil
	case "e":
		return Value{Broken, text}, nil
	case "d":
		return Value{Text, text}, nil
	}
	if i, err := strconv.Atoi(style); err == nil && i >= 0 && i < len(r.dates) && r.dates[i] {
		return Value{Time, text}, nil
	}
	return Value{Number, text}, nil
}

// unescape replaces _xHHHH_ by the character that it stands for.
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '_' && isEscape(s[i:]) {
			code, _ := strconv.ParseUint(s[i+2:i+6], 16, 16) // four digits
			out.WriteRune(rune(code))
			i += 7
			continue
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String()
}

// Decimal returns a number of a sheet as a decimal. Files have 17 digits of binary numbers; users see 15 of them.
func Decimal(text string) (string, bool) {
	if digits := significant([]byte(text)); digits <= maxDigits && !strings.ContainsAny(text, "eE") {
		return text, true
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return text, false
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', maxDigits-1, 64), 64)
	if err != nil {
		return text, false
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64), true
}

// Day returns the date of a number of a sheet, without its time of day.
func Day(serial string, is1904 bool) (time.Time, bool) {
	v, err := strconv.ParseFloat(serial, 64)
	if err != nil || v < 0 || v > lastDay {
		return time.Time{}, false
	}
	day := int64(v)
	switch {
	case is1904:
		day += 1462
	case day < firstDay-1:
		day++ // before the leap day of 1900, which never was
	}
	return time.Unix((day-epochDay)*dayMS/1000, 0).UTC(), true
}
