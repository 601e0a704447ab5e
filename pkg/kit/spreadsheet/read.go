package spreadsheet

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// Limits bound what a reader takes. All are required.
type Limits struct {
	Rows    int // of records, without the header
	Columns int
	Cell    int // bytes of a cell
	Row     int // bytes of the cells of a row
	Expand  int // bytes of a sheet of an XLSX file; its texts may take half of that
}

// Row is a row of a file.
type Row struct {
	Number int // as spreadsheets count: the header is 1, and a cell with line breaks is one row
	Cells  []Value
}

// Value is what a cell of a file has.
type Value struct {
	Kind Kind // Empty, Text, Number, Bool, Time or Broken; cells of a CSV are Text
	Text string
}

// Rows reads the rows of a file, one after the other; [io.EOF] after the last. Rows whose cells are all empty, or of spaces, are left out. The
// cells are valid until the next row. An error that a user can mend is a [*FileError].
type Rows interface {
	Next() (Row, error)
}

// FileError says what is wrong with a file, and what to do.
type FileError struct {
	Row  int // 0 = the file as a whole
	Rule string
}

// Error implements error.
func (e *FileError) Error() string {
	if e.Row == 0 {
		return e.Rule
	}
	return fmt.Sprintf("row %d %s", e.Row, e.Rule)
}

func wrongFile(rule string, args ...any) error { return &FileError{Rule: fmt.Sprintf(rule, args...)} }

func longRow(row int, limits Limits) error {
	return &FileError{row, fmt.Sprintf("has more than %d bytes; shorten its cells", limits.Row)}
}

// charsets are the encodings of texts that are read, beside UTF-8.
var charsets = map[string]encoding.Encoding{"windows-1251": charmap.Windows1251, "windows-1252": charmap.Windows1252}

// decodeText returns the UTF-8 of a text file. charset "" is UTF-8, with or without a byte order mark.
func decodeText(raw []byte, charset string) (string, error) {
	charset = strings.ToLower(charset)
	if e := charsets[charset]; e != nil {
		text, err := e.NewDecoder().Bytes(raw)
		if err != nil {
			return "", wrongFile("is not %s: %s", charset, err)
		}
		return string(text), nil
	}
	if charset != "" && charset != "utf-8" && charset != "us-ascii" {
		return "", wrongFile("has the charset %q, which is not supported; send utf-8, windows-1251 or windows-1252", charset)
	}
	text := strings.TrimPrefix(string(raw), bom)
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "", wrongFile("is UTF-16; save it as CSV UTF-8")
	}
	if !utf8.ValidString(text) {
		at := 0
		for at < len(text) {
			r, size := utf8.DecodeRuneInString(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return "", &FileError{Row: 1 + strings.Count(text[:at], "\n"), Rule: "is not UTF-8; save the file as CSV UTF-8, or name its encoding, such as Content-Type: text/csv; charset=windows-1251"}
	}
	return text, nil
}

// csvRows parses a CSV file. Unlike encoding/csv it keeps carriage returns within cells.
type csvRows struct {
	ctx       context.Context //nolint:containedctx // that of the request; the rows are read within it
	rest      string
	delimiter byte
	limits    Limits
	row       int
	seen      int // rows that were not empty
	cells     []Value
}

// ReadCSV reads a CSV file with commas, semicolons or tabs, whichever the first row has most of. charset is that of its media type.
// A first line such as sep=; tells it, as Excel has it. The rows end with ctx.
func ReadCSV(ctx context.Context, raw []byte, charset string, limits Limits) (Rows, error) {
	text, err := decodeText(raw, charset)
	if err != nil {
		return nil, err
	}
	r := &csvRows{ctx: ctx, rest: text, limits: limits}
	if told := separatorLine.FindStringSubmatch(text); told != nil {
		r.row, r.rest, r.delimiter = 1, text[len(told[0]):], told[1][0]
		return r, nil
	}
	r.delimiter = delimiterOf(text)
	return r, nil
}

// separatorLine is what programs write before the header, for Excel.
var separatorLine = regexp.MustCompile(`^"?sep=([,;|\t])"?(?:\r\n|\r|\n|$)`)

func delimiterOf(text string) byte {
	header := text
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		header = text[:i]
	}
	best := byte(',')
	for _, c := range []byte(";\t") {
		if strings.Count(header, string(c)) > strings.Count(header, string(best)) {
			best = c
		}
	}
	return best
}

