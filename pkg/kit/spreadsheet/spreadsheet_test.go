package spreadsheet_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

var limits = spreadsheet.Limits{Rows: 1000, Columns: 20, Cell: 1 << 20, Row: 4 << 20, Expand: 64 << 20}

// texts are of the kinds that files have mangled somewhere.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`['=+\-@\t\r＝＋－＠ 0-9()]{0,6}`),
		rapid.StringMatching(`[ ,;"'\n\r\\.=a&<>]{0,6}`),
		rapid.StringMatching(`(_x00[0-9A-F]{2}_|_|x){0,3}`),
		rapid.StringMatching(`\+[0-9]{1,15}`),
		rapid.StringMatching(`0[0-9]{0,20}`),
		rapid.SampledFrom([]string{"true", "null", "1E5", "2026-01-02", `\.`, "\ufeff", "\ufeffa", "\uffff", "\x00\x01\x1f", "+49 30 12345", "+1-2", "'+1", "''=1", "😀"}),
	)
}

func readXLSX(raw []byte, limits spreadsheet.Limits) (spreadsheet.Rows, error) {
	return spreadsheet.ReadXLSX(context.Background(), bytes.NewReader(raw), int64(len(raw)), limits)
}

func readCSV(raw []byte, charset string, limits spreadsheet.Limits) (spreadsheet.Rows, error) {
	return spreadsheet.ReadCSV(context.Background(), raw, charset, limits)
}

func readAll(t require.TestingT, rows spreadsheet.Rows, err error) [][]spreadsheet.Value {
	require.NoError(t, err)
	var all [][]spreadsheet.Value
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, append([]spreadsheet.Value{}, row.Cells...))
	}
}

// table draws columns and rows of texts; the first cell of a row is never blank, so that the row is read back.
func table(t *rapid.T) ([]spreadsheet.Column, [][]spreadsheet.Cell, [][]string) {
	columns := make([]spreadsheet.Column, rapid.IntRange(1, 4).Draw(t, "columns"))
	for i := range columns {
		columns[i] = spreadsheet.Column{Name: fmt.Sprint("column", i), Kind: spreadsheet.Text}
	}
	var cells [][]spreadsheet.Cell
	var want [][]string
	for range rapid.IntRange(0, 5).Draw(t, "rows") {
		var row []spreadsheet.Cell
		var text []string
		for i := range columns {
			s := texts().Draw(t, "text")
			s = strings.ToValidUTF8(s, "\ufffd")
			if i == 0 && strings.TrimSpace(s) == "" {
				s = "x"
			}
			row, text = append(row, spreadsheet.Cell{Kind: spreadsheet.Text, Text: s}), append(text, s)
		}
		cells, want = append(cells, row), append(want, text)
	}
	return columns, cells, want
}

func textsOf(rows [][]spreadsheet.Value, columns int) [][]string {
	var all [][]string
	for _, row := range rows {
		var text []string
		for _, v := range row {
			text = append(text, v.Text)
		}
		for len(text) < columns { // empty cells at the end of a row
			text = append(text, "")
		}
		all = append(all, text)
	}
	return all
}

func TestAnyTextSurvivesCSV(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns, cells, want := table(t)
		w := spreadsheet.NewCSV(spreadsheet.CSVOptions{BOM: rapid.Bool().Draw(t, "bom"), Delimiter: rapid.SampledFrom([]byte{0, ',', ';'}).Draw(t, "delimiter")})
		w.Header(columns)
		for _, row := range cells {
			w.Row(row)
		}
		rows, err := readCSV(w.Bytes(), "utf-8", limits)
		got := readAll(t, rows, err)
		require.Len(t, got, 1+len(want))
		require.Equal(t, want, textsOf(got[1:], len(columns)))
	})
}

