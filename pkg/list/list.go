// Package list translates the query parameters shared by all lists into SQL, and rows into a page: pages and cursors,
// stable sorting, incremental reads, and selection of ids and fields.
// A resource adds a [Spec] with its sorts, and its own conditions.
package list

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Params are the query parameters of every list; embed it in the input of the operation.
// The resource adds a field Sort, with an enum of its sorts, and its filters.
type Params struct {
	Page         int            `query:"page" minimum:"1" maximum:"2147483647" doc:"page number, from 1; cannot be combined with cursor"`
	PageSize     int            `query:"pageSize" minimum:"1" maximum:"200" default:"50"`
	Search       string         `query:"search" minLength:"1" maxLength:"200" doc:"case-insensitive text search"`
	Order        string         `query:"order" enum:"asc,desc" doc:"default asc if sort is set, otherwise desc"`
	Cursor       string         `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page; total is returned only with withTotal=true"`
	WithTotal    bool           `query:"withTotal" doc:"return total when reading by cursor, too"`
	UpdatedSince *jsontype.Time `query:"updatedSince" doc:"only records changed at or after this time, oldest change first; X-Sync-Watermark returns the value for the next request"`
	IDs          []uuid.UUID    `query:"ids" format:"uuid" maxItems:"100" doc:"comma-separated ids"`
	Fields       []string       `query:"fields" maxItems:"100" doc:"comma-separated top-level fields to return; id is always returned"`

	node  *Node // of the process that serves the list; nil = none
	fresh bool  // nothing that the node remembers is used

	callingCode string // of the company, by which a search reads phone numbers; "" = they need a country code

	reserve func(ctx context.Context, bytes int) error // reserves the memory of a page; nil = not bounded
}

// PageLimit is the size of a page of those lists that are read by cursor only.
type PageLimit struct {
	Limit    int `query:"limit" minimum:"1" maximum:"200" default:"50"`
	PageSize int `query:"pageSize" minimum:"1" maximum:"200" doc:"the same as limit, under the name that it has in other lists"`
}

// Records is the number of records on a page.
func (l PageLimit) Records() int { return cmp.Or(l.PageSize, l.Limit) }

// On has the node serve the list. With fresh, nothing that it remembers is used: total is counted anew.
func (p *Params) On(n *Node, fresh bool) { p.node, p.fresh = n, fresh }

// ReadPhonesOf has a search read phone numbers as in the country of a calling code, such as +49.
func (p *Params) ReadPhonesOf(callingCode string) { p.callingCode = callingCode }

// ReserveBy has the page reserve its memory before what is listed with its records is read.
func (p *Params) ReserveBy(reserve func(ctx context.Context, bytes int) error) { p.reserve = reserve }

// Read sets the number of records on the page for readers within the process, beyond the limit for requests.
func (p *Params) Read(size int) { p.PageSize = size }

// Sort is a sort order of a list. The column may be an expression.
type Sort struct {
	Column   string
	Type     string // SQL type of the column, to cast cursor values: TEXT, BIGINT, TIMESTAMPTZ, DECIMAL
	Nullable bool   // nulls sort last in both directions
}

// Spec describes the query of a list. In a query with joins, all columns are qualified, including ID and Company.
type Spec struct {
	From    string     // table, with joins if any
	Reads   []db.Table // that From and Count name; default From
	Count   string     // what total is counted from, if that takes less, such as the same with LEFT JOINs that need not be made; default From
	Columns string     // of the SELECT
	Company string     // default company_id
	ID      string     // default id
	Updated string     // default updated_at
	Sorts   map[string]Sort
	Default string // sort used, descending, when the client names none; default createdAt

	Platform bool // a list over all companies: no condition on the company

	// The records are never deleted, each change of a column that a condition may name sets Updated, and From is a table.
	// Large totals are corrected by what has changed then, not counted again; see docs/architecture.md#lists.
	Permanent bool
}

// Page is the envelope of a list; see docs/reference/conventions.md#lists.
type Page[T any] struct {
	Items      []T     `json:"items"`
	Total      *int64  `json:"total,omitempty" doc:"number of matching records; absent when reading by cursor without withTotal"`
	Page       *int    `json:"page,omitempty" doc:"absent when reading by cursor"`
	PageSize   int     `json:"pageSize"`
	NextCursor *string `json:"nextCursor" nullable:"true" doc:"cursor of the next page; null on the last page"`
	HasMore    bool    `json:"hasMore" doc:"more records follow; a page that would be too large has fewer than pageSize, and nextCursor reads the rest"`

	fields    []string
	query     *Query
	ends      []lastRow // of the items
	Watermark string    `json:"-"` // value of X-Sync-Watermark if updatedSince is set
}

