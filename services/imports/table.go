package imports

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/suggest"
)

// Keys of an import, as the parameter names them.
const (
	keyID       = "id"
	keySKU      = "sku"
	keyExternal = "externalId"
)

const currencyColumn = "currency"

// table makes items of the rows of one file.
type table struct {
	source     *httpapi.BatchSource
	list       *httpapi.ListSource
	numbers    numbers
	zone       *time.Location
	is1904     bool
	warehouses map[string]uuid.UUID // by name; only for stock
	reason     string               // of stock movements

	columns []column
	at      map[string]int // index of a column by name
	key     string
	ignored []string        // columns that the platform maintains
	unknown []UnknownColumn // columns that the records do not have
	seen    map[claim]int   // first row with it
	body    bytes.Buffer
}

// column is a column of the file.
type column struct {
	name  string         // as the records have it
	field *field         // nil = it is not stored
	zone  *time.Location // of its times
}

// UnknownColumn is a column that records do not have.
type UnknownColumn struct {
	Column     string `json:"column"`
	DidYouMean string `json:"didYouMean,omitempty"`
}

// withZone is a header that names the zone of its times, as exports write it.
var withZone = regexp.MustCompile(`^(\w+) \(([\w/+-]+)\)$`)

// plan matches the header of the file with the fields of the records.
func (t *table) plan(header []spreadsheet.Value, key string) error {
	t.at, t.seen = map[string]int{}, map[claim]int{}
	fields := fieldsOf(t.source.Input)
	own := []string{currencyColumn}
	for _, f := range t.list.Fields {
		own = append(own, f.Name)
	}
	t.columns = make([]column, len(header))
	var faults apierr.Fields
	for i, cell := range header {
		c := column{name: strings.TrimSpace(cell.Text), zone: t.zone}
		if m := withZone.FindStringSubmatch(c.name); m != nil {
			c.name, c.zone = m[1], zoneOf(m[2])
		}
		if c.name == "" {
			continue
		}
		if _, twice := t.at[c.name]; twice {
			faults.Add("body", apierr.Conflict, "has the column %s twice; leave one out", c.name)
		}
		c.field = fields[t.fieldName(c.name)]
		t.at[c.name], t.columns[i] = i, c
		switch {
		case c.field != nil || t.consumes(c.name):
		case slices.Contains(own, c.name):
			t.ignored = append(t.ignored, c.name)
		default:
			t.unknown = append(t.unknown, UnknownColumn{c.name, suggest.Nearest(c.name, append(namesOf(fields), own...))})
		}
	}
	t.chooseKey(key, &faults)
	if !slices.ContainsFunc(t.columns, func(c column) bool { return c.field != nil }) {
		faults.Add("body", apierr.Required, "has no column that is a field of %s; the first row must name fields, such as %s", t.source.Resource, namesOf(fields)[0])
	}
	return faults.Err()
}

func namesOf(fields map[string]*field) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (t *table) has(name string) bool { _, ok := t.at[name]; return ok }

// chooseKey decides by which columns records are found.
func (t *table) chooseKey(key string, faults *apierr.Fields) {
	var can []string
	var columns [][]string
	add := func(ok bool, name string, needs ...string) {
		if ok {
			can, columns = append(can, name), append(columns, needs)
		}
	}
	if t.source.Resource == stocks {
		add(true, keyID, "productId")
		add(true, keySKU, t.skuColumn())
	} else {
		add(true, keyID, "id")
		add(t.source.BySKU, keySKU, "sku")
		add(t.source.External, keyExternal, "source", "externalId")
	}
	complete := func(needs []string) bool {
		return !slices.ContainsFunc(needs, func(name string) bool { return !t.has(name) })
	}
	if key == "" {
		if i := slices.IndexFunc(columns, complete); i >= 0 {
			t.key = can[i]
			return
		}
		faults.Add("key", apierr.Required, "cannot be found: the file has none of the columns %s", strings.Join(slices.Concat(columns...), ", "))
		return
	}
	i := slices.Index(can, key)
	switch {
	case i < 0:
		faults.Add("key", apierr.Enum, "must be one of %s for %s", strings.Join(can, ", "), t.source.Resource)
	case !complete(columns[i]):
		faults.Add("key", apierr.Required, "needs the columns %s in the file", strings.Join(columns[i], ", "))
	}
	t.key = key
}

// consumes reports whether a column is used without being a field.
func (t *table) consumes(name string) bool {
	if t.source.Resource == stocks {
		return slices.Contains(stockKeys, name)
	}
	return name == keyID
}

// text is the cell of a row in a column, as text.
func (t *table) text(cells []spreadsheet.Value, column string) string {
	i, ok := t.at[column]
	if !ok || i >= len(cells) {
		return ""
	}
	return strings.TrimSpace(textOf(cells[i]))
}

// row makes the item of a row.
func (t *table) row(r spreadsheet.Row) planned {
	p := planned{Row: r.Number}
	var faults apierr.Fields
	if first := t.claim(t.key, t.identify(r.Cells, &p.Item, &faults), r.Number); first != r.Number {
		faults.Add(t.key, apierr.Conflict, "is that of row %d, too; leave one of the rows out", first)
	} else {
		t.claimAll(r, &faults)
	}
	if own := t.text(r.Cells, currencyColumn); own != "" && own != t.numbers.currency {
		faults.Add(currencyColumn, apierr.Conflict, "must be %s, that of the company; convert the amounts", t.numbers.currency)
	}
	t.beyond(r.Cells, &faults)
	t.body.Reset()
	t.body.WriteByte('{')
	for i, c := range t.columns {
		if c.field == nil || t.names(p.Item, c.name) {
			continue
		}
		var cell spreadsheet.Value
		if i < len(r.Cells) {
			cell = r.Cells[i]
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
	}
	t.body.WriteByte('}')
	p.Item.Body, p.Faults = bytes.Clone(t.body.Bytes()), faults
	return p
}

// beyond adds a fault for the first cell that is in no column of the header. Often a separator in the cells before it was meant as text.
func (t *table) beyond(cells []spreadsheet.Value, faults *apierr.Fields) {
	for i, cell := range cells {
		if (i >= len(t.columns) || t.columns[i].name == "") && strings.TrimSpace(cell.Text) != "" {
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
	own := []value{{keySKU, strings.ToLower(t.text(r.Cells, keySKU))}}
	if t.text(r.Cells, "status") != "hidden" {
		own = append(own, value{"barcode", t.text(r.Cells, "barcode")})
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
		return strings.ToLower(item.SKU)
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
	s := summary{Resource: in.Resource, DryRun: in.DryRun, Key: t.key, Columns: []string{}, IgnoredColumns: []string{}, UnknownColumns: []UnknownColumn{}}
	for _, c := range t.columns {
		if c.field != nil || c.name != "" && t.consumes(c.name) {
			s.Columns = append(s.Columns, c.name)
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
