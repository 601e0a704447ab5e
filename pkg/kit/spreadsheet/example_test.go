package spreadsheet_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// A table is written, and read again within limits. Texts that a spreadsheet would take for formulas are guarded, and come back as they were.
func Example() {
	w := spreadsheet.NewCSV(spreadsheet.CSVOptions{Delimiter: ';', Decimal: ','})
	w.Header([]spreadsheet.Column{{Name: "sku", Kind: spreadsheet.Text}, {Name: "price", Kind: spreadsheet.Number, Places: 2}})
	w.Row([]spreadsheet.Cell{{Kind: spreadsheet.Text, Text: "=A-1"}, {Kind: spreadsheet.Number, Num: 1999, Scale: 2, Places: 2}})
	fmt.Print(w.String())

	limits := spreadsheet.Limits{Rows: 1000, Columns: 50, Cell: 4 << 10, Row: 64 << 10, Expand: 16 << 20}
	rows, err := spreadsheet.ReadCSV(context.Background(), w.Bytes(), "utf-8", limits)
	for err == nil {
		var row spreadsheet.Row
		if row, err = rows.Next(); err == nil {
			fmt.Println(row.Number, row.Cells[0].Text, row.Cells[1].Text)
		}
	}
	if !errors.Is(err, io.EOF) {
		fmt.Println(err) // a FileError says what is wrong, and what to do
	}
	// Output:
	// sku;price
	// '=A-1;19,99
	// 1 sku price
	// 2 =A-1 19,99
}
