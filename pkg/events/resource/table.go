// Package resource stores records that are read and written as a whole by key. A [Table] derives the statements from the
// fields of the record and applies every change in the same steps: lock, precondition, rule, write, events. A record with
// [Lines] is a document: its table reads and writes them with it.
// Joins, aggregates and updates of single columns are hand-written SQL in the domains.
//
// Start with [Of], which makes a table, and its verbs [Table.Create], [Table.Change] and [Table.Delete]. A rule is the function that
// Change calls with the record before and the value to change: it returns a fault, or changes the value. [LinesOf] makes the lines of a
// document. [Table.OnChange] adds rows that follow from a change, such as a history. A struct that has no columns fails when the program starts.
package resource

import (
	"context"
	"reflect"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Table is the table of one kind of record.
type Table[T any] struct {
	*table
	observer func(tx *db.Tx, by access.Caller, before, after *T, changed []string)
	written  func(tx *db.Tx, before, after *T)
}

// Of returns the table of T. entity names its records in error codes, such as CLIENT. parts are the tables of its lines, each
// of which T has in the only field of their type. It panics if a tag of T is invalid.
func Of[T any, P interface {
	*T
	record.Record
}](name db.Table, entity string, parts ...Part) *Table[T] {
	return &Table[T]{table: newTable(name, entity, reflect.TypeFor[T](), record.PlanOf[T](), parts)}
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

// Get reads one record. An unknown id, or an id of another company, is 404 <ENTITY>_NOT_FOUND.
func (t *Table[T]) Get(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (v T, err error) {
	err = t.load(ctx, q, t.sqlSelect, company, id, &v)
	return v, err
}

// GetFrom returns the read of one record of the caller's company from q, for an operation that does no more.
func (t *Table[T]) GetFrom(q db.Querier) func(ctx context.Context, by access.Caller, id uuid.UUID) (T, error) {
	return func(ctx context.Context, by access.Caller, id uuid.UUID) (T, error) {
		return t.Get(ctx, q, by.Company, id)
	}
}

// Insert queues the INSERT of v and its lines as they are, for records that are stored together with others. Use
// [Table.Create] or [Table.CreateDraft] for everything else.
func (t *Table[T]) Insert(tx *db.Tx, v *T) {
	t.insertRow(tx, v)
	t.wrote(tx, nil, v)
}

// Update queues the UPDATE of v, whose version must already be incremented. Use [Table.Store] for everything else.
func (t *Table[T]) Update(tx *db.Tx, v *T) { t.updateRow(tx, v) }

// Described is a [Table] of any record type, for checks of statements and columns.
type Described interface {
	Name() string
	Statements() []string
	Columns() []record.Column
	RecordType() reflect.Type
	Parts() []Part
	Errors() []apierr.Doc
}
