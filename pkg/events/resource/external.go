package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// externalIDTaken is the end of the code of the 409 for an external id that another record has.
const externalIDTaken = "_EXTERNAL_ID_TAKEN"

// external is the external id of a record of a company.
type external struct {
	company    tenant.ID
	source, id string
}

// externalOf returns the external id of the record that v points to; ok is false if it has none.
func (t *table) externalOf(v any) (e external, ok bool) {
	if t.sqlExternal == "" {
		return e, false
	}
	id, _ := t.plan.Value(v, "externalId").(*string)
	if id == nil {
		return e, false
	}
	e = external{company: recordOf(v).RecordKey().CompanyID, id: *id}
	switch source := t.plan.Value(v, "source").(type) {
	case *string:
		e.source = record.OrZero(source)
	case string:
		e.source = source
	}
	return e, true
}

// FindExternal returns the id of the record with an external id from a source; nil if there is none.
func (t *table) FindExternal(ctx context.Context, q db.Querier, company tenant.ID, source, externalID string) (*uuid.UUID, error) {
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

// Taken is the 409 for an external id that the record with the id has.
func (t *table) Taken(id uuid.UUID) *apierr.Error {
	err := t.taken().With("id", id)
	if t.takenAs != "" {
		err = err.With(t.takenAs, id)
	}
	return err
}

// TakenAs sets a second name of the id of the other record in meta of the 409 for an external id that it has.
func (t *Table[T]) TakenAs(name string) *Table[T] {
	t.takenAs = name
	return t
}

func (t *table) taken() *apierr.Error {
	return apierr.StateConflict(t.entity+externalIDTaken, "externalId: another record from this source has this externalId; see meta.id")
}

// NotTaken returns a read that fails with 409 <ENTITY>_EXTERNAL_ID_TAKEN if another record has the external id of v, unless it is that
// of before; nil is before a new record. What is told twice is refused as such, and not for what the first time has changed, so it is
// read before amounts are looked at. The constraint of the table remains for requests at the same time.
func (t *Table[T]) NotTaken(before, v *T) batchloader.Read {
	return func(ctx context.Context, q db.Querier) error {
		now, ok := t.externalOf(v)
		if !ok {
			return nil
		}
		if before != nil {
			if was, had := t.externalOf(before); had && was == now {
				return nil
			}
		}
		other, err := t.FindExternal(ctx, q, now.company, now.source, now.id)
		if err != nil || other == nil {
			return err
		}
		return t.Taken(*other)
	}
}

// takenError is the 409 for an external id that another record has, whose id is known once the error is complete.
type takenError struct {
	table *table
	at    external
	other *uuid.UUID
}

// Error implements error.
func (e *takenError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the 409.
func (e *takenError) Unwrap() error {
	if e.other == nil {
		return e.table.taken() // it stands without the id, too
	}
	return e.table.Taken(*e.other)
}

// Complete implements [db.Incomplete].
func (e *takenError) Complete(ctx context.Context, q db.Querier) {
	e.other, _ = e.table.FindExternal(ctx, q, e.at.company, e.at.source, e.at.id)
}

// Errors documents the error codes that the table itself raises.
func (t *table) Errors() []apierr.Doc {
	if t.sqlExternal == "" {
		return nil
	}
	return []apierr.Doc{{
		Status: 409, Code: t.entity + externalIDTaken,
		Advice: "Another record of this kind has the same externalId and source; meta.id identifies it. What is told twice needs no second record; PUT by-external-id changes the one there is.",
	}}
}
