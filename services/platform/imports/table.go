package imports

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Keys of an import, as the parameter names them.
const (
	keyID       = "id"
	keySKU      = "sku"
	keyExternal = "externalId"
	keyNone     = "none" // each row creates a record
)

const (
	currencyColumn = "currency"
	unitColumn     = "unit"
)

// table makes items of the rows of one file.
type table struct {
	source     *httpapi.BatchSource
	list       *httpapi.ListSource
	numbers    numbers
	zone       *time.Location
	is1904     bool
	warehouses map[string]uuid.UUID // by name; only for stock
	reason     string               // of stock movements
	origin     string               // source of externalId, where no column has it
	header     []string             // as the file has it

	columns []column
	at      map[string]int // index of a column by name
	key     string
	ignored []string        // columns that the platform maintains
	unknown []UnknownColumn // columns that the records do not have
	seen    map[claim]int   // first row with it
	unkeyed int             // rows without a value in the columns of the key
	body    bytes.Buffer
}

// consumes reports whether a column is used without being a field.
func (t *table) consumes(name string) bool {
	if t.source.Resource == stocks {
		return slices.Contains(stockKeys, name)
	}
	return name == keyID || name == imagesColumn && t.source.Resource == products
}

// text is the cell of a row in a column, as text.
func (t *table) text(cells []spreadsheet.Value, column string) string {
	i, ok := t.at[column]
	switch {
	case !ok && column == "source" && t.text(cells, keyExternal) != "":
		return t.origin
	case !ok || i >= len(cells):
		return ""
	}
	return strings.TrimSpace(textOf(cells[i]))
}

// row makes the item of a row.
func (t *table) row(r spreadsheet.Row) planned {
	p := planned{Row: r.Number}
	faults := t.damages(r.Cells)
	isDamaged := len(faults) > 0
	if !isDamaged {
		t.find(r, &p.Item, &faults)
	}
	if own := t.text(r.Cells, currencyColumn); own != "" && own != t.numbers.currency {
		faults.Add(currencyColumn, apierr.Conflict, "must be %s, that of the company; convert the amounts", t.numbers.currency)
	}
	t.beyond(r.Cells, &faults)
	if t.consumes(imagesColumn) {
		p.Images = imagesOf(t.text(r.Cells, imagesColumn), &faults)
	}
	t.body.Reset()
	t.body.WriteByte('{')
	for i, c := range t.columns {
		cell := cellOf(r.Cells, i)
		if c.field == nil || t.names(p.Item, c.name) || isDamaged && damaged(c, cell) != nil {
			continue
		}
		raw, fault := t.value(c, cell)
		if fault != nil {
			fault.Field, fault.Message = c.name, c.name+": "+fault.Message
			faults = append(faults, *fault)
		} else if raw != nil {
			t.put(c.field.name, raw)
		}
	}
	if t.source.Resource == stocks {
		t.stock(r.Cells, &faults)
	} else if from := t.text(r.Cells, "source"); from != "" && !t.has("source") && t.key != keyExternal {
		raw, _ := quote(from) // a text of the request, which is UTF-8
		t.put("source", raw)
	}
	if t.source.Resource == clients && (p.Item.Op == "create" || p.Item.ExternalID != "" && t.origin != "") {
		p.New = t.client(r.Cells)
	}
	t.body.WriteByte('}')
	p.Item.Body, p.Faults, p.Cells = bytes.Clone(t.body.Bytes()), faults, t.texts(r.Cells)
	return p
}

const clients = "clients"

// client adds the name of a client to its body where the list has parts of the name alone, and returns the kind of one that is new:
// lists of shops have no column for either.
func (t *table) client(cells []spreadsheet.Value) map[string]any {
	companyName := t.text(cells, "companyName")
	if t.text(cells, "displayName") == "" {
		name := strings.TrimSpace(t.text(cells, "firstName") + " " + t.text(cells, "lastName"))
		if raw, wrong := quoted(cmp.Or(name, companyName)); wrong == nil && string(raw) != `""` {
			t.put("displayName", raw)
		}
	}
	switch {
	case t.text(cells, "kind") != "":
		return nil
	case companyName != "":
		return map[string]any{"kind": "legal"}
	default:
		return map[string]any{"kind": "individual"}
	}
}

