package web

import "strings"

// Column is the head of a column.
type Column struct {
	Text string
	Num  bool
	Href string // sorts the table by the column; "" = it cannot be
	Sort string // ascending or descending, if the table is sorted by it
	Lead bool   // in a table that folds, it stands behind the first column
}

// Table has rows, or says what to do to have some.
type Table struct {
	Label   string // what it lists, for those who do not see it
	Folds   bool   // on a phone a row becomes lines: the first column and the leading one, then the others with their heads
	Columns []Column
	Rows    [][]Cell
	Empty   Empty
	Foot    []Cell // last row, such as sums; nil = none
	Next    string // address of the next page; "" = this is the last
}

// Class is that of the cell in a column.
func (t Table) Class(column int, c Cell) string {
	class := ""
	if c.Num {
		class = "num"
	}
	if t.Folds && column < len(t.Columns) && t.Columns[column].Lead {
		class = strings.TrimSpace(class + " foremost")
	}
	return class
}

// Head is what a table that folds says before the cells of a column on a phone; "" = nothing, as before the first and the leading one.
func (t Table) Head(column int) string {
	if !t.Folds || column == 0 || column >= len(t.Columns) || t.Columns[column].Lead {
		return ""
	}
	return t.Columns[column].Text
}
