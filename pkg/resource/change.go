package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Create stores a new record of the caller's company, with a new id unless v has one, and raises the events.
func (t *Table[T]) Create(ctx context.Context, tx *db.Tx, by access.Caller, v T, events ...event.Event[T]) (T, error) {
	t.prepare(tx, by.Company, &v)
	if err := t.plan.Check(&v); err != nil {
		return v, err
	}
	m := t.asRecord(&v).RecordMeta()
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
	return t.raise(ctx, tx, by, t.asRecord(&v).RecordMeta().EvPos, nil, &v, nil, []event.Event[T]{e})
}

// Add stores a new record of the company without an event, for records that the platform creates itself.
func (t *Table[T]) Add(tx *db.Tx, company tenant.ID, v *T) {
	t.prepare(tx, company, v)
	t.Insert(tx, v)
}

// prepare gives a new record its key, unless it has an id, and its meta.
func (t *Table[T]) prepare(tx *db.Tx, company tenant.ID, v *T) {
	r := t.asRecord(v)
	k := r.RecordKey()
	k.CompanyID, *r.RecordMeta() = company, record.New(tx.Now())
	if k.ID == uuid.Nil {
		k.ID = record.NewID()
	}
	t.plan.Normalise(v)
	record.Derive(v)
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
	if len(t.parts) == 0 {
		v, err = t.read(tx.Lock(ctx, t.sqlLock, by.Company, id), id)
	} else if err = tx.LockInProcess(ctx, t.entity, id); err == nil {
		v, err = t.load(ctx, tx, t.sqlLock, by.Company, id)
	}
	if err != nil {
		return v, err
	}
	return v, by.Expect(t.asRecord(&v).RecordMeta().Version)
}

// Snapshot is the state of a record before a change.
type Snapshot[T any] struct {
	Before T
	fields record.Snapshot
}

// Snapshot takes a snapshot of a locked record, which [Table.Store] compares to find the changes. The slices of its lines are
// copied, not what their elements refer to.
func (t *Table[T]) Snapshot(v T) Snapshot[T] {
	for _, p := range t.parts {
		p.clone(p.of(&v))
	}
	return Snapshot[T]{Before: v, fields: t.plan.Snapshot(&v)}
}

// changes normalises a record and reports whether it differs from the snapshot, and the names of the fields that do.
func (t *Table[T]) changes(snapshot *Snapshot[T], v *T) (changed bool, names []string) {
	t.plan.Normalise(v)
	record.Derive(v)
	changed, names = snapshot.fields.Changes(v)
	for _, p := range t.parts {
		if !p.same(p.of(&snapshot.Before), p.of(v)) {
			changed, names = true, append(names, p.name)
		}
	}
	return changed, names
}

// Store writes a locked record if it has changed since the snapshot, increments its version and raises the events. Of its lines it
// writes those that differ.
func (t *Table[T]) Store(ctx context.Context, tx *db.Tx, by access.Caller, snapshot Snapshot[T], v *T, events ...event.Event[T]) error {
	changed, names := t.changes(&snapshot, v)
	if !changed {
		return nil
	}
	if err := t.plan.Check(v); err != nil {
		return err
	}
	m := t.asRecord(v).RecordMeta()
	m.Touch(tx.Now())
	base := m.EvPos
	m.EvPos += max(int64(len(events)), 1) - 1
	t.Update(tx, v)
	for _, p := range t.parts {
		p.replace(tx, t.asRecord(v).RecordKey(), p.of(&snapshot.Before), p.of(v))
	}
	t.wrote(tx, &snapshot.Before, v)
	if t.observer != nil {
		t.observer(tx, by, &snapshot.Before, v, names)
	}
	_, err := t.raise(ctx, tx, by, base, &snapshot.Before, v, names, events)
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
	k, m := t.asRecord(&v).RecordKey(), t.asRecord(&v).RecordMeta()
	t.mapped(tx.Queue(t.sqlDelete, k.CompanyID, k.ID, m.Version)).Expect(1, db.ErrStale)
	before := v
	for _, p := range t.parts {
		p.replace(tx, k, p.of(&before), p.of(new(T)))
	}
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
	r := t.asRecord(after)
	meta := *r.RecordMeta()
	meta.EvPos = base
	for i, e := range events {
		data := e.Data(after)
		if data == any(after) {
			if raw == nil {
				if raw, err = jsontype.Marshal(after); err != nil {
					return nil, fmt.Errorf("encode %s: %w", t.entity, err)
				}
			}
			data = raw
		}
		err := outbox.Raise(ctx, tx, by.Company, outbox.Event{
			Name: e.Name, Actor: by.Actor, Type: strings.ToLower(t.entity), ID: r.RecordKey().ID, Meta: meta, Offset: int64(i),
			Data: data, Extra: e.Extra(before, after, changed),
		})
		if err != nil {
			return nil, err
		}
	}
	return raw, nil
}
