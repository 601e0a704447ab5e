// Package resource stores records that are read and written as a whole by key. A [Table] derives the statements from the
// fields of the record and applies every change in the same steps: lock, precondition, rule, write, events. A record with
// [Lines] is a document: its table reads and writes them with it.
// Joins, aggregates and updates of single columns are hand-written SQL in the domains.
package resource

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// externalIDTaken is the end of the code of the 409 for an external id that another record has.
const externalIDTaken = "_EXTERNAL_ID_TAKEN"

// searchColumn holds the text that search= matches, in tables whose records have fields tagged search.
const searchColumn = "search_text"

// Table is the table of one kind of record.
type Table[T any] struct {
	name        db.Table
	entity      string
	plan        *record.Plan
	asRecord    func(*T) record.Record
	insert      []record.Column
	update      []record.Column
	constraints map[string]error
	parts       []part
	observer    func(tx *db.Tx, by access.Caller, before, after *T, changed []string)
	written     func(tx *db.Tx, before, after *T)

	sqlSelect, sqlLock, sqlKnown, sqlExternal string
	sqlInsert, sqlUpdate, sqlDelete           db.Write
}

// part is the table of lines that a document has in one of its fields.
type part struct {
	Part
	index []int
	name  string // of the field, in JSON
}

// of returns a pointer to the field with the lines; v points to the document.
func (p part) of(v any) any {
	return reflect.ValueOf(v).Elem().FieldByIndex(p.index).Addr().Interface()
}

// Of returns the table of T. entity names its records in error codes, such as CLIENT. parts are the tables of its lines, each
// of which T has in the only field of their type. It panics if a tag of T is invalid.
func Of[T any, P interface {
	*T
	record.Record
}](name db.Table, entity string, parts ...Part) *Table[T] {
	t := &Table[T]{name: name, entity: entity, plan: record.PlanOf[T](), asRecord: func(v *T) record.Record { return P(v) }, constraints: map[string]error{}}
	for _, p := range parts {
		index, field := p.bind(t.plan)
		t.parts = append(t.parts, part{p, index, field})
	}
	for _, c := range t.plan.Own() {
		t.insert = append(t.insert, c)
		if !c.InsertOnly {
			t.update = append(t.update, c)
		}
	}
	t.sqlSelect = "SELECT " + t.plan.SelectList("") + " FROM " + string(name) + " WHERE company_id = $1 AND id = $2"
	t.sqlLock = t.sqlSelect + " FOR UPDATE"
	t.sqlInsert = t.insertSQL()
	t.sqlUpdate = t.updateSQL()
	t.sqlDelete = name.Delete("WHERE company_id = $1 AND id = $2 AND version = $3")
	t.sqlKnown = "SELECT id FROM " + string(name) + " WHERE company_id = $1 AND id = ANY($2::UUID[])"
	if t.plan.Identifies() {
		t.sqlExternal = "SELECT id FROM " + string(name) + " WHERE company_id = $1 AND external_id = $2 AND COALESCE(source, '') = $3"
		t.OnConstraint(string(name)+"_external_id_key", apierr.StateConflict(entity+externalIDTaken,
			"externalId: another record from this source has this externalId; the filters source and externalId of the list find it"))
	}
	return t
}

// OnConstraint maps violations of a constraint by writes of the table to an error for the client.
func (t *Table[T]) OnConstraint(name string, err error) *Table[T] {
	t.constraints[name] = err
	return t
}

// OnChange calls fn with every stored change of a record and the names of the changed fields, for a history of the changes. It
// queues writes.
func (t *Table[T]) OnChange(fn func(tx *db.Tx, by access.Caller, before, after *T, changed []string)) *Table[T] {
	t.observer = fn
	return t
}

// OnWrite calls fn with every record that is written: before is nil for a new one, after for one that is deleted. It queues writes
// that follow from the record, such as to other tables that sum it.
func (t *Table[T]) OnWrite(fn func(tx *db.Tx, before, after *T)) *Table[T] {
	t.written = fn
	return t
}

func (t *Table[T]) wrote(tx *db.Tx, before, after *T) {
	if t.written != nil {
		t.written(tx, before, after)
	}
}

func (t *Table[T]) insertSQL() db.Write {
	columns := []string{"company_id", "id", "version", "ev_pos", "created_at", "updated_at"}
	for _, c := range t.insert {
		columns = append(columns, c.Name)
	}
	if t.plan.Searched() {
		columns = append(columns, searchColumn)
	}
	return t.name.InsertRow(columns...)
}

func (t *Table[T]) updateSQL() db.Write {
	set := []string{"version = $3", "ev_pos = $4", "updated_at = $5"}
	for _, c := range t.update {
		set = append(set, c.Name+" = $"+strconv.Itoa(len(set)+3))
	}
	if t.plan.Searched() {
		set = append(set, searchColumn+" = $"+strconv.Itoa(len(set)+3))
	}
	return t.name.Update("SET " + strings.Join(set, ", ") + "\nWHERE company_id = $1 AND id = $2 AND version = $3 - 1")
}