// Query collects the conditions of one list request.
type Query struct {
	spec    Spec
	company tenant.ID
	params  Params
	sort    string
	desc    bool
	where   []string
	args    []any
	now     time.Time
	reads   []db.Table
	foreign bool // a condition reads a table
	found   []found

	few      int    // at most that many records, after a page that was too large; 0 = pageSize
	seekFrom *place // the page lies behind it
	skip     int64  // records between seekFrom, or the start, and the page
	counted  *int64 // along with the page
}

// found is a condition of [Query.WhereFound].
type found struct {
	where    int // index of the condition
	from, to int // its arguments
	asked    any
}

// New returns the query of a company's list. sort is the resource's sort parameter.
func New(spec Spec, company tenant.ID, p Params, sort string) (*Query, error) {
	spec.Company, spec.ID = cmp.Or(spec.Company, "company_id"), cmp.Or(spec.ID, "id")
	spec.Updated, spec.Default = cmp.Or(spec.Updated, "updated_at"), cmp.Or(spec.Default, "createdAt")
	if spec.Reads == nil {
		spec.Reads = []db.Table{db.Table(spec.From)}
	}
	q := &Query{spec: spec, company: company, params: p, sort: cmp.Or(sort, spec.Default), now: time.Now(), reads: slices.Clip(spec.Reads)}
	q.skip = int64(max(p.Page, 1)-1) * int64(p.PageSize)
	q.desc = p.Order == "desc" || (p.Order == "" && sort == "")
	if spec.Platform {
		q.Where("TRUE")
	} else {
		q.Where(spec.Company+" = ?", company)
	}
	if len(p.IDs) > 0 {
		q.Where(spec.ID+" = ANY(?::UUID[])", p.IDs)
	}
	if p.UpdatedSince != nil {
		q.sort, q.desc = "updatedAt", false
		q.spec.Sorts = map[string]Sort{"updatedAt": {Column: spec.Updated, Type: "TIMESTAMPTZ"}}
		q.Where(spec.Updated+" >= ?", p.UpdatedSince.Std())
	}
	var faults apierr.Fields
	if p.Cursor != "" && p.Page != 0 {
		faults.Add("cursor", apierr.Conflict, "cannot be combined with page; send one of them")
	}
	return q, faults.Err()
}

// WhereFound adds a condition with arguments that the client did not send, such as the time, or all ids below one. A cursor
// is valid as long as the client asks for the same, even if the arguments differ by then.
func (q *Query) WhereFound(asked any, condition string, args ...any) {
	from := len(q.args)
	q.Where(condition, args...)
	q.found = append(q.found, found{len(q.where) - 1, from, len(q.args), asked})
}

// Reading declares the tables that a condition reads, besides the record of the list that it is about. It returns q.
func (q *Query) Reading(tables ...db.Table) *Query {
	q.reads, q.foreign = append(q.reads, tables...), true
	return q
}

// Where adds a condition; each ? is replaced by the placeholder of the next argument.
func (q *Query) Where(condition string, args ...any) {
	condition, args = single(condition, args)
	var b strings.Builder
	first, rest, _ := strings.Cut(condition, "?")
	b.WriteString(first)
	for _, arg := range args {
		q.args = append(q.args, arg)
		b.WriteString("$" + strconv.Itoa(len(q.args)))
		first, rest, _ = strings.Cut(rest, "?")
		b.WriteString(first)
	}
	q.where = append(q.where, b.String())
}

// single turns an any-of condition with one value into an equation, whose rows an index returns in its order.
func single(condition string, args []any) (string, []any) {
	before, kind, ok := strings.Cut(condition, " = ANY(?::")
	kind, ends := strings.CutSuffix(kind, "[])")
	if !ok || !ends || len(args) != 1 || strings.ContainsAny(before+kind, "?() ") {
		return condition, args
	}
	all := reflect.ValueOf(args[0])
	if all.Kind() != reflect.Slice || all.Len() != 1 {
		return condition, args
	}
	return before + " = ?::" + kind, []any{all.Index(0).Interface()}
}

// Search adds the text search in column if the client sent search.
func (q *Query) Search(column string) {
	q.SearchBy(column+" LIKE ?", func(pattern string) []any { return []any{pattern} })
}

// SearchBy adds the text search by a condition if the client sent search. args returns the arguments of the condition for a
// pattern of LIKE.
func (q *Query) SearchBy(condition string, args func(pattern string) []any) {
	if q.params.Search == "" {
		return
	}
	var either []string
	var all []any
	for _, pattern := range likePatterns(q.params.Search, q.params.callingCode) {
		either, all = append(either, condition), append(all, args(pattern)...)
	}
	if len(either) == 1 {
		q.Where(condition, all...)
		return
	}
	q.Where("("+strings.Join(either, " OR ")+")", all...)
}

