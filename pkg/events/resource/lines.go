package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Lines is a table of rows that belong to one document, such as the lines of an order, and are read and written with it. Columns
// follow from the fields of L as those of a record do; slices and maps are stored as JSON text, a nil map as NULL. L has fields
// with the columns id and sort_order. The key of the table is company_id, the owner, id.
type Lines[L any] struct {
	name  db.Table
	owner string // column with the id of the document

	constraints map[string]error

	columns              []record.Column
	id                   record.Column
	selected             string // SELECT … FROM …
	sqlSelect, sqlSizes  string
	sqlSelectSmall       string // none if all of them together are larger than $3
	sqlInsert, sqlDelete db.Write
}

// LinesOf returns the table of the lines L, whose column owner has the id of their document. It lacks some columns of L, if any
// are given. It panics if L cannot be stored.
func LinesOf[L any](name db.Table, owner string, without ...string) *Lines[L] {
	t := &Lines[L]{name: name, owner: owner}
	names, types, params := []string{"company_id", owner}, []string{"UUID", "UUID"}, []string{}
	for _, c := range record.PlanOf[L]().Columns() {
		if slices.Contains(without, c.Name) {
			continue
		}
		t.columns = append(t.columns, c)
		names, types = append(names, c.Name), append(types, sqlType(c.Type))
		if c.Name == "id" {
			t.id = c
		}
	}
	if t.id.Name == "" || !slices.Contains(names, "sort_order") {
		panic(fmt.Sprintf("%s has no field for the column id or sort_order of %s", reflect.TypeFor[L](), name))
	}
	for i, typ := range types {
		params = append(params, "$"+strconv.Itoa(i+1)+"::"+typ+"[]")
	}
	list := strings.Join(names, ", ")
	t.selected = "SELECT " + strings.Join(names[1:], ", ") + " FROM " + string(name)
	order, owned := " ORDER BY "+owner+", sort_order", owner+" = ANY($2::UUID[])"
	size, from := t.sizeSQL(), " FROM "+string(name)+" WHERE company_id = $1 AND "+owned
	t.sqlSelect = t.Select(owned) + order
	t.sqlSelectSmall = t.Select(owned+" AND (SELECT "+size+from+") <= $3::INT8") + order
	t.sqlSizes = "SELECT " + owner + ", " + size + from + " GROUP BY " + owner
	t.sqlInsert = name.InsertRows("(" + list + ")\nSELECT " + "u." + strings.Join(names, ", u.") +
		"\nFROM unnest(" + strings.Join(params, ", ") + ")\nAS u(" + list + ")")
	t.sqlDelete = name.Delete("WHERE company_id = $1 AND " + owner + " = $2 AND id = ANY($3::UUID[])")
	return t
}

// OnConstraint maps violations of a constraint by new lines to an error for the client.
func (t *Lines[L]) OnConstraint(name string, err error) *Lines[L] {
	if t.constraints == nil {
		t.constraints = map[string]error{}
	}
	t.constraints[name] = err
	return t
}

// sqlType is the type of the column that holds values of a Go type. It panics if none can.
func sqlType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[jsontype.Date]():
		return "DATE"
	case t.Kind() == reflect.Struct && t.ConvertibleTo(reflect.TypeFor[time.Time]()):
		return "TIMESTAMPTZ"
	case t == reflect.TypeFor[money.Qty]():
		return "DECIMAL"
	case t.ConvertibleTo(reflect.TypeFor[uuid.UUID]()):
		return "UUID"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "BOOLEAN"
	case reflect.String, reflect.Slice, reflect.Map:
		return "TEXT"
	case reflect.Int32:
		return "INT4"
	case reflect.Int64:
		return "BIGINT"
	default:
		panic(fmt.Sprintf("no column can hold %s", t))
	}
}

// isJSON reports whether values of a type are stored as JSON text.
func isJSON(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Map }

// Select returns the SELECT of those lines of the company, $1, that meet a condition, in no order, for [Lines.Scan].
func (t *Lines[L]) Select(where string) string {
	return t.selected + " WHERE company_id = $1 AND " + where
}

// Listed are the lines of the documents on a page; see [list.Page.ReadChildren].
type Listed[L any] struct {
	table *Lines[L]
	lines map[uuid.UUID][]L
}

// Listed returns lines that are to be read for a page of documents.
func (t *Lines[L]) Listed() *Listed[L] { return &Listed[L]{t, map[uuid.UUID][]L{}} }