var errEmptyRows = wrongFile("has more than %d rows; delete those that are empty", maxSheetRows)

// checkEvery is how many rows are read before the context is looked at.
const checkEvery = 1024

// Next implements [Rows].
func (r *csvRows) Next() (Row, error) {
	for r.rest != "" {
		if r.row++; r.row%checkEvery == 0 && r.ctx.Err() != nil {
			return Row{}, r.ctx.Err()
		}
		if r.row > maxSheetRows {
			return Row{}, errEmptyRows
		}
		r.cells = r.cells[:0]
		empty, size := true, 0
		for more := true; more; {
			text, next, err := r.cell()
			if err != nil {
				return Row{}, err
			}
			if size += len(text); size > r.limits.Row {
				return Row{}, longRow(r.row, r.limits)
			}
			if len(r.cells) >= r.limits.Columns {
				return Row{}, &FileError{r.row, fmt.Sprintf("has more than %d cells; leave out columns", r.limits.Columns)}
			}
			r.cells, more = append(r.cells, Value{Text, unguard(text)}), next
			empty = empty && strings.TrimSpace(text) == ""
		}
		if empty {
			continue
		}
		if r.seen++; r.seen > r.limits.Rows+1 {
			return Row{}, wrongFile("has more than %d rows; split it", r.limits.Rows)
		}
		return Row{r.row, r.cells}, nil
	}
	return Row{}, io.EOF
}

// cell takes the next cell; more says that the row goes on.
func (r *csvRows) cell() (text string, more bool, err error) {
	if strings.HasPrefix(r.rest, `"`) {
		if text, err = r.quoted(); err != nil {
			return "", false, err
		}
	} else {
		end := strings.IndexAny(r.rest, string(r.delimiter)+"\r\n")
		if end < 0 {
			end = len(r.rest)
		}
		text, r.rest = r.rest[:end], r.rest[end:]
		if strings.HasPrefix(strings.TrimLeft(text, " \u00a0"), `"`) {
			return "", false, r.wrongCell("has a space before the quotation mark that it begins with; leave the space out")
		}
	}
	if len(text) > r.limits.Cell {
		return "", false, r.tooLong()
	}
	switch {
	case r.rest == "":
		return text, false, nil
	case r.rest[0] == r.delimiter:
		r.rest = r.rest[1:]
		return text, true, nil
	case strings.HasPrefix(r.rest, "\r\n"):
		r.rest = r.rest[2:]
		return text, false, nil
	case r.rest[0] == '\n' || r.rest[0] == '\r':
		r.rest = r.rest[1:]
		return text, false, nil
	}
	return "", false, r.wrongCell("has characters behind its closing quotation mark; double the quotation marks within it")
}

// wrongCell says what is wrong with the cell that is being read.
func (r *csvRows) wrongCell(rule string) error {
	return &FileError{r.row, fmt.Sprintf("has a cell that cannot be read: cell %d %s", len(r.cells)+1, rule)}
}

func (r *csvRows) tooLong() error {
	return &FileError{r.row, fmt.Sprintf("has a cell of more than %d bytes; shorten it", r.limits.Cell)}
}

func (r *csvRows) quoted() (string, error) {
	rest := r.rest[1:]
	var text strings.Builder
	for {
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			return "", r.wrongCell("has no closing quotation mark; add it")
		}
		if text.WriteString(rest[:end]); text.Len() > r.limits.Cell {
			return "", r.tooLong()
		}
		if rest = rest[end+1:]; !strings.HasPrefix(rest, `"`) {
			r.rest = rest
			return text.String(), nil
		}
		text.WriteByte('"')
		rest = rest[1:]
	}
}
