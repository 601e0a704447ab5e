package imports_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// A number that may mean two things is none: not in a CSV, nor in a text of a workbook.
func TestNumbersThatPeopleWrite(t *testing.T) {
	t.Parallel()
	k := setup(t)
	rows := [][]string{
		{"sku", "name", "price", "packQty"}, {"A", "Pump", "1.500", ""}, {"B", "Pump", "2.990", ""}, {"C", "Pump", "1,250", ""}, {"D", "Pump", "10.000", "1.125"}, {"E", "Pump", "1,50", "0.125"},
	}
	workbook := excelize.NewFile()
	var file strings.Builder
	for i, row := range rows {
		require.NoError(t, workbook.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &row))
		file.WriteString(strings.Join(row, ";") + "\n")
	}
	raw, err := workbook.WriteToBuffer()
	require.NoError(t, err)
	for media, body := range map[string]string{csv: file.String(), spreadsheet.MediaXLSX: raw.String()} {
		_, lines := k.imported(t, "resource=products&dryRun=true", media, body)
		require.Equal(t, "[2 error price:TYPE 3 error price:TYPE 4 error price:TYPE 5 error price:TYPE packQty:TYPE 6 create]", fmt.Sprint(lines), media)
		require.Equal(t, "price: may mean 1500 or 1.500; add the parameter decimalSeparator, the character before the decimal places in this file", lines[0].Message)
		_, lines = k.imported(t, "resource=products&dryRun=true&decimalSeparator=,", media, body)
		require.Equal(t, "[2 create 3 create 4 error price:STEP 5 create 6 error packQty:TYPE]", fmt.Sprint(lines), media)
		_, lines = k.imported(t, "resource=products&dryRun=true&decimalSeparator=.", media, body)
		require.Equal(t, "[2 error price:STEP 3 error price:STEP 4 create 5 error price:STEP 6 error price:TYPE]", fmt.Sprint(lines), media)
	}
	_, lines := k.imported(t, "resource=products&decimalSeparator=,", csv, "sku;name;price\nA;Pump;1.500\nB;Pump;2 990,5\n")
	require.Equal(t, "[2 create 3 create]", fmt.Sprint(lines))
	require.EqualValues(t, 150_000, k.Do(t, "GET", "/catalog/products/"+*lines[0].ID, nil).OK(200)["price"])
	require.EqualValues(t, 299_050, k.Do(t, "GET", "/catalog/products/"+*lines[1].ID, nil).OK(200)["price"])
	_, lines = k.imported(t, "resource=stocks&dryRun=true", csv, "productSku;warehouseName;qty\nA;Main;1.000\nB;Main;1,5\n")
	require.Equal(t, "[2 error qty:TYPE 3 error qty:STEP]", fmt.Sprint(lines))
	require.Equal(t, map[string]string{"decimalSeparator": "FORMAT"}, k.send("resource=products&decimalSeparator=;", csv, "sku,name\nA,x\n").Fields())
}

// Cells that are in no column are not dropped: a separator in the cells before them was meant as text.
func TestCellsBeyondTheHeader(t *testing.T) {
	t.Parallel()
	k := setup(t)
	_, lines := k.imported(t, "resource=products&dryRun=true", csv, "sku,name,price,cost,\nCASE-1,Lamp,12,50,3,20\nCASE-2,Lamp,12.50,3.20\nCASE-3,Lamp,1,1,, ,\nCASE-4,Lamp,1,1,x\n")
	require.Equal(t, "[2 error column 5:UNKNOWN 3 create 4 create 5 error column 5:UNKNOWN]", fmt.Sprint(lines))
	require.Equal(t, "column 5: has a value, but no name in the first row; name it, or put a cell with a separator before it into quotation marks", lines[0].Message)
	workbook := excelize.NewFile()
	require.NoError(t, workbook.SetSheetRow("Sheet1", "A1", &[]any{"sku", "name", "price"}))
	require.NoError(t, workbook.SetSheetRow("Sheet1", "A2", &[]any{"CASE-1", "Lamp", 12, nil, "note"}))
	raw, err := workbook.WriteToBuffer()
	require.NoError(t, err)
	_, lines = k.imported(t, "resource=products&dryRun=true", spreadsheet.MediaXLSX, raw.String())
	require.Equal(t, "[2 error column 5:UNKNOWN]", fmt.Sprint(lines))
}