// In adds an any-of filter if values is not empty.
func (q *Query) In(column string, values []string) {
	if len(values) > 0 {
		q.Where(column+" = ANY(?::TEXT[])", values)
	}
}

// Equal adds a filter by id unless id is nil.
func (q *Query) Equal(column string, id *uuid.UUID) {
	if id != nil {
		q.Where(column+" = ?", *id)
	}
}

// Between adds a filter by an inclusive interval. It returns a fault if from is after to.
func (q *Query) Between(column, fromName string, from *From, toName string, to *To) error {
	if from != nil && to != nil && time.Time(*from).After(time.Time(*to)) {
		return apierr.InvalidField(fromName, apierr.Conflict, "must not be after %s", toName)
	}
	if from != nil {
		q.Where(column+" >= ?", time.Time(*from))
	}
	if to != nil {
		q.Where(column+" <= ?", time.Time(*to))
	}
	return nil
}

// Fetch reads the page and, if requested, the count in one round trip.
// targets returns the scan destinations of Spec.Columns in a record.
func Fetch[T any](ctx context.Context, d db.Querier, q *Query, targets func(*T) []any) (*Page[T], error) {
	return fetch(ctx, d, q, func(rows pgx.Rows, end ...any) (item T, err error) {
		err = rows.Scan(append(targets(&item), end...)...)
		return item, err
	})
}

// fetch reads each item with read, which also scans the two cursor columns that follow its own.
func fetch[T any](ctx context.Context, d db.Querier, q *Query, read func(rows pgx.Rows, end ...any) (T, error)) (*Page[T], error) {
	if err := checkFields[T](q.params.Fields); err != nil {
		return nil, err
	}
	s, err := q.begin()
	if err != nil {
		return nil, err
	}
	page := &Page[T]{PageSize: q.params.PageSize, Items: []T{}, fields: q.params.Fields, query: q}
	var end lastRow
	queue := func(b *pgx.Batch, p part) {
		sql, args := q.pageSQL(s, p, q.limit()+1-len(page.Items))
		b.Queue(sql, args...).Query(func(rows pgx.Rows) error { return page.take(rows, read, &end) })
	}
	if err := q.read(ctx, d, s, queue, &end); err != nil {
		if q.params.Cursor != "" && isDataError(err) {
			return nil, errCursor // the cursor is forged: its value does not have the type of the column
		}
		return nil, fmt.Errorf("read page of %s: %w", q.spec.From, err)
	}
	if page.Total, err = q.total(ctx, d, len(page.Items), end.more); err != nil {
		return nil, fmt.Errorf("count %s: %w", q.spec.From, err)
	}
	if q.params.Cursor == "" {
		n := max(q.params.Page, 1)
		page.Page = &n
	}
	page.end(end)
	if q.params.UpdatedSince != nil {
		// Open transactions may commit older timestamps, so the next read overlaps by 15 s.
		page.Watermark = jsontype.At(q.now.Add(-15 * time.Second)).String()
	}
	return page, nil
}

// isDataError reports whether the database rejected a value.
func isDataError(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.HasPrefix(pg.Code, "22")
}

// end sets what tells how the page ends.
func (p *Page[T]) end(last lastRow) {
	if p.HasMore = last.more; p.HasMore {
		c := p.query.cursorAt(last, p.query.nextLimit(len(p.Items), last.cut))
		p.NextCursor = &c
	}
}

// lastRow holds the cursor values of a row, or of the last one of a page.
type lastRow struct {
	more  bool
	cut   bool // the page ends because it is large
	id    uuid.UUID
	sort  *string
	bytes int
}

// take appends rows to the page until it is full.
func (p *Page[T]) take(rows pgx.Rows, read func(pgx.Rows, ...any) (T, error), end *lastRow) error {
	bytes := end.bytes
	for rows.Next() {
		if end.more {
			continue // the connection has to be read to the end
		}
		size := 0
		for _, v := range rows.RawValues() {
			size += len(v)
		}
		bytes += size
		end.cut = bytes > MaxPageBytes && len(p.Items) > 0
		if end.more = end.cut || len(p.Items) == p.query.limit(); end.more {
			continue
		}
		row := lastRow{bytes: size}
		item, err := read(rows, &row.id, &row.sort)
		if err != nil {
			return fmt.Errorf("read row of list: %w", err)
		}
		p.Items, p.ends = append(p.Items, item), append(p.ends, row)
		end.id, end.sort, end.bytes = row.id, row.sort, bytes
	}
	return rows.Err()
}

// part is the part of a list that a statement reads. A list that is sorted by a nullable column is read in two parts, each
// in the order of an index: first the records with a value, then those without.
type part int

const (
	whole part = iota
	values
	nulls
)

