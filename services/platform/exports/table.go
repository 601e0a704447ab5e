package exports

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
)

// currencyColumn has the currency of the amounts of a row; see docs/reference/jobs.md#csv.
const currencyColumn = "currency"

// Reversal is implemented by records that take back others, such as refunds. Their amounts are negative in tables, so that a sum
// of the column is right.
type Reversal interface{ Reverses() bool }

// table makes rows of records.
type table struct {
	columns  []column
	currency spreadsheet.Cell
	digits   uint8 // decimal places of amounts
	reverses bool  // some records are reversals
	row      []spreadsheet.Cell
}

// column is a column of a table; that of the currency has no field.
type column struct {
	httpapi.ItemField
	name string
}

func newTable(in order, source *httpapi.ListSource) *table {
	t := &table{
		columns: columnsOf(source, in.Columns), digits: uint8(money.Digits(in.Currency)),
		currency: spreadsheet.Cell{Kind: spreadsheet.Text, Text: in.Currency}, reverses: reflect.PointerTo(source.Item).Implements(reflect.TypeFor[Reversal]()),
	}
	t.row = make([]spreadsheet.Cell, len(t.columns))
	return t
}

// columnsOf returns the columns with these names, or all that the records of the list have.
func columnsOf(source *httpapi.ListSource, names []string) []column {
	var all []column
	for _, f := range source.Fields {
		all = append(all, column{f, f.Name})
	}
	if hasAmounts(all) {
		all = append(all, column{name: currencyColumn})
	}
	if len(names) == 0 {
		return all
	}
	chosen := make([]column, 0, len(names))
	for _, name := range names {
		if i := slices.IndexFunc(all, func(c column) bool { return c.name == name }); i >= 0 {
			chosen = append(chosen, all[i])
		}
	}
	return chosen
}

func hasAmounts(columns []column) bool {
	named := slices.ContainsFunc(columns, func(c column) bool { return c.name == currencyColumn })
	return !named && slices.ContainsFunc(columns, func(c column) bool { return c.kind() == reflect.TypeFor[money.Amount]() })
}

// kind is the type of the field, without its pointer; nil for the currency.
func (c column) kind() reflect.Type {
	if c.Type != nil && c.Type.Kind() == reflect.Pointer {
		return c.Type.Elem()
	}
	return c.Type
}

// header describes the columns.
func (t *table) header() []spreadsheet.Column {
	header := make([]spreadsheet.Column, len(t.columns))
	for i, c := range t.columns {
		header[i] = spreadsheet.Column{Name: c.name, Kind: kindOf(c.kind())}
		if c.kind() == reflect.TypeFor[money.Amount]() {
			header[i].Places = t.digits
		}
	}
	return header
}

func kindOf(field reflect.Type) spreadsheet.Kind {
	switch field {
	case nil, reflect.TypeFor[uuid.UUID]():
		return spreadsheet.Text
	case reflect.TypeFor[money.Amount](), reflect.TypeFor[money.Qty](), reflect.TypeFor[money.Percent]():
		return spreadsheet.Number
	case reflect.TypeFor[jsontype.Time]():
		return spreadsheet.Time
	case reflect.TypeFor[jsontype.Date]():
		return spreadsheet.Date
	}
	switch field.Kind() { //nolint:exhaustive // the others are none of these
	case reflect.Bool:
		return spreadsheet.Bool
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return spreadsheet.Number
	case reflect.Slice, reflect.Map, reflect.Struct:
		return spreadsheet.JSON
	}
	return spreadsheet.Text
}

// rows calls write with the row of each record. The row is used again for the next one.
func (t *table) rows(page httpapi.ListPage, write func([]spreadsheet.Cell) error) error {
	for i := range page.Len {
		if err := t.fill(page.Items.Item(i)); err != nil {
			return fmt.Errorf("write record of export: %w", err)
		}
		if err := write(t.row); err != nil {
			return fmt.Errorf("write record of export: %w", err)
		}
	}
	return nil
}

