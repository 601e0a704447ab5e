// Package term writes what commands show to people: tables, and texts of others that must not move the cursor.
package term

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Table writes rows below their heads, which the words of head are.
func Table(out io.Writer, head string, rows [][]any) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(head, " ", "\t"))
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, Printable(Show(cell)))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// Show returns a value as a cell of a table; "-" if there is none.
func Show(cell any) string {
	switch v := cell.(type) {
	case *string:
		if v == nil {
			return "-"
		}
		return *v
	case *jsontype.Time:
		if v == nil {
			return "-"
		}
		return v.String()
	case []string:
		return cmp.Or(strings.Join(v, ","), "-")
	}
	return cmp.Or(fmt.Sprint(cell), "-")
}

// Printable keeps what others have written from moving the cursor of a terminal, or the columns of a table.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}