// A file in several parts has what one in a single part has, and both this package and excelize read it.
func TestAnyTextSurvivesXLSX(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns, cells, want := table(t)
		raw := write(t, spreadsheet.XLSXOptions{Sheet: "records", Columns: columns}, cells, func() bool { return rapid.Bool().Draw(t, "suspend") })
		rows, err := readXLSX(raw, limits)
		got := readAll(t, rows, err)
		require.Len(t, got, 1+len(want))
		require.Equal(t, want, textsOf(got[1:], len(columns)))

		f, err := excelize.OpenReader(bytes.NewReader(raw))
		require.NoError(t, err)
		require.Equal(t, []string{"records"}, f.GetSheetList())
		for i, row := range want {
			for j, text := range row {
				name, err := excelize.CoordinatesToCellName(j+1, i+2)
				require.NoError(t, err)
				cell, err := f.GetCellValue("records", name, excelize.Options{RawCellValue: true})
				require.NoError(t, err)
				if !strings.Contains(text, "_x") { // where excelize reads less than the format says
					require.Equal(t, strings.NewReplacer("\ufffe", "", "\uffff", "").Replace(text), strings.NewReplacer("\ufffe", "", "\uffff", "").Replace(cell), "%q", text)
				}
			}
		}
	})
}

// write writes a file, and continues it from its state, as JSON would carry it, wherever suspend says so.
func write(t require.TestingT, opts spreadsheet.XLSXOptions, rows [][]spreadsheet.Cell, suspend func() bool) []byte {
	var raw []byte
	w, err := spreadsheet.NewXLSX(opts, spreadsheet.XLSXState{})
	require.NoError(t, err)
	for _, row := range rows {
		require.NoError(t, w.Row(row))
		if suspend() {
			at, err := w.Suspend()
			require.NoError(t, err)
			raw = append(raw, w.Bytes()...)
			w, err = spreadsheet.NewXLSX(opts, at)
			require.NoError(t, err)
		}
	}
	_, err = w.End()
	require.NoError(t, err)
	return append(raw, w.Bytes()...)
}

func TestCells(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at := time.Date(2026, 7, 20, 22, 30, 0, 123_000_000, time.UTC)
	cells := []spreadsheet.Cell{
		{Kind: spreadsheet.Number, Num: -123450, Scale: 2, Places: 2},
		{Kind: spreadsheet.Number, Num: -5, Scale: 3},
		{Kind: spreadsheet.Number, Num: math.MinInt64},
		{Kind: spreadsheet.Bool, Num: 1},
		{Kind: spreadsheet.Time, Time: at},
		{Kind: spreadsheet.Date, Time: time.Date(1980, 2, 29, 0, 0, 0, 0, time.UTC)},
		{Kind: spreadsheet.Date, Time: time.Date(1890, 2, 3, 0, 0, 0, 0, time.UTC)},
		{Kind: spreadsheet.JSON, Text: `{"a":"=1"}`},
		{},
		{Kind: spreadsheet.Text, Text: "+79161234567"},
	}
	columns := make([]spreadsheet.Column, len(cells))
	for i, c := range cells {
		columns[i] = spreadsheet.Column{Name: fmt.Sprint("c", i), Kind: c.Kind, Places: c.Places}
	}
	w := spreadsheet.NewCSV(spreadsheet.CSVOptions{Delimiter: ';', Decimal: ',', Zone: zone})
	w.Header(columns)
	w.Row(cells)
	require.Equal(t, "c0;c1;c2;c3;c4;c5;c6;c7;c8;c9\n"+
		`-1234,50;-0,005;-9223372036854775808;true;2026-07-21T00:30:00.123+02:00;1980-02-29;1890-02-03;"{""a"":""=1""}";;+79161234567`+"\n", w.String())

	raw := write(t, spreadsheet.XLSXOptions{Sheet: "s", Columns: columns, Zone: zone}, [][]spreadsheet.Cell{cells}, func() bool { return false })
	f, err := excelize.OpenReader(bytes.NewReader(raw))
	require.NoError(t, err)
	rows, err := f.GetRows("s")
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"c0", "c1", "c2", "c3", "c4 (Europe/Berlin)", "c5", "c6", "c7", "c8", "c9"},
		{"-1,234.50", "-0.005", "-9223372036854775808", "TRUE", "2026-07-21 00:30:00", "1980-02-29", "1890-02-03", `{"a":"=1"}`, "", "+79161234567"},
	}, rows)
	for cell, want := range map[string]excelize.CellType{"A2": excelize.CellTypeUnset, "C2": excelize.CellTypeInlineString, "D2": excelize.CellTypeBool, "J2": excelize.CellTypeInlineString} {
		got, err := f.GetCellType("s", cell)
		require.NoError(t, err)
		require.Equal(t, want, got, cell)
	}
	mine, err := readXLSX(raw, limits)
	got := readAll(t, mine, err)[1]
	require.Equal(t, spreadsheet.Value{Kind: spreadsheet.Number, Text: "-1234.50"}, got[0])
	day, ok := spreadsheet.Day(got[5].Text, false)
	require.True(t, ok)
	require.Equal(t, "1980-02-29", day.Format(time.DateOnly))
}