// What a spreadsheet has lost of a number, or made of a text, is not stored as a code.
func TestDamagedCells(t *testing.T) {
	t.Parallel()
	k := setup(t)
	_, lines := k.imported(t, "resource=products&dryRun=true", csv, "sku,name,price,barcode,brand\n4.00638E+12,Lamp,1,,\n4.00638E+12,Lamp,1,,\nA,Lamp,1,\"4,00638E+12\",\nB,1.5E+10,1,,\n1E5,Lamp,1,,\nC,Lamp,1,#N/A,\nD,Lamp,#N/A,,#N/A\nE,Lamp,1,,#N/A\n")
	require.Equal(t, "[2 error sku:FORMAT 3 error sku:FORMAT 4 error barcode:FORMAT 5 create 6 create 7 error barcode:FORMAT 8 error price:TYPE 9 create]", fmt.Sprint(lines))
	require.Equal(t, "sku: is 4.00638E+12, a number that has lost digits; format the column as text, and enter the value again", lines[0].Message)

	f := excelize.NewFile()
	require.NoError(t, f.SetSheetRow("Sheet1", "A1", &[]any{"SKU", "Name", "PRICE", "bar code", "Pack_Qty", "colour", "Description"}))
	require.NoError(t, f.SetSheetRow("Sheet1", "A2", &[]any{4006381333931, "Lamp", 12.5, 4006381333931, 2, nil, 2026}))
	require.NoError(t, f.SetSheetRow("Sheet1", "A3", &[]any{12345678901234567, "Lamp", 1}))
	require.NoError(t, f.SetSheetRow("Sheet1", "A4", &[]any{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 1, nil, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}))
	require.NoError(t, f.SetSheetRow("Sheet1", "A5", &[]any{"F", "Lamp"}))
	require.NoError(t, f.SetCellFormula("Sheet1", "C5", "1/0"))
	require.NoError(t, f.SetSheetRow("Sheet1", "A6", &[]any{"G", "Lamp", 1}))
	raw, err := f.WriteToBuffer()
	require.NoError(t, err)
	_, lines = k.imported(t, "resource=products&dryRun=true", spreadsheet.MediaXLSX, withErrors(t, raw.Bytes()))
	require.Equal(t, "[2 create 3 error sku:FORMAT 4 error sku:FORMAT name:FORMAT packQty:TYPE 5 error price:FORMAT 6 create]", fmt.Sprint(lines))
	require.Equal(t, "price: is the error #DIV/0! of a formula; correct it, or empty the cell", lines[3].Message)
}

// withErrors stores the error #DIV/0! as the value of formulas, and #N/A in the column F, which products do not have.
func withErrors(t *testing.T, raw []byte) string {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range in.File {
		r, err := f.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		if strings.HasSuffix(f.Name, "sheet1.xml") {
			formula := regexp.MustCompile(`<c r="C5"[^>]*><f>1/0</f>(<v></v>)?</c>`)
			require.Regexp(t, formula, string(body))
			body = formula.ReplaceAll(body, []byte(`<c r="C5" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="F5" t="e"><v>#N/A</v></c>`))
			body = bytes.Replace(body, []byte(`<c r="C6"><v>1</v></c>`), []byte(`<c r="C6"><v>1</v></c><c r="F6" t="e"><v>#N/A</v></c>`), 1)
		}
		w, err := z.Create(f.Name)
		require.NoError(t, err)
		_, err = w.Write(body)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.String()
}

// A number is no date unless it is shown as one. A day may have the clock of midnight, which many programs write.
func TestDaysOfFiles(t *testing.T) {
	t.Parallel()
	k := setup(t)
	f := excelize.NewFile()
	require.NoError(t, f.SetSheetRow("Sheet1", "A1", &[]any{"id", "kind", "displayName", "birthday"}))
	for i, v := range []any{1990, 33_036.0, time.Date(1990, 6, 12, 0, 0, 0, 0, time.UTC), "1990-06-12", "1990-06-12T00:00:00", "1990-06-12 00:00:00", "1990-06-12T00:00:00.000Z", "1990-06-12T00:00:00+02:00", "1990-06-12T22:00:00Z", "1990-06-12 10:30:00", "12.06.1990"} {
		require.NoError(t, f.SetSheetRow("Sheet1", fmt.Sprint("A", i+2), &[]any{nil, "individual", fmt.Sprint("Ada ", i), v}))
	}
	raw, err := f.WriteToBuffer()
	require.NoError(t, err)
	_, lines := k.imported(t, "resource=clients", spreadsheet.MediaXLSX, raw.String())
	require.Equal(t, "[2 error birthday:FORMAT 3 error birthday:FORMAT 4 create 5 create 6 create 7 create 8 create 9 create 10 error birthday:FORMAT 11 error birthday:FORMAT 12 create]", fmt.Sprint(lines))
	require.Equal(t, "birthday: is the number 1990; format the cell as a date", lines[0].Message)
	for _, l := range lines[2:8] {
		require.Equal(t, "1990-06-12", k.Do(t, "GET", "/clients/"+*l.ID, nil).OK(200)["birthday"], "row %d", l.Row)
	}
}

// Columns are found however people write their names, and rows that would come twice are counted.
func TestColumnsThatPeopleName(t *testing.T) {
	t.Parallel()
	k := setup(t)
	got, lines := k.imported(t, "resource=products", csv, "SKU,Name,PRICE,Min order qty,external_id,SOURCE\n,Lamp,1,2,,\n,Lamp,1,,,\nA,Lamp,1,,,\n")
	require.Equal(t, "[2 create 3 create 4 create]", fmt.Sprint(lines))
	summary := got["summary"].(map[string]any)
	require.Equal(t, []any{"sku", "name", "price", "minOrderQty", "externalId", "source"}, summary["columns"])
	require.EqualValues(t, 2, summary["rowsWithoutKey"])
	require.Equal(t, map[string]string{"body": "CONFLICT"}, k.send("resource=products", csv, "sku,name,SKU\na,b,c\n").Fields())
	require.Contains(t, string(k.send("resource=products", csv, "skew,nam\na,b\n").Body), `has no column that is a field of products; the first row must name fields, such as attributes, and has \"skew\" (did you mean sku?), \"nam\" (did you mean name?)`)
}