// parts lists the parts that the page may lie in.
func (q *Query) parts(s Sort) []part {
	switch {
	case !s.Nullable, q.seekFrom == nil && q.skip > 0:
		return []part{whole}
	case q.seekFrom != nil && q.seekFrom.sort == nil:
		return []part{nulls}
	}
	return []part{values, nulls}
}

// pageSQL returns the SELECT of a part of the page, with one extra row that tells whether there is a next page.
func (q *Query) pageSQL(s Sort, p part, limit int) (sql string, args []any) {
	where, args := slices.Clone(q.where), slices.Clone(q.args)
	if q.seekFrom != nil && (p != nulls || q.seekFrom.sort == nil) {
		var after string
		after, args = q.after(s, *q.seekFrom, args)
		where = append(where, after)
	}
	switch p {
	case values:
		where = append(where, s.Column+" IS NOT NULL")
	case nulls:
		where = append(where, s.Column+" IS NULL")
	case whole:
	}
	// The aliases keep the names in ORDER BY unambiguous.
	sql = fmt.Sprintf("SELECT %s, %s AS cursor_id, (%s)::TEXT AS cursor_value FROM %s WHERE %s ORDER BY %s LIMIT %d",
		q.spec.Columns, q.spec.ID, s.Column, q.spec.From, strings.Join(where, " AND "), q.orderBy(s, p), limit)
	if q.skip > 0 {
		args = append(args, q.skip)
		sql += fmt.Sprintf(" OFFSET $%d", len(args))
	}
	return sql, args
}

// orderBy is the order of a part. Nulls are named only where they can occur, because indexes have them elsewhere.
func (q *Query) orderBy(s Sort, p part) string {
	dir := "ASC"
	if q.desc {
		dir = "DESC"
	}
	switch {
	case p == nulls:
		return q.spec.ID + " " + dir
	case p == whole && s.Nullable:
		return fmt.Sprintf("%s %s NULLS LAST, %s %s", s.Column, dir, q.spec.ID, dir)
	}
	return fmt.Sprintf("%s %s, %s %s", s.Column, dir, q.spec.ID, dir)
}

// MarshalJSON implements [json.Marshaler]. It writes only the fields that the client selected.
func (p Page[T]) MarshalJSON() ([]byte, error) {
	v, err := p.Encodable()
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Encodable returns a value with the JSON of the page. Encoding it makes fewer copies of the page than [Page.MarshalJSON].
func (p *Page[T]) Encodable() (any, error) {
	type plain Page[T]
	if len(p.fields) == 0 {
		return (*plain)(p), nil
	}
	items := make([]map[string]json.RawMessage, len(p.Items))
	for i := range p.Items {
		var err error
		if items[i], err = selected(&p.Items[i], p.fields); err != nil {
			return nil, err
		}
	}
	return &struct {
		Items      []map[string]json.RawMessage `json:"items"`
		Total      *int64                       `json:"total,omitempty"`
		Page       *int                         `json:"page,omitempty"`
		PageSize   int                          `json:"pageSize"`
		NextCursor *string                      `json:"nextCursor"`
		HasMore    bool                         `json:"hasMore"`
	}{items, p.Total, p.Page, p.PageSize, p.NextCursor, p.HasMore}, nil
}

// selected returns the fields of an item that the client selected.
func selected(item any, fields []string) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(item)
	if err != nil {
		return nil, fmt.Errorf("encode list item: %w", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("select fields of list item: %w", err)
	}
	some := map[string]json.RawMessage{"id": all["id"]}
	for _, name := range fields {
		if v, ok := all[name]; ok {
			some[name] = v
		}
	}
	return some, nil
}

// Encode writes item i as MarshalJSON does, and a newline.
func (p *Page[T]) Encode(to *json.Encoder, i int) error {
	if len(p.fields) == 0 {
		return to.Encode(&p.Items[i])
	}
	some, err := selected(&p.Items[i], p.fields)
	if err != nil {
		return err
	}
	return to.Encode(some)
}

// Item returns item i with all its fields.
func (p *Page[T]) Item(i int) reflect.Value { return reflect.ValueOf(&p.Items[i]).Elem() }

// ResponseHeaders tells a client that synchronizes where its next request begins.
func (p *Page[T]) ResponseHeaders() map[string]string {
	if p.Watermark == "" {
		return nil
	}
	return map[string]string{"X-Sync-Watermark": p.Watermark}
}

func checkFields[T any](fields []string) error {
	if len(fields) == 0 {
		return nil
	}
	known := map[string]bool{}
	addFields(reflect.TypeFor[T](), known)
	var faults apierr.Fields
	for _, f := range fields {
		if !known[f] {
			faults.Add("fields", apierr.Enum, "%s is not a field of this record; use its top-level fields", f)
		}
	}
	return faults.Err()
}

func addFields(t reflect.Type, known map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			addFields(f.Type, known)
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			known[name] = true
		}
	}
}