// texts are the cells as one enters them again.
func (t *table) texts(cells []spreadsheet.Value) []string {
	all := make([]string, len(cells))
	for i, v := range cells {
		switch text := textOf(v); {
		case v.Kind == spreadsheet.Number && t.numbers.decimal == ",":
			all[i] = strings.Replace(text, ".", ",", 1)
		case v.Kind == spreadsheet.Time:
			all[i] = t.dayText(text)
		default:
			all[i] = text
		}
	}
	return all
}

// dayText is a date of a workbook, with its time if it has one.
func (t *table) dayText(serial string) string {
	day, ok := spreadsheet.Day(serial, t.is1904)
	part, err := strconv.ParseFloat(serial, 64)
	switch {
	case !ok || err != nil:
		return serial
	case part == math.Trunc(part):
		return day.Format(time.DateOnly)
	}
	ofDay := time.Duration((part - math.Trunc(part)) * float64(24*time.Hour)).Round(time.Second)
	return day.Add(ofDay).Format(time.DateTime)
}

func cellOf(cells []spreadsheet.Value, i int) (cell spreadsheet.Value) {
	if i < len(cells) {
		cell = cells[i]
	}
	return cell
}

// damages are the faults of cells that are used, and have not what was entered.
func (t *table) damages(cells []spreadsheet.Value) (faults apierr.Fields) {
	for i, c := range t.columns {
		if c.field == nil && !t.consumes(c.name) {
			continue
		}
		if wrong := damaged(c, cellOf(cells, i)); wrong != nil {
			wrong.Field, wrong.Message = c.name, c.name+": "+wrong.Message
			faults = append(faults, *wrong)
		}
	}
	return faults
}

// find names the record of a row in its item, which no other row may have.
func (t *table) find(r spreadsheet.Row, item *httpapi.BatchItem, faults *apierr.Fields) {
	own := t.identify(r.Cells, item, faults)
	if item.Op == "create" && t.source.Resource != stocks {
		t.unkeyed++
	}
	if first := t.claim(t.key, own, r.Number); first != r.Number {
		faults.Add(t.key, apierr.Conflict, "is that of row %d, too; leave one of the rows out", first)
		return
	}
	t.claimAll(r, faults)
}

// beyond adds a fault for the first cell that is in no column of the header. Often a separator in the cells before it was meant as text.
func (t *table) beyond(cells []spreadsheet.Value, faults *apierr.Fields) {
	for i, cell := range cells {
		if (i >= len(t.columns) || t.columns[i].name == "" && !t.columns[i].out) && strings.TrimSpace(cell.Text) != "" {
			faults.Add(fmt.Sprint("column ", i+1), apierr.Unknown, "has a value, but no name in the first row; name it, or put a cell with a separator before it into quotation marks")
			return
		}
	}
}

// claim is a value that one record has alone, by its hash: values may be long.
type claim struct {
	column string
	sum    [sha256.Size]byte
}

// claim returns the first row that has the value: this one, or an earlier one. Any number of rows may have none.
func (t *table) claim(column, value string, row int) (first int) {
	if value == "" {
		return row
	}
	c := claim{column, sha256.Sum256([]byte(value))}
	if before, twice := t.seen[c]; twice {
		return before
	}
	t.seen[c] = row
	return row
}

