package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// searchColumn holds the text that search= matches, in tables whose records have fields tagged search.
const searchColumn = "search_text"

// table is what a [Table] does whatever the type of its records, to which its methods get pointers. Generic code is compiled anew
// for each type.
type table struct {
	name        db.Table
	entity      string
	plan        *record.Plan
	recordType  reflect.Type
	insert      []record.Column
	update      []record.Column
	constraints map[string]error
	parts       []part
	takenAs     string

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

// recordOf returns the record that v points to.
func recordOf(v any) record.Record {
	return v.(record.Record) //nolint:errcheck,forcetypeassert // Of takes no other type
}

func newTable(name db.Table, entity string, recordType reflect.Type, plan *record.Plan, parts []Part) *table {
	t := &table{name: name, entity: entity, plan: plan, recordType: recordType, constraints: map[string]error{}}
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
	}
	return t
}

func (t *table) insertSQL() db.Write {
	columns := []string{"company_id", "id", "version", "ev_pos", "created_at", "updated_at"}
	for _, c := range t.insert {
		columns = append(columns, c.Name)
	}
	if t.plan.Searched() {
		columns = append(columns, searchColumn)
	}
	return t.name.InsertRow(columns...)
}

func (t *table) updateSQL() db.Write {
	set := []string{"version = $3", "ev_pos = $4", "updated_at = $5"}
	for _, c := range t.update {
		set = append(set, c.Name+" = $"+strconv.Itoa(len(set)+3))
	}
	if t.plan.Searched() {
		set = append(set, searchColumn+" = $"+strconv.Itoa(len(set)+3))
	}
	return t.name.Update("SET " + strings.Join(set, ", ") + "\nWHERE company_id = $1 AND id = $2 AND version = $3 - 1")
}

// load reads a record with its lines in one round trip.
func (t *table) load(ctx context.Context, q db.Querier, sql string, company tenant.ID, id uuid.UUID, v any) error {
	if len(t.parts) == 0 {
		return t.read(q.QueryRow(ctx, sql, company, id), id, v)
	}
	b := &pgx.Batch{}
	b.Queue(sql, company, id).QueryRow(func(row pgx.Row) error { return row.Scan(t.plan.Targets(v)...) })
	for _, p := range t.parts {
		p.queue(b, company, id, p.of(v))
	}
	return t.finish(v, q.SendBatch(ctx, b).Close(), id)
}

// lock is [Table.Lock] without the precondition.
func (t *table) lock(ctx context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID, v any) error {
	if len(t.parts) == 0 {
		return t.read(tx.Lock(ctx, t.sqlLock, company, id), id, v)
	}
	if err := tx.LockInProcess(ctx, t.entity, id); err != nil {
		return err
	}
	return t.load(ctx, tx, t.sqlLock, company, id, v)
}

// Stored returns a check whether a record was stored, for [db.WithCommitCheck].
func (t *table) Stored(company tenant.ID, id uuid.UUID) db.CommitCheck {
	return func(ctx context.Context, q db.Querier) (bool, error) {
		known, err := t.Known(ctx, q, company, []uuid.UUID{id})
		return len(known) > 0, err
	}
}

// Known returns those ids that are records of the company.
func (t *table) Known(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, t.sqlKnown, company, ids)
	if err != nil {
		return nil, fmt.Errorf("look up records of %s: %w", t.name, err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

func (t *table) read(row pgx.Row, id uuid.UUID, v any) error {
	return t.finish(v, row.Scan(t.plan.Targets(v)...), id)
}

// finish derives the computed fields of a record that was read; the error is a 404 if there is none.
func (t *table) finish(v any, err error, id uuid.UUID) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return apierr.NotFound(t.entity, id.String())
	}
	if err != nil {
		return fmt.Errorf("select from %s: %w", t.name, err)
	}
	record.Derive(v)
	return nil
}

// mapped gives a write of a record the constraints of the table.
func (t *table) mapped(q *db.Queued, v any) *db.Queued {
	for name, err := range t.constraints {
		q.OnConstraint(name, err)
	}
	if id, ok := t.externalOf(v); ok {
		q.OnConstraint(string(t.name)+"_external_id_key", &takenError{table: t, at: id})
	}
	return q
}

// insertRow queues the INSERT of a record and its lines.
func (t *table) insertRow(tx *db.Tx, v any) {
	k, m := recordOf(v).RecordKey(), recordOf(v).RecordMeta()
	t.mapped(tx.QueueRow(t.sqlInsert, t.args(v, []any{k.CompanyID, k.ID, m.Version, m.EvPos, m.CreatedAt, m.UpdatedAt}, t.insert)...), v)
	for _, p := range t.parts {
		p.create(tx, k, p.of(v))
	}
}