func (t *table) fill(item reflect.Value) error {
	reversal := false
	if t.reverses {
		r, ok := item.Addr().Interface().(Reversal)
		reversal = ok && r.Reverses()
	}
	for i := range t.columns {
		c := &t.row[i]
		*c = spreadsheet.Cell{}
		if t.columns[i].Type == nil {
			*c = t.currency
			continue
		}
		if v, sent := t.columns[i].Value(item); sent {
			if err := t.cell(c, v, reversal && !ofPiece(t.columns[i].name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofPiece reports whether a column of lines has the amount of one piece, which a refund does not reverse as well as the quantity.
func ofPiece(column string) bool { return strings.HasPrefix(column, httpapi.LinePrefix+"unit") }

// cell makes a value a cell: null is an empty one, objects and arrays are JSON as in the API.
func (t *table) cell(c *spreadsheet.Cell, v reflect.Value, reversal bool) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	// The types of most cells, which need not become JSON first.
	if v.Type() == reflect.TypeFor[string]() {
		c.Kind, c.Text = spreadsheet.Text, v.String()
		return nil
	}
	switch x := v.Addr().Interface().(type) {
	case *bool:
		c.Kind = spreadsheet.Bool
		if *x {
			c.Num = 1
		}
	case *int32:
		c.Kind, c.Num = spreadsheet.Number, int64(*x)
	case *int64:
		c.Kind, c.Num = spreadsheet.Number, *x
	case *uuid.UUID:
		c.Kind, c.Text = spreadsheet.Text, x.String()
	case *money.Amount:
		c.Kind, c.Num, c.Scale, c.Places = spreadsheet.Number, int64(*x), t.digits, t.digits
		if reversal {
			c.Num = -c.Num
		}
	case *money.Qty:
		c.Kind, c.Num, c.Scale = spreadsheet.Number, int64(*x), 3
		if reversal {
			c.Num = -c.Num
		}
	case *money.Percent:
		c.Kind, c.Num, c.Scale = spreadsheet.Number, int64(*x), 2
	case *jsontype.Time:
		c.Kind, c.Time = spreadsheet.Time, time.Time(*x)
	case *jsontype.Date:
		c.Kind, c.Time = spreadsheet.Date, time.Time(*x)
	default:
		return encoded(c, v)
	}
	return nil
}

// encoded makes a value of any type a cell by its JSON.
func encoded(c *spreadsheet.Cell, v reflect.Value) error {
	raw, err := json.Marshal(v.Addr().Interface())
	if err != nil {
		return err
	}
	switch raw[0] {
	case 'n': // null
	case '"':
		c.Kind = spreadsheet.Text
		return json.Unmarshal(raw, &c.Text)
	case 't', 'f':
		c.Kind = spreadsheet.Bool
		if raw[0] == 't' {
			c.Num = 1
		}
	case '[', '{':
		c.Kind, c.Text = spreadsheet.JSON, string(raw)
	default:
		c.Kind, c.Text = spreadsheet.Number, string(raw)
	}
	return nil
}

// chosen returns the columns that a request asks for, in its order: those in columns, or those in the filter fields, with the id
// and the currency that belong to them; nil for all.
func chosen(source *httpapi.ListSource, columns []string, fields string) ([]string, error) {
	all := columnsOf(source, nil)
	if columns != nil {
		return columns, checkColumns(all, columns)
	}
	if fields == "" {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(fields, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if !slices.Contains(names, "id") && slices.ContainsFunc(all, func(c column) bool { return c.name == "id" }) {
		names = append([]string{"id"}, names...)
	}
	if hasAmounts(columnsOf(source, names)) {
		names = append(names, currencyColumn)
	}
	return names, nil
}

func checkColumns(all []column, columns []string) error {
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.name
	}
	var faults apierr.Fields
	for i, name := range columns {
		path := fmt.Sprintf("columns[%d]", i)
		switch {
		case !slices.Contains(known, name):
			faults.Add(path, apierr.Enum, "must be one of %s", strings.Join(known, ", "))
		case slices.Contains(columns[:i], name):
			faults.Add(path, apierr.Conflict, "repeats the column %s; name each once", name)
		}
	}
	return faults.Err()
}

// zoneOf returns the time zone of a company; UTC if this system does not know it.
func zoneOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}