// What a spreadsheet would run as a formula has a quote before it; phone numbers have none.
func TestGuardOfFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`=HYPERLINK("http://x")`: `"'=HYPERLINK(""http://x"")"`, "+4930": "+4930", "+49 30 12345": "+49 30 12345", "+1-2": "'+1-2", "+1(2)": "'+1(2)", "+": "'+", "+ 1": "'+ 1", "+1 ": "'+1 ", "+1  2": "'+1  2",
		"-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠a": "'＠a", "\t=1": "'\t=1", "\r=1": "\"'\r=1\"", "=": "'=", "": `""`, "a=1": "a=1", " =1": `" =1"`,
		"'=1": "''=1", "'+49": "''+49", "'a": "'a", "Äpfel": "Äpfel", "\n=1": "\"\n=1\"", "a,b": `"a,b"`, "a;b": `"a;b"`, `\.`: `"\."`, "a\xffb": "a\ufffdb",
	} {
		w := spreadsheet.NewCSV(spreadsheet.CSVOptions{})
		w.Row([]spreadsheet.Cell{{Kind: spreadsheet.Text, Text: text}})
		require.Equal(t, want+"\n", w.String(), "%q", text)
	}
	rows, err := readCSV([]byte("phone\n'+49301234\n"), "", limits)
	require.Equal(t, "+49301234", readAll(t, rows, err)[1][0].Text, "another program has guarded it")
}