// updateRow queues the UPDATE of a record without its lines.
func (t *table) updateRow(tx *db.Tx, v any) {
	k, m := recordOf(v).RecordKey(), recordOf(v).RecordMeta()
	t.mapped(tx.Queue(t.sqlUpdate, t.args(v, []any{k.CompanyID, k.ID, m.Version, m.EvPos, m.UpdatedAt}, t.update)...), v).Expect(1, db.ErrStale)
}

// deleteRow queues the DELETE of a record and its lines; none is a record without lines.
func (t *table) deleteRow(tx *db.Tx, v, none any) {
	k, m := recordOf(v).RecordKey(), recordOf(v).RecordMeta()
	t.mapped(tx.Queue(t.sqlDelete, k.CompanyID, k.ID, m.Version), v).Expect(1, db.ErrStale)
	for _, p := range t.parts {
		p.replace(tx, k, p.of(v), p.of(none))
	}
}

func (t *table) args(v any, args []any, columns []record.Column) []any {
	for _, c := range columns {
		args = append(args, c.Value(v))
	}
	if t.plan.Searched() {
		texts, phones := t.plan.SearchFields(v)
		args = append(args, list.SearchText(texts, phones...))
	}
	return args
}

// prepare gives a new record its key, unless it has an id, and its meta.
func (t *table) prepare(tx *db.Tx, company tenant.ID, v any) {
	k := recordOf(v).RecordKey()
	k.CompanyID, *recordOf(v).RecordMeta() = company, record.New(tx.Now())
	if k.ID == uuid.Nil {
		k.ID = tx.NewID()
	}
	tx.ProvedBy(k.ID, t.Stored(company, k.ID))
	t.plan.Normalise(v)
	record.Derive(v)
}

// snapshot copies the slices of the lines of v, and returns its fields.
func (t *table) snapshot(v any) record.Snapshot {
	for _, p := range t.parts {
		p.clone(p.of(v))
	}
	return t.plan.Snapshot(v)
}

// changes normalises a record and reports whether it differs from the snapshot, and the names of the fields that do.
func (t *table) changes(before any, fields record.Snapshot, v any) (changed bool, names []string) {
	t.plan.Normalise(v)
	record.Derive(v)
	changed, names = fields.Changes(v)
	for _, p := range t.parts {
		if !p.same(p.of(before), p.of(v)) {
			changed, names = true, append(names, p.name)
		}
	}
	return changed, names
}

// store queues the changes of a record and of its lines, and returns the position of the first of its events.
func (t *table) store(tx *db.Tx, before, v any, events int) (base int64, err error) {
	if err := t.plan.Check(v); err != nil {
		return 0, err
	}
	m := recordOf(v).RecordMeta()
	m.Touch(tx.Now())
	base = m.EvPos
	m.EvPos += max(int64(events), 1) - 1
	t.updateRow(tx, v)
	for _, p := range t.parts {
		p.replace(tx, recordOf(v).RecordKey(), p.of(before), p.of(v))
	}
	return base, nil
}

// raiseAll appends the events to the outbox at the positions from base on, and returns the JSON of the record if it is the data of
// one.
func (t *table) raiseAll(ctx context.Context, tx *db.Tx, by access.Caller, base int64, after any, events []outbox.Event) (raw json.RawMessage, err error) {
	meta := *recordOf(after).RecordMeta()
	meta.EvPos = base
	for i, e := range events {
		e.Actor, e.Type, e.ID, e.Meta, e.Offset = by.ActorID(), strings.ToLower(t.entity), recordOf(after).RecordKey().ID, meta, int64(i)
		if e.Data == after {
			if raw == nil {
				if raw, err = jsontype.Marshal(after); err != nil {
					return nil, fmt.Errorf("encode %s: %w", t.entity, err)
				}
			}
			e.Data = raw
		}
		if err := outbox.Raise(ctx, tx, by.Company, e); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// Name is the name of the table.
func (t *table) Name() string { return string(t.name) }

// Statements returns all statements of the table.
func (t *table) Statements() []string {
	all := []string{t.sqlSelect, t.sqlLock, t.sqlInsert.SQL(), t.sqlUpdate.SQL(), t.sqlDelete.SQL(), t.sqlKnown}
	if t.sqlExternal != "" {
		all = append(all, t.sqlExternal)
	}
	return all
}

// Columns returns the columns of the record's fields, and the search column.
func (t *table) Columns() []record.Column {
	columns := t.plan.Columns()
	if t.plan.Searched() {
		columns = append(columns, record.Column{Name: searchColumn, Type: reflect.TypeFor[string]()})
	}
	return columns
}

// RecordType is the type of the records.
func (t *table) RecordType() reflect.Type { return t.recordType }

// Parts returns the tables of the lines.
func (t *table) Parts() []Part {
	parts := make([]Part, len(t.parts))
	for i, p := range t.parts {
		parts[i] = p.Part
	}
	return parts
}
