// Package spreadsheet writes and reads tables as CSV and XLSX files: one row per record, one column per field. What it writes it
// reads back: see docs/reference/jobs.md#csv and docs/reference/jobs.md#xlsx. It knows no records; packages exports and imports
// map fields to cells.
//
// Write with [NewCSV] or [NewXLSX]; the latter can be suspended between two rows, so that a job writes it in steps. Read with [ReadCSV] or
// [ReadXLSX], which return [Rows] and hold one row at a time. [Limits] bound what a file may take, because strangers send them: what is beyond is a
// [FileError], whose text tells a user what to change.
package spreadsheet

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is the type of a cell or of a column.
type Kind uint8

// Kinds of cells.
const (
	Empty  Kind = iota
	Text        // Cell.Text, whatever characters it has
	Number      // Cell.Num · 10^-Cell.Scale, or Cell.Text as a decimal number
	Bool        // Cell.Num is 0 or 1
	Time        // Cell.Time, an instant; in a file that is read a number that is shown as a date, a time or both
	Date        // Cell.Time, a day in UTC
	JSON        // Cell.Text, an object or an array
	Broken      // only in files that are read: Value.Text is the error of a formula, such as #N/A
)

// Cell is the value of a cell.
type Cell struct {
	Kind   Kind
	Places uint8 // decimal places of a number that are always written
	Scale  uint8 // decimal places of Num
	Num    int64
	Text   string
	Time   time.Time
}

// Column describes a column of a file.
type Column struct {
	Name   string
	Kind   Kind  // of its cells; Empty = they differ
	Places uint8 // decimal places of its numbers
}

// appendNumber writes a number as a decimal with a point.
func (c *Cell) appendNumber(to []byte) []byte {
	if c.Text != "" {
		return append(to, c.Text...)
	}
	return appendDecimal(to, c.Num, int(c.Scale), int(c.Places))
}

// appendDecimal writes v · 10^-scale with at least as many places as given.
func appendDecimal(to []byte, v int64, scale, places int) []byte {
	u := uint64(v)
	if v < 0 {
		to, u = append(to, '-'), -u
	}
	unit := uint64(1)
	for range scale {
		unit *= 10
	}
	to = strconv.AppendUint(to, u/unit, 10)
	rest := u % unit
	if rest == 0 && places == 0 {
		return to
	}
	to = append(to, '.')
	for i := 0; i < places || rest > 0; i++ {
		if unit /= 10; unit == 0 {
			to = append(to, '0')
			continue
		}
		to = append(to, byte('0'+rest/unit))
		rest %= unit
	}
	return to
}

// valid replaces what is not UTF-8, as encoding/json does.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// formulaStarts begin a formula in a spreadsheet; full-width forms become plain ones.
const formulaStarts = "=+-@\t\r＝＋－＠"

// guard returns a text as a CSV has it: a single quote precedes one that a spreadsheet would take for a formula. Phone numbers with
// a plus and nothing but digits and single spaces stay as they are: they compute nothing. A quote precedes also a text that begins
// like a guarded one, so that [unguard] returns any text.
func guard(s string) string {
	if s == "" {
		return s
	}
	if first, _ := utf8.DecodeRuneInString(s); first != '\'' {
		if strings.ContainsRune(formulaStarts, first) && !isPhone(s) {
			return "'" + s
		}
		return s
	}
	if guarded(s) {
		return "'" + s
	}
	return s
}

// unguard reverses guard. It also accepts phone numbers that other programs have guarded.
func unguard(s string) string {
	if guarded(s) {
		return s[1:]
	}
	return s
}

// guarded reports whether a text consists of quotes and the start of a formula.
func guarded(s string) bool {
	rest := strings.TrimLeft(s, "'")
	if len(rest) == len(s) || rest == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(rest)
	return strings.ContainsRune(formulaStarts, first)
}

// isPhone reports whether a text is a plus and digits, with single spaces between them.
func isPhone(s string) bool {
	digits, ok := strings.CutPrefix(s, "+")
	if !ok || digits == "" {
		return false
	}
	space := true // a space may not follow
	for i := range len(digits) {
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			space = false
		case c == ' ' && !space:
			space = true
		default:
			return false
		}
	}
	return !space
}