// Get reads one record. An unknown id, or an id of another company, is 404 <ENTITY>_NOT_FOUND.
func (t *Table[T]) Get(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (T, error) {
	return t.load(ctx, q, t.sqlSelect, company, id)
}

// load reads a record with its lines in one round trip.
func (t *Table[T]) load(ctx context.Context, q db.Querier, sql string, company tenant.ID, id uuid.UUID) (v T, err error) {
	if len(t.parts) == 0 {
		return t.read(q.QueryRow(ctx, sql, company, id), id)
	}
	b := &pgx.Batch{}
	b.Queue(sql, company, id).QueryRow(func(row pgx.Row) error { return row.Scan(t.plan.Targets(&v)...) })
	for _, p := range t.parts {
		p.queue(b, company, id, p.of(&v))
	}
	err = t.finish(&v, q.SendBatch(ctx, b).Close(), id)
	return v, err
}

// Stored returns a check whether a record was stored, for [db.WithCommitCheck].
func (t *Table[T]) Stored(company tenant.ID, id uuid.UUID) db.CommitCheck {
	return func(ctx context.Context, q db.Querier) (bool, error) {
		known, err := t.Known(ctx, q, company, []uuid.UUID{id})
		return len(known) > 0, err
	}
}

// FindExternal returns the id of the record with an external id from a source; nil if there is none.
func (t *Table[T]) FindExternal(ctx context.Context, q db.Querier, company tenant.ID, source, externalID string) (*uuid.UUID, error) {
	var id uuid.UUID
	err := q.QueryRow(ctx, t.sqlExternal, company, externalID, source).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // there is no such record
	}
	if err != nil {
		return nil, fmt.Errorf("find record of %s by external id: %w", t.name, err)
	}
	return &id, nil
}

// Known returns those ids that are records of the company.
func (t *Table[T]) Known(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, t.sqlKnown, company, ids)
	if err != nil {
		return nil, fmt.Errorf("look up records of %s: %w", t.name, err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

func (t *Table[T]) read(row pgx.Row, id uuid.UUID) (v T, err error) {
	err = t.finish(&v, row.Scan(t.plan.Targets(&v)...), id)
	return v, err
}

// finish derives the computed fields of a record that was read; the error is a 404 if there is none.
func (t *Table[T]) finish(v *T, err error, id uuid.UUID) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return apierr.NotFound(t.entity, id.String())
	}
	if err != nil {
		return fmt.Errorf("select from %s: %w", t.name, err)
	}
	record.Derive(v)
	return nil
}

// mapped gives a write the constraints of the table.
func (t *Table[T]) mapped(q *db.Queued) *db.Queued {
	for name, err := range t.constraints {
		q.OnConstraint(name, err)
	}
	return q
}

// Insert queues the INSERT of v and its lines as they are, for records that are stored together with others. Use
// [Table.Create] or [Table.CreateDraft] for everything else.
func (t *Table[T]) Insert(tx *db.Tx, v *T) {
	k, m := t.asRecord(v).RecordKey(), t.asRecord(v).RecordMeta()
	t.mapped(tx.QueueRow(t.sqlInsert, t.args(v, []any{k.CompanyID, k.ID, m.Version, m.EvPos, m.CreatedAt, m.UpdatedAt}, t.insert)...))
	for _, p := range t.parts {
		p.create(tx, k, p.of(v))
	}
	t.wrote(tx, nil, v)
}

// Update queues the UPDATE of v, whose version must already be incremented. Use [Table.Store] for everything else.
func (t *Table[T]) Update(tx *db.Tx, v *T) {
	k, m := t.asRecord(v).RecordKey(), t.asRecord(v).RecordMeta()
	t.mapped(tx.Queue(t.sqlUpdate, t.args(v, []any{k.CompanyID, k.ID, m.Version, m.EvPos, m.UpdatedAt}, t.update)...)).Expect(1, db.ErrStale)
}

func (t *Table[T]) args(v *T, args []any, columns []record.Column) []any {
	for _, c := range columns {
		args = append(args, c.Value(v))
	}
	if t.plan.Searched() {
		texts, phones := t.plan.SearchFields(v)
		args = append(args, list.SearchText(texts, phones...))
	}
	return args
}

// Described is a [Table] of any record type, for checks of statements and columns.
type Described interface {
	Name() string
	Statements() []string
	Columns() []record.Column
	RecordType() reflect.Type
	Parts() []Part
	Errors() []apierr.Doc
}

// Name is the name of the table.
func (t *Table[T]) Name() string { return string(t.name) }

// Errors documents the error codes that the table itself raises.
func (t *Table[T]) Errors() []apierr.Doc {
	if t.sqlExternal == "" {
		return nil
	}
	return []apierr.Doc{{
		Status: 409, Code: t.entity + externalIDTaken,
		Advice: "Another record of this kind has the same externalId and source. The filters source and externalId of its list find it; PUT by-external-id changes it.",
	}}
}

// Statements returns all statements of the table.
func (t *Table[T]) Statements() []string {
	all := []string{t.sqlSelect, t.sqlLock, t.sqlInsert.SQL(), t.sqlUpdate.SQL(), t.sqlDelete.SQL(), t.sqlKnown}
	if t.sqlExternal != "" {
		all = append(all, t.sqlExternal)
	}
	return all
}

// Columns returns the columns of the record's fields, and the search column.
func (t *Table[T]) Columns() []record.Column {
	columns := t.plan.Columns()
	if t.plan.Searched() {
		columns = append(columns, record.Column{Name: searchColumn, Type: reflect.TypeFor[string]()})
	}
	return columns
}

// RecordType is the type of the records.
func (t *Table[T]) RecordType() reflect.Type { return reflect.TypeFor[T]() }

// Parts returns the tables of the lines.
func (t *Table[T]) Parts() []Part {
	parts := make([]Part, len(t.parts))
	for i, p := range t.parts {
		parts[i] = p.Part
	}
	return parts
}
