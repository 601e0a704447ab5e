package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// Preview is how a file will be understood.
type Preview struct {
	Resource         string          `json:"resource"`
	Charset          string          `json:"charset" doc:"that the file was read in; empty for UTF-8 and for XLSX"`
	Key              string          `json:"key" enum:"id,sku,externalId,none" doc:"columns by which rows find their records"`
	DecimalSeparator string          `json:"decimalSeparator" doc:"that of the request, or that of all numbers of the first rows; empty if they do not tell"`
	Rows             int             `json:"rows" doc:"of records, all that the file has"`
	Columns          []PreviewColumn `json:"columns" doc:"of the file, in their order"`
	Fields           []string        `json:"fields" doc:"names that columns may have"`
	First            []PreviewRow    `json:"first" doc:"the first rows"`
	Errors           []apierr.Field  `json:"errors" doc:"why the file cannot be imported like this; empty if it can"`
}

// PreviewColumn is a column of the file.
type PreviewColumn struct {
	Name  string `json:"name" doc:"in the first row of the file"`
	Field string `json:"field" doc:"that it is imported as; empty if it is not"`
	Kind  string `json:"kind" enum:"text,amount,number,boolean,date,time,json" doc:"of the values of the field"`
}

// PreviewRow is a row of the file.
type PreviewRow struct {
	Row   int           `json:"row" doc:"in the file; the first row is 1"`
	Cells []PreviewCell `json:"cells" doc:"one for each column"`
}

// PreviewCell is a cell, and what is made of it.
type PreviewCell struct {
	Text  string `json:"text" doc:"in the file"`
	Value string `json:"value" doc:"as the API has it, such as 1250 for 12,50 in a currency with two decimal places; empty if nothing is stored"`
	Error string `json:"error" doc:"why it cannot be read; empty if it can"`
}

const (
	firstRows   = 5
	sampledRows = 1000 // whose numbers tell the separator of decimal places
)

// preview reads the file as an import does, and stores nothing.
func (s *Service) preview(ctx context.Context, in *previewInput) (Preview, error) {
	source := s.api.Batches()[in.Resource]
	if source == nil {
		return Preview{}, fmt.Errorf("import: no batch of %s", in.Resource)
	}
	if err := source.Admits(in.Caller); err != nil {
		return Preview{}, err
	}
	whole := Input{Call: in.Call, Choices: in.Choices}
	warehouses, err := s.warehouses(ctx, &whole)
	if err != nil {
		return Preview{}, err
	}
	done, err := s.wait(ctx, in.Company)
	if err != nil {
		return Preview{}, err
	}
	defer done()
	p, err := s.look(ctx, &whole, warehouses)
	return p, readable(err)
}

// sheet is a file whose first rows are in memory.
type sheet struct {
	header spreadsheet.Row
	first  []spreadsheet.Row
	rows   int
	is1904 bool
}

// look reads all rows: a file that ends badly is better refused before anybody has looked at its columns.
func (s *Service) look(ctx context.Context, in *Input, warehouses map[string]uuid.UUID) (Preview, error) {
	charset := in.Charset()
	rows, err := open(ctx, in.Upload(), charset)
	if file := (*spreadsheet.FileError)(nil); errors.As(err, &file) && charset == "" && in.Upload().Media == mediaCSV {
		guess, failed := guessedCharset(in)
		if failed != nil {
			return Preview{}, failed
		}
		if guess != "" {
			charset = guess
			rows, err = open(ctx, in.Upload(), charset)
		}
	}
	if err != nil {
		return Preview{}, err
	}
	of, err := first(ctx, rows)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Resource: in.Resource, Charset: charset, Rows: of.rows, Columns: []PreviewColumn{}, First: []PreviewRow{}, Errors: []apierr.Field{}}
	t := s.tableOf(in, warehouses, of.is1904)
	t.describe(in, of, &p)
	return p, nil
}

// guessedCharset is the encoding of a file that is not UTF-8.
func guessedCharset(in *Input) (string, error) {
	raw, err := io.ReadAll(in.Upload().Reader())
	if err != nil {
		return "", fmt.Errorf("read upload: %w", err)
	}
	return charsetOf(raw), nil
}

func first(ctx context.Context, rows spreadsheet.Rows) (of sheet, err error) {
	if of.header, err = headerOf(rows); err != nil {
		return of, err
	}
	of.header.Cells = slices.Clone(of.header.Cells)
	of.is1904 = spreadsheet.Is1904(rows)
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return of, err
		}
		if of.rows++; of.rows <= sampledRows {
			of.first = append(of.first, spreadsheet.Row{Number: row.Number, Cells: slices.Clone(row.Cells)})
		}
	}
	if of.rows == 0 {
		return of, errNoRows
	}
	return of, nil
}

