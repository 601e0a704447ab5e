package resource

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Create stores a new record of the caller's company, with a new id unless v has one, and raises the events.
func (t *Table[T]) Create(ctx context.Context, tx *db.Tx, by access.Caller, v T, events ...event.Event[T]) (T, error) {
	t.prepare(tx, by.Company, &v)
	if err := t.plan.Check(&v); err != nil {
		return v, err
	}
	m := recordOf(&v).RecordMeta()
	base := m.EvPos
	m.EvPos += max(int64(len(events)), 1) - 1
	t.Insert(tx, &v)
	_, err := t.raise(ctx, tx, by, base, nil, &v, nil, events)
	return v, err
}

// CreateDraft stores a new record that was made before its transaction began, with its key and meta, and raises the event. It
// returns the JSON of the record, which the event has. It may run once in every try of the transaction.
func (t *Table[T]) CreateDraft(ctx context.Context, tx *db.Tx, by access.Caller, v T, e event.Event[T]) (json.RawMessage, error) {
	t.plan.Normalise(&v)
	record.Derive(&v)
	t.Insert(tx, &v)
	return t.raise(ctx, tx, by, recordOf(&v).RecordMeta().EvPos, nil, &v, nil, []event.Event[T]{e})
}

// Add stores a new record of the company without an event, for records that the platform creates itself.
func (t *Table[T]) Add(tx *db.Tx, company tenant.ID, v *T) {
	t.prepare(tx, company, v)
	t.Insert(tx, v)
}

// Change changes one record: it locks the record, checks the caller's precondition, calls mutate, and stores the result.
// If no column differs, it stores nothing and raises no event. before is the record before the change; mutate must assign
// new values to fields of v rather than write through their pointers.
//
// Errors: 404 for an unknown id, 412 for a version that the caller does not expect, and those of mutate.
func (t *Table[T]) Change(
	ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, mutate func(before T, v *T) error, events ...event.Event[T],
) (T, error) {
	v, err := t.Lock(ctx, tx, by, id)
	if err != nil {
		return v, err
	}
	snapshot := t.Snapshot(v)
	if err := mutate(snapshot.Before, &v); err != nil {
		return snapshot.Before, err
	}
	return v, t.Store(ctx, tx, by, snapshot, &v, events...)
}

// Lock reads and locks a record until the transaction ends, and checks the caller's precondition. It should be the first
// statement of the transaction, so that concurrent changes of the record wait for each other; see [db.Tx.Lock]. With lines, it
// reads more than one record, so the transaction stays SERIALIZABLE; in this process changes of one document wait all the same.
func (t *Table[T]) Lock(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (v T, err error) {
	if err := t.lock(ctx, tx, by.Company, id, &v); err != nil {
		return v, err
	}
	return v, by.Expect(recordOf(&v).RecordMeta().Version)
}

// Snapshot is the state of a record before a change.
type Snapshot[T any] struct {
	Before T
	fields record.Snapshot
}

// Snapshot takes a snapshot of a locked record, which [Table.Store] compares to find the changes. The slices of its lines are
// copied, not what their elements refer to.
func (t *Table[T]) Snapshot(v T) Snapshot[T] {
	fields := t.snapshot(&v)
	return Snapshot[T]{Before: v, fields: fields}
}

// Store writes a locked record if it has changed since the snapshot, increments its version and raises the events. Of its lines it
// writes those that differ.
func (t *Table[T]) Store(ctx context.Context, tx *db.Tx, by access.Caller, snapshot Snapshot[T], v *T, events ...event.Event[T]) error {
	changed, names := t.changes(&snapshot.Before, snapshot.fields, v)
	if !changed {
		return nil
	}
	base, err := t.store(tx, &snapshot.Before, v, len(events))
	if err != nil {
		return err
	}
	t.wrote(tx, &snapshot.Before, v)
	tx.Note(db.Noted{ID: recordOf(v).RecordKey().ID, Before: &snapshot.Before, After: v, Fields: names})
	if t.observer != nil {
		t.observer(tx, by, &snapshot.Before, v, names)
	}
	_, err = t.raise(ctx, tx, by, base, &snapshot.Before, v, names, events)
	return err
}

// Delete deletes one record if check returns no error, and raises the events with its last state.
func (t *Table[T]) Delete(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, check func(T) error, events ...event.Event[T]) error {
	v, err := t.Lock(ctx, tx, by, id)
	if err != nil {
		return err
	}
	if check != nil {
		if err := check(v); err != nil {
			return err
		}
	}
	return t.Remove(ctx, tx, by, v, events...)
}

// Remove deletes a locked record and raises the events with its last state.
func (t *Table[T]) Remove(ctx context.Context, tx *db.Tx, by access.Caller, v T, events ...event.Event[T]) error {
	before, m := v, recordOf(&v).RecordMeta()
	t.deleteRow(tx, &before, new(T))
	t.wrote(tx, &before, nil)
	m.Touch(tx.Now())
	_, err := t.raise(ctx, tx, by, m.EvPos, &before, &v, nil, events)
	return err
}

// raise appends the events to the outbox at the positions from base on; the record is stored with the last position. It returns
// the JSON of the record if an event has it, encoded once for all.
func (t *Table[T]) raise(
	ctx context.Context, tx *db.Tx, by access.Caller, base int64, before, after *T, changed []string, events []event.Event[T],
) (raw json.RawMessage, err error) {
	raised := make([]outbox.Event, len(events))
	for i, e := range events {
		raised[i] = outbox.Event{Name: e.Name, Data: e.Data(after), Extra: e.Extra(before, after, changed)}
	}
	return t.raiseAll(ctx, tx, by, base, after, raised)
}
