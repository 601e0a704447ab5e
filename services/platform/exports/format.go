package exports

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// lines is the value of Input.Rows for rows of lines.
const lines = "lines"

// Formats of an export.
const (
	ndjson = "ndjson"
	csv    = "csv"
	xlsx   = "xlsx"
)

// media are the media types of the formats.
var media = map[string]string{ndjson: "application/x-ndjson", csv: "text/csv; charset=utf-8", xlsx: spreadsheet.MediaXLSX}

// file is the part of a result that a step writes.
type file interface {
	add(page httpapi.ListPage) error
	// size is what the step has written, before the compression that belongs to the format.
	size() int
	// close ends the part, and the file if it is the last one. Where the next part goes on is noted in the state.
	close(last bool, at *state) ([]byte, error)
}

// open begins the part of a step.
func open(in order, source *httpapi.ListSource, at state, first bool) (file, error) {
	switch in.Format {
	case csv:
		return newCSVFile(in, source, first), nil
	case xlsx:
		return newXLSXFile(in, source, at.XLSX)
	}
	f := &lineFile{}
	f.json = json.NewEncoder(&f.buf)
	return f, nil
}

// lineFile writes records as the list returns them, one per line.
type lineFile struct {
	buf  bytes.Buffer
	json *json.Encoder
}

func (f *lineFile) size() int                          { return f.buf.Len() }
func (f *lineFile) close(bool, *state) ([]byte, error) { return f.buf.Bytes(), nil }

func (f *lineFile) add(page httpapi.ListPage) error {
	for i := range page.Len {
		if err := page.Items.Encode(f.json, i); err != nil {
			return fmt.Errorf("write record of export: %w", err)
		}
	}
	return nil
}

// csvFile writes records as the rows of a CSV.
type csvFile struct {
	*table
	out *spreadsheet.CSV
}

func newCSVFile(in order, source *httpapi.ListSource, first bool) *csvFile {
	f := &csvFile{newTable(in, source), spreadsheet.NewCSV(spreadsheet.CSVOptions{
		BOM: in.BOM, Delimiter: byteOf(in.Delimiter), Decimal: byteOf(in.DecimalSeparator), Zone: zoneOf(in.Zone),
	})}
	if first {
		f.out.Header(f.header())
	}
	return f
}

func byteOf(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

func (f *csvFile) size() int                          { return f.out.Len() }
func (f *csvFile) close(bool, *state) ([]byte, error) { return f.out.Bytes(), nil }

func (f *csvFile) add(page httpapi.ListPage) error {
	return f.rows(page, func(row []spreadsheet.Cell) error { f.out.Row(row); return nil })
}

// xlsxFile writes records as the rows of an XLSX workbook.
type xlsxFile struct {
	*table
	out  *spreadsheet.XLSX
	from int64 // size of the sheets before the step
}

func newXLSXFile(in order, source *httpapi.ListSource, at spreadsheet.XLSXState) (*xlsxFile, error) {
	t := newTable(in, source)
	out, err := spreadsheet.NewXLSX(spreadsheet.XLSXOptions{Sheet: in.Resource, Zone: zoneOf(in.Zone), Columns: t.header()}, at)
	return &xlsxFile{t, out, at.Total}, err
}

func (f *xlsxFile) size() int { return int(f.out.Total() - f.from) }

func (f *xlsxFile) add(page httpapi.ListPage) error { return f.rows(page, f.out.Row) }

func (f *xlsxFile) close(last bool, at *state) (_ []byte, err error) {
	if last {
		at.XLSX, err = f.out.End()
	} else {
		at.XLSX, err = f.out.Suspend()
	}
	return f.out.Bytes(), err
}