// claimAll adds a fault for each value besides the key that an earlier row has, too, and no two records may have. A dry run does not
// find what earlier rows would have stored, so it could not tell otherwise.
func (t *table) claimAll(r spreadsheet.Row, faults *apierr.Fields) {
	if t.source.Resource == stocks {
		return
	}
	type value struct{ column, value string }
	own := []value{{keySKU, list.Key(t.text(r.Cells, keySKU))}}
	if t.text(r.Cells, "status") != "hidden" {
		own = append(own, value{"barcode", list.Key(t.text(r.Cells, "barcode"))})
	}
	if source, id := t.text(r.Cells, "source"), t.text(r.Cells, keyExternal); source != "" && id != "" {
		own = append(own, value{keyExternal, source + "\x00" + id})
	}
	for _, c := range own {
		if i, ok := t.at[c.column]; c.column == t.key || !ok || t.columns[i].field == nil {
			continue
		}
		if first := t.claim(c.column, c.value, r.Number); first != r.Number {
			faults.Add(c.column, apierr.Conflict, "is that of row %d, too; change it in one of the rows", first)
		}
	}
}

// put adds a field to the body of the row.
func (t *table) put(name string, raw []byte) {
	if t.body.Len() > 1 {
		t.body.WriteByte(',')
	}
	fmt.Fprintf(&t.body, "%q:", name)
	t.body.Write(raw)
}

// names reports whether an item names its record by a column, so that it is no part of the body.
func (t *table) names(item httpapi.BatchItem, column string) bool {
	switch column {
	case "sku":
		return item.SKU != ""
	case "source", "externalId":
		return item.ExternalID != ""
	}
	return false
}

// identify names the record of a row in its item. It returns what no other row may have.
func (t *table) identify(cells []spreadsheet.Value, item *httpapi.BatchItem, faults *apierr.Fields) string {
	if t.source.Resource == stocks {
		item.Op = "create" // an adjustment
		return t.stockOf(cells)
	}
	item.Op = "upsert"
	switch t.key {
	case keyNone:
		item.Op = "create"
		return ""
	case keyID:
		text := t.text(cells, "id")
		id, err := uuid.Parse(text)
		switch {
		case text == "":
			item.Op = "create"
		case err != nil:
			faults.Add("id", apierr.Format, "must be a UUID, or empty for a new record")
		default:
			item.Op, item.ID = "update", &id
		}
		return strings.ToLower(text)
	case keySKU:
		item.SKU = t.text(cells, "sku")
		if item.SKU == "" {
			item.Op = "create"
		}
		return list.Key(item.SKU)
	}
	item.Source, item.ExternalID = t.text(cells, "source"), t.text(cells, "externalId")
	if item.ExternalID == "" {
		item.Op, item.Source = "create", ""
		return ""
	}
	return item.Source + "\x00" + item.ExternalID
}

// summary is that of the job before its first row.
func (t *table) summary(in *Input) summary {
	s := summary{Resource: in.Resource, DryRun: in.DryRun, Key: t.key, Header: t.header, Fields: make([]string, len(t.columns)), Columns: []string{}, IgnoredColumns: []string{}, UnknownColumns: []UnknownColumn{}}
	for i, c := range t.columns {
		if c.field != nil || c.name != "" && t.consumes(c.name) {
			s.Columns, s.Fields[i] = append(s.Columns, c.name), c.name
		}
	}
	s.IgnoredColumns = append(s.IgnoredColumns, t.ignored...)
	s.UnknownColumns = append(s.UnknownColumns, t.unknown[:min(len(t.unknown), maxUnknown)]...)
	return s
}

// maxUnknown is how many unknown columns a summary names.
const maxUnknown = 20

// field is a field of the body of an item.
type field struct {
	name     string
	kind     reflect.Type // without its pointer
	nullable bool         // an empty cell is null; otherwise it leaves the field out
}

// fieldsOf lists the fields of a body by name.
func fieldsOf(body reflect.Type) map[string]*field {
	all := map[string]*field{}
	for _, f := range reflect.VisibleFields(body) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		of := &field{name: name, kind: f.Type, nullable: f.Tag.Get("null") != ""}
		if f.Type.Kind() == reflect.Pointer {
			of.kind, of.nullable = f.Type.Elem(), true
		}
		all[name] = of
	}
	return all
}

func zoneOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}