// describe fills in the columns, what is wrong with them, and the first rows.
func (t *table) describe(in *Input, of sheet, p *Preview) {
	fields := fieldsOf(t.source.Input)
	known := t.known(fields, t.own())
	p.Fields = t.choices(fields)
	if in.Columns == "" {
		in.Columns = strings.Join(t.guess(of.header.Cells, fields, known), ",")
	}
	for i, name := range strings.Split(in.Columns, ",") {
		if i < len(of.header.Cells) {
			c := PreviewColumn{Name: strings.TrimSpace(of.header.Cells[i].Text), Kind: "text"}
			if c.Field = cmp.Or(known[plainName(name)], name); !slices.Contains(p.Fields, c.Field) {
				c.Field = ""
			}
			if f := fields[t.fieldName(c.Field)]; f != nil {
				c.Kind = kindOf(f.kind)
			}
			p.Columns = append(p.Columns, c)
		}
	}
	if p.DecimalSeparator = in.DecimalSeparator; p.DecimalSeparator == "" {
		p.DecimalSeparator = separatorOf(p.Columns, of.first)
	}
	t.numbers.decimal = p.DecimalSeparator
	err := t.plan(of.header.Cells, in.Columns, in.Key)
	if in.Key == "" && t.key == "" && t.source.Resource != stocks {
		err = t.plan(of.header.Cells, in.Columns, keyNone)
	}
	p.Errors, p.Key = append(p.Errors, faultsOf(err)...), t.key
	for _, row := range of.first[:min(firstRows, len(of.first))] {
		p.First = append(p.First, t.shown(row, p.Columns, len(p.Errors) == 0))
	}
}

func faultsOf(err error) []apierr.Field {
	known, ok := apierr.As(err)
	if !ok {
		return nil
	}
	return known.Fields
}

// choices are the names that columns may have, which are imported.
func (t *table) choices(fields map[string]*field) (all []string) {
	for _, name := range t.known(fields, t.own()) {
		if (fields[t.fieldName(name)] != nil || t.consumes(name)) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// separatorOf is the separator of decimal places that the numbers of the first rows have.
func separatorOf(columns []PreviewColumn, rows []spreadsheet.Row) string {
	var v votes
	for _, row := range rows {
		for i, cell := range row.Cells {
			if i < len(columns) && (columns[i].Kind == "amount" || columns[i].Kind == "number") {
				v.count(cell)
			}
		}
	}
	return v.separator()
}

// shown is a row with what is made of it, if the columns allow that.
func (t *table) shown(r spreadsheet.Row, columns []PreviewColumn, isPlanned bool) PreviewRow {
	row := PreviewRow{Row: r.Number, Cells: make([]PreviewCell, len(columns))}
	var body map[string]json.RawMessage
	var faults []apierr.Field
	var item planned
	if isPlanned {
		item = t.row(r)
		faults = item.Faults
		_ = json.Unmarshal(item.Item.Body, &body) // it was made of values that are JSON
	}
	for i, c := range columns {
		cell := PreviewCell{Text: textOf(cellOf(r.Cells, i))}
		if raw, ok := body[t.fieldName(c.Field)]; ok && string(raw) != "null" {
			cell.Value = unquoted(raw)
		} else if isPlanned && (t.names(item.Item, c.Field) || c.Field != "" && t.consumes(c.Field)) {
			cell.Value = strings.TrimSpace(cell.Text)
		}
		for _, f := range faults {
			if f.Field == c.Field && c.Field != "" {
				cell.Error = strings.TrimPrefix(f.Message, f.Field+": ")
			}
		}
		row.Cells[i] = cell
	}
	return row
}

// unquoted is a text, or the JSON of another value.
func unquoted(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// kindOf is the kind of the values of a field.
func kindOf(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[money.Amount]():
		return "amount"
	case reflect.TypeFor[money.Qty](), reflect.TypeFor[money.Percent]():
		return "number"
	case reflect.TypeFor[jsontype.Date]():
		return "date"
	case reflect.TypeFor[jsontype.Time]():
		return "time"
	case reflect.TypeFor[uuid.UUID]():
		return "text"
	}
	switch of.Kind() { //nolint:exhaustive // the others are objects and arrays
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return "number"
	}
	return "json"
}