// QueueSizes implements [list.Children].
func (l *Listed[L]) QueueSizes(b *pgx.Batch, company tenant.ID, documents []uuid.UUID, each func(document uuid.UUID, bytes int)) {
	b.Queue(l.table.sqlSizes, company, documents).Query(func(rows pgx.Rows) error {
		var document uuid.UUID
		var bytes int
		_, err := pgx.ForEachRow(rows, []any{&document, &bytes}, func() error {
			each(document, bytes)
			return nil
		})
		return err
	})
}

// QueueRead implements [list.Children].
func (l *Listed[L]) QueueRead(b *pgx.Batch, company tenant.ID, documents []uuid.UUID, limit int) (read *int) {
	sql, args := l.table.sqlSelect, []any{company, documents}
	if limit > 0 {
		sql, args = l.table.sqlSelectSmall, append(args, limit)
	}
	read = new(int)
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		return l.table.Scan(rows, func(document uuid.UUID, line L) {
			l.lines[document] = append(l.lines[document], line)
			*read++
		})
	})
	return read
}

// Of returns the lines of a document that was on the page.
func (l *Listed[L]) Of(document uuid.UUID) []L {
	if lines := l.lines[document]; lines != nil {
		return lines
	}
	return []L{}
}

// numberBytes is about what a line takes as JSON besides its texts.
const numberBytes = list.ChildBytes

// sizeSQL is about how many bytes lines take as JSON. The length of a text is known without reading it.
func (t *Lines[L]) sizeSQL() string {
	bytes := strconv.Itoa(numberBytes)
	for _, c := range t.columns {
		if sqlType(c.Type) == "TEXT" {
			bytes += " + coalesce(octet_length(" + c.Name + "), 0)"
		}
	}
	return "sum(" + bytes + ")::INT8"
}

// Scan calls each with the rows of [Lines.Select].
func (t *Lines[L]) Scan(rows pgx.Rows, each func(owner uuid.UUID, l L)) error {
	defer rows.Close()
	var owner uuid.UUID
	// One line is scanned into for every row. It is zeroed in between, because decoders reuse what pointers and slices refer to.
	var line, zero L
	targets := []any{&owner}
	for _, c := range t.columns {
		target := c.Of(reflect.ValueOf(&line).Elem()).Addr().Interface()
		if isJSON(c.Type) {
			target = &jsonText{target}
		}
		targets = append(targets, target)
	}
	for rows.Next() {
		line = zero
		if err := rows.Scan(targets...); err != nil {
			return fmt.Errorf("read row of %s: %w", t.name, err)
		}
		each(owner, line)
	}
	return rows.Err()
}

// jsonText scans JSON text into what it points to.
type jsonText struct{ to any }

// ScanText lets pgx decode the value; NULL leaves a zero value.
func (j *jsonText) ScanText(v pgtype.Text) error {
	if !v.Valid {
		return nil
	}
	return json.Unmarshal([]byte(v.String), j.to)
}

// insert queues the INSERT of lines. Those of several documents travel in one statement; see [db.Tx.QueueRows].
func (t *Lines[L]) insert(tx *db.Tx, k *record.Key, lines []L) {
	n := len(lines)
	if n == 0 {
		return
	}
	args := append(make([]any, 0, len(t.columns)+2), slices.Repeat([]tenant.ID{k.CompanyID}, n), slices.Repeat([]uuid.UUID{k.ID}, n))
	all := reflect.ValueOf(lines)
	for _, c := range t.columns {
		args = append(args, columnOf(all, c))
	}
	q := tx.QueueRows(t.sqlInsert, args...).Expect(int64(n), nil)
	for name, err := range t.constraints {
		q.OnConstraint(name, err)
	}
}

// columnOf returns the values of a column of all lines, as a slice.
func columnOf(lines reflect.Value, c record.Column) any {
	n := lines.Len()
	if isJSON(c.Type) {
		texts := make([]*string, n)
		for i := range n {
			texts[i] = encode(c.Of(lines.Index(i)))
		}
		return texts
	}
	values := reflect.MakeSlice(reflect.SliceOf(c.Type), n, n)
	for i := range n {
		values.Index(i).Set(c.Of(lines.Index(i)))
	}
	return values.Interface()
}

var emptyList = "[]"