// A sheet has as many rows as the format allows; the others go to further sheets.
func TestFurtherSheets(t *testing.T) {
	t.Parallel()
	opts := spreadsheet.XLSXOptions{Sheet: "a name of more than thirty-one characters", Columns: []spreadsheet.Column{{Name: "n", Kind: spreadsheet.Number}}}
	w, err := spreadsheet.NewXLSX(opts, spreadsheet.XLSXState{})
	require.NoError(t, err)
	row := []spreadsheet.Cell{{Kind: spreadsheet.Number}}
	for i := range int64(1<<20 + 10) {
		row[0].Num = i
		require.NoError(t, w.Row(row))
	}
	at, err := w.End()
	require.NoError(t, err)
	require.Equal(t, 2, at.Sheet)
	f, err := excelize.OpenReader(bytes.NewReader(w.Bytes()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	require.Equal(t, []string{"a name of more than thirty-one ", "a name of more than thirty-on 2"}, f.GetSheetList())
	rows, err := f.GetRows(f.GetSheetName(1))
	require.NoError(t, err)
	require.Len(t, rows, 12, "the header, and the 11 that the first had no room for")
	require.Equal(t, "1048585", rows[11][0])
}

func TestLongCellsAreCut(t *testing.T) {
	t.Parallel()
	columns := []spreadsheet.Column{{Name: "a"}}
	for text, cut := range map[string]bool{strings.Repeat("ж", 32_767): false, strings.Repeat("ж", 32_768): true, strings.Repeat("😀", 16_383): false, strings.Repeat("😀", 16_384): true} {
		w, err := spreadsheet.NewXLSX(spreadsheet.XLSXOptions{Sheet: "s", Columns: columns}, spreadsheet.XLSXState{})
		require.NoError(t, err)
		require.NoError(t, w.Row([]spreadsheet.Cell{{Kind: spreadsheet.Text, Text: text}}))
		at, err := w.End()
		require.NoError(t, err)
		rows, err := readXLSX(w.Bytes(), limits)
		got := readAll(t, rows, err)[1][0].Text
		require.Equal(t, cut, at.Cut == 1)
		require.Equal(t, cut, strings.HasSuffix(got, "… [cut]"))
		if !cut {
			require.Equal(t, text, got)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	small := spreadsheet.Limits{Rows: 2, Columns: 2, Cell: 5, Row: 8, Expand: 1 << 20}
	all := func(rows spreadsheet.Rows, err error) error {
		for err == nil {
			_, err = rows.Next()
		}
		return err
	}
	for text, want := range map[string]string{
		"a,b\n1,2,3\n":    "row 2 has more than 2 cells; leave out columns",
		"a\n1\n2\n3\n":    "has more than 2 rows; split it",
		"a\n123456\n":     "row 2 has a cell of more than 5 bytes; shorten it",
		"a\n12345,1234\n": "row 2 has more than 8 bytes; shorten its cells",
		"a\n\"1\n":        "row 2 has a cell that cannot be read: cell 1 has no closing quotation mark; add it",
		"a,b\n1, \"2\"\n": "row 2 has a cell that cannot be read: cell 2 has a space before the quotation mark that it begins with; leave the space out",
		"a\n\"1\"2\n":     "row 2 has a cell that cannot be read: cell 1 has characters behind its closing quotation mark; double the quotation marks within it",
		"a\n1\n\xe4\n":    "row 3 is not UTF-8; save the file as CSV UTF-8, or name its encoding, such as Content-Type: text/csv; charset=windows-1251",
		"\xff\xfea\x00\n": "is UTF-16; save it as CSV UTF-8",
	} {
		require.EqualError(t, all(readCSV([]byte(text), "", small)), want)
	}
	require.EqualError(t, all(readCSV(nil, "koi8-r", small)), `has the charset "koi8-r", which is not supported; send utf-8, windows-1251 or windows-1252`)
	require.EqualError(t, all(readXLSX([]byte("PK"), small)), "is not an XLSX file; save it as an Excel workbook (.xlsx)")
	for rows, want := range map[string]string{
		`<row r="1"><c r="C1"><v>1</v></c></row>`:                                      "row 1 has more than 2 cells; leave out columns",
		`<row><c><v>123456</v></c></row>`:                                              "row 1 has a cell of more than 5 bytes; shorten it",
		`<row><c><v>12345</v></c><c><v>1234</v></c></row>`:                             "row 1 has more than 8 bytes; shorten its cells",
		`<row><c t="s"><v>7</v></c></row>`:                                             `is damaged: row 1 refers to the text "7", which does not exist; save it anew`,
		`<row><c><v>1</v></c>`:                                                         "is damaged: XML syntax error on line 1: unexpected EOF; save it anew",
		strings.Repeat(`<row><c><v>1</v></c></row>`, 4):                                "has more than 2 rows; split it",
		strings.Repeat(` `, 1<<20):                                                     "has a sheet of more than 1 MiB without compression; split it",
		`<row><c t="inlineStr"><is><t>` + strings.Repeat("a", 2<<20) + `</t></is></c>`: "row 1 has a cell of more than 5 bytes; shorten it",
	} {
		err := all(readXLSX(workbook(t, rows), small))
		require.Error(t, err)
		if !strings.HasPrefix(want, "is damaged: XML") && !strings.Contains(rows, "aaaa") {
			require.EqualError(t, err, want)
		}
		var file *spreadsheet.FileError
		require.ErrorAs(t, err, &file)
	}
}

// workbook is a file with a sheet of these rows.
func workbook(t *testing.T, rows string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, body := range map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="x"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="x" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	} {
		f, err := z.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(f, body)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// Files of other programs share texts, split them into runs, and leave out references.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	require.NoError(t, f.SetSheetRow("Sheet1", "A1", &[]any{"sku", "name", "price", "n"}))
	require.NoError(t, f.SetSheetRow("Sheet1", "A3", &[]any{"007", "Tea", 12.1, true}))
	require.NoError(t, f.SetCellRichText("Sheet1", "B3", []excelize.RichTextRun{{Text: "Green "}, {Text: "tea", Font: &excelize.Font{Bold: true}}}))
	var out bytes.Buffer
	require.NoError(t, f.Write(&out))
	rows, err := readXLSX(out.Bytes(), limits)
	require.NoError(t, err)
	_, err = rows.Next()
	require.NoError(t, err)
	row, err := rows.Next()
	require.NoError(t, err)
	require.Equal(t, spreadsheet.Row{Number: 3, Cells: []spreadsheet.Value{
		{Kind: spreadsheet.Text, Text: "007"}, {Kind: spreadsheet.Text, Text: "Green tea"}, {Kind: spreadsheet.Number, Text: "12.1"}, {Kind: spreadsheet.Bool, Text: "true"},
	}}, row)

	csv, err := readCSV([]byte("name;price\r\n\xd7\xe0\xe9;1,5\r\n\r\n;\r\n"), "Windows-1251", limits)
	require.Equal(t, [][]string{{"name", "price"}, {"Чай", "1,5"}}, textsOf(readAll(t, csv, err), 2))
}

// What other programs write in CSV files is taken where it can mean one thing only.
func TestTablesOfOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][][]string{
		"sep=;\r\na;b\r\n1,5;2\r\n":            {{"a", "b"}, {"1,5", "2"}},
		"\ufeff\"sep=|\"\na|b\n1|2\n":          {{"a", "b"}, {"1", "2"}},
		"sep=\t\na\tb;c;d\n":                   {{"a", "b;c;d"}},
		"a,b\n5\" pipe,2\"\n":                  {{"a", "b"}, {`5" pipe`, `2"`}},
		"a,b\n , \u00a0\n\n\t\n\"  \",\n1,2\n": {{"a", "b"}, {"1", "2"}},
	} {
		rows, err := readCSV([]byte(text), "", limits)
		require.Equal(t, want, textsOf(readAll(t, rows, err), 2), "%q", text)
	}
	rows, err := readCSV([]byte("sep=;\na;b\n\n1;\"2\n"), "", limits)
	require.NoError(t, err)
	_, err = rows.Next()
	require.NoError(t, err)
	_, err = rows.Next()
	require.EqualError(t, err, "row 4 has a cell that cannot be read: cell 2 has no closing quotation mark; add it", "as an editor counts")
}

// The first sheet that people see is read; numbers are dates if they are shown as such; errors of formulas are cells.
func TestWorkbooksOfOthers(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	_, err := f.NewSheet("Shown")
	require.NoError(t, err)
	_, err = f.NewSheet("Third")
	require.NoError(t, err)
	for i, code := range []string{"", "0.00", "yyyy-mm-dd", `[$-407]d. mmm yyyy;@`, `#,##0 "days"`, "[h]:mm", `0\d`, "_-* #,##0.00\\ _€_-", "[Red]0.00", "General", "0.00E+00", "mm:ss.0"} {
		cell, err := excelize.CoordinatesToCellName(1+i, 1)
		require.NoError(t, err)
		require.NoError(t, f.SetCellValue("Shown", cell, 1990))
		if code != "" {
			style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
			require.NoError(t, err)
			require.NoError(t, f.SetCellStyle("Shown", cell, cell, style))
		}
	}
	builtIn, err := f.NewStyle(&excelize.Style{NumFmt: 14})
	require.NoError(t, err)
	require.NoError(t, f.SetCellValue("Shown", "M1", 1990))
	require.NoError(t, f.SetCellStyle("Shown", "M1", "M1", builtIn))
	require.NoError(t, f.SetSheetVisible("Sheet1", false))
	var out bytes.Buffer
	f.SetActiveSheet(1)
	require.NoError(t, f.SetSheetVisible("Sheet1", false))
	require.NoError(t, f.Write(&out))
	rows, err := readXLSX(out.Bytes(), limits)
	var dates []int
	for i, v := range readAll(t, rows, err)[0] {
		require.Equal(t, "1990", v.Text)
		if v.Kind == spreadsheet.Time {
			dates = append(dates, i)
		}
	}
	require.Equal(t, []int{2, 3, 5, 11, 12}, dates)

	rows, err = readXLSX(workbook(t, `<row><c t="inlineStr"><is><t> </t></is></c></row><row><c t="e"><v>#N/A</v></c><c><v>1</v></c></row>`), limits)
	require.Equal(t, [][]spreadsheet.Value{{{Kind: spreadsheet.Broken, Text: "#N/A"}, {Kind: spreadsheet.Number, Text: "1"}}}, readAll(t, rows, err))
}

func TestNumbersOfSheets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"12": "12", "1.1000000000000001": "1.1", "0.30000000000000004": "0.3", "1E3": "1000", "7.9161234567E10": "79161234567", "-2.5": "-2.5"} {
		got, ok := spreadsheet.Decimal(text)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	_, ok := spreadsheet.Decimal("1E999")
	require.False(t, ok)
	for serial, want := range map[string]string{"61": "1900-03-01", "59": "1900-02-28", "1": "1900-01-01", "46223.9": "2026-07-20"} {
		day, ok := spreadsheet.Day(serial, false)
		require.True(t, ok)
		require.Equal(t, want, day.Format(time.DateOnly))
	}
	day, _ := spreadsheet.Day("0", true)
	require.Equal(t, "1904-01-01", day.Format(time.DateOnly))
}