// encode returns the JSON text of a slice or map; nil for a nil map.
func encode(v reflect.Value) *string {
	if v.Kind() == reflect.Map && v.IsNil() {
		return nil
	}
	if v.Len() == 0 && v.Kind() == reflect.Slice {
		return &emptyList
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		panic(fmt.Sprintf("encode %s: %v", v.Type(), err)) // parts of lines are structs of numbers and texts
	}
	return new(string(raw))
}

// Part is a [Lines] of any type, which is given to [Of] with the table of the documents.
type Part interface {
	Described
	// bind finds the field of the document that has the lines.
	bind(document *record.Plan) (index []int, name string)
	// Of the following, lines point to that field.
	queue(b *pgx.Batch, company tenant.ID, document uuid.UUID, lines any)
	clone(lines any)
	create(tx *db.Tx, k *record.Key, lines any)
	same(before, lines any) bool
	replace(tx *db.Tx, k *record.Key, before, lines any)
}

func (t *Lines[L]) bind(document *record.Plan) (index []int, name string) {
	return document.FieldOf(reflect.TypeFor[[]L]())
}

func slot[L any](lines any) *[]L {
	return lines.(*[]L) //nolint:errcheck,forcetypeassert // bind found the field by this type
}

func (t *Lines[L]) queue(b *pgx.Batch, company tenant.ID, document uuid.UUID, lines any) {
	to := slot[L](lines)
	b.Queue(t.sqlSelect, company, []uuid.UUID{document}).Query(func(rows pgx.Rows) error {
		*to = []L{}
		return t.Scan(rows, func(_ uuid.UUID, l L) { *to = append(*to, l) })
	})
}

func (t *Lines[L]) clone(lines any) {
	at := slot[L](lines)
	*at = slices.Clone(*at)
}

func (t *Lines[L]) create(tx *db.Tx, k *record.Key, lines any) { t.insert(tx, k, *slot[L](lines)) }

func (t *Lines[L]) same(before, lines any) bool {
	return slices.EqualFunc(*slot[L](before), *slot[L](lines), t.sameLine)
}

func (t *Lines[L]) sameLine(a, b L) bool {
	x, y := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	return !slices.ContainsFunc(t.columns, func(c record.Column) bool { return !c.Same(x, y) })
}

// replace queues the writes of those lines that differ.
func (t *Lines[L]) replace(tx *db.Tx, k *record.Key, before, lines any) {
	stored := map[uuid.UUID]L{}
	for _, l := range *slot[L](before) {
		stored[t.idOf(l)] = l
	}
	var changed []L
	for _, l := range *slot[L](lines) {
		id := t.idOf(l)
		if old, ok := stored[id]; !ok || !t.sameLine(old, l) {
			changed = append(changed, l)
			continue
		}
		delete(stored, id)
	}
	if len(stored) > 0 {
		gone := make([]uuid.UUID, 0, len(stored))
		for id := range stored {
			gone = append(gone, id)
		}
		slices.SortFunc(gone, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		tx.Queue(t.sqlDelete, k.CompanyID, k.ID, gone).Expect(int64(len(gone)), db.ErrStale)
	}
	t.insert(tx, k, changed)
}

func (t *Lines[L]) idOf(l L) uuid.UUID {
	return t.id.Value(&l).(uuid.UUID) //nolint:errcheck,forcetypeassert // LinesOf checked it
}

// Name is the name of the table.
func (t *Lines[L]) Name() string { return string(t.name) }

// Statements returns all statements of the table.
func (t *Lines[L]) Statements() []string {
	return []string{t.sqlSelect, t.sqlSelectSmall, t.sqlSizes, t.sqlInsert.SQL(), t.sqlDelete.SQL()}
}

// Columns returns the columns of the lines, with the types that they are stored as.
func (t *Lines[L]) Columns() []record.Column {
	columns := []record.Column{{Name: "company_id", Type: reflect.TypeFor[uuid.UUID]()}, {Name: t.owner, Type: reflect.TypeFor[uuid.UUID]()}}
	for _, c := range t.columns {
		switch c.Type.Kind() {
		case reflect.Slice:
			c.Type = reflect.TypeFor[string]()
		case reflect.Map:
			c.Type = reflect.TypeFor[*string]()
		default:
		}
		columns = append(columns, c)
	}
	return columns
}

// RecordType is the type of the lines.
func (t *Lines[L]) RecordType() reflect.Type { return reflect.TypeFor[L]() }

// Errors returns nothing: lines have no external ids.
func (t *Lines[L]) Errors() []apierr.Doc { return nil }

// Parts returns nothing: lines have none.
func (t *Lines[L]) Parts() []Part { return nil }
