package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// FindExternal returns the id of the record with an external id from a source; nil if there is none.
type FindExternal func(ctx context.Context, q db.Querier, company tenant.ID, source, externalID string) (*uuid.UUID, error)

// Together stores a new record in a transaction that it shares with others; see [ChangeTogether].
type Together[C, T any] func(ctx context.Context, by access.Caller, in C, store func(tx *db.Tx, v T, raw json.RawMessage) error, opts ...db.Option) (T, error)

// Upserts are the writes of records with an external id, which the fields source and externalId of C hold. Exactly one of Create
// and Together is set.
type Upserts[C, F, T any] struct {
	Find     FindExternal
	Create   func(context.Context, *db.Tx, access.Caller, C) (T, error)
	Together Together[C, T]
	Update   func(context.Context, *db.Tx, access.Caller, uuid.UUID, record.Patch[F]) (T, error)
}

// upsertAttempts is how often an upsert decides anew between creating and changing: another request may do either first.
const upsertAttempts = 4

type upsertInput[K any] struct {
	Call
	Key  K               `params:"inline"`
	Body json.RawMessage // with defaults
}

// upsertInInput is an [upsertInput] for a record that belongs to another one.
type upsertInInput struct {
	ByID
	Key  externalKey `params:"inline"`
	Body json.RawMessage
}

// UpsertKey is what names the record of an upsert in its path: the values of fields, which a new record gets and the body must not
// contradict.
type UpsertKey interface {
	Fields() []KeyField
}

// KeyField is a field of a record, and its value.
type KeyField struct{ Name, Value string }

type externalKey struct {
	Source     string `path:"source" minLength:"1" maxLength:"255" doc:"system that the record comes from"`
	ExternalID string `path:"externalId" minLength:"1" maxLength:"255" doc:"id of the record in that system"`
}

// Fields implements [UpsertKey].
func (k externalKey) Fields() []KeyField {
	return []KeyField{{"source", k.Source}, {"externalId", k.ExternalID}}
}

// Upsert adds a PUT that creates the record with an external id (201), or changes the fields that the body has (200). collection is
// the path of its list. The body is that of a new record. See docs/reference/conventions.md#upsert.
func Upsert[C, F, T any](r *Routes, collection, id, summary string, w Upserts[C, F, T], edits ...Edit) {
	UpsertBy(r, collection, byExternalID, id, summary, func(ctx context.Context, q db.Querier, by access.Caller, k externalKey) (*uuid.UUID, error) {
		return w.Find(ctx, q, by.Company, k.Source, k.ExternalID)
	}, w, edits...)
}

const byExternalID = "/by-external-id/{source}/{externalId}"

// UpsertBy adds a PUT as [Upsert] does, for records that something else than an external id names; find returns the id of the record, or
// nil. What the key names must be the same for concurrent requests, too: Create fails with a 409 if another one has made the record.
func UpsertBy[K UpsertKey, C, F, T any](
	r *Routes, collection, path, id, summary string, find func(ctx context.Context, q db.Querier, by access.Caller, key K) (*uuid.UUID, error), w Upserts[C, F, T], edits ...Edit,
) {
	op := upsertOp[C](r, collection, path, id, summary, edits)
	r.api.register(op, reflect.TypeFor[upsertInput[K]](), reflect.TypeFor[T](), func(ctx context.Context, in input) (reply, error) {
		by := in.(*upsertInput[K]) //nolint:errcheck,forcetypeassert // register makes it
		return (&upsert[C, F, T]{Upserts: w, routes: r, op: op, call: &by.Call, key: by.Key.Fields(), body: by.Body, find: func(ctx context.Context) (*uuid.UUID, error) {
			return find(ctx, r.db, by.Caller, by.Key)
		}}).run(ctx)
	})
	binding.PatchSchema(r.api.desc.Components.Schemas, reflect.TypeFor[F]())
}

func upsertOp[C any](r *Routes, collection, path, id, summary string, edits []Edit) Op {
	return r.op(http.MethodPut, collection+path, id, summary, http.StatusOK, append([]Edit{Records(collection), func(op *Op) {
		op.AlsoCreates = true
		op.body = func(reg huma.Registry) *huma.Schema { return binding.InputSchema(reg, reflect.TypeFor[C]()) }
	}}, edits...))
}

// UpsertsIn are [Upserts] of records that belong to another one, owner.
type UpsertsIn[C, F, T any] struct {
	Find   func(ctx context.Context, q db.Querier, company tenant.ID, owner uuid.UUID, source, externalID string) (*uuid.UUID, error)
	Create func(ctx context.Context, tx *db.Tx, by access.Caller, owner uuid.UUID, in C) (T, error)
	Update func(ctx context.Context, tx *db.Tx, by access.Caller, owner, id uuid.UUID, in record.Patch[F]) (T, error)
}

// of returns the writes for the records of one owner.
func (w UpsertsIn[C, F, T]) of(owner uuid.UUID) Upserts[C, F, T] {
	return Upserts[C, F, T]{
		Create: func(ctx context.Context, tx *db.Tx, by access.Caller, in C) (T, error) {
			return w.Create(ctx, tx, by, owner, in)
		},
		Update: func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[F]) (T, error) {
			return w.Update(ctx, tx, by, owner, id, in)
		},
	}
}

// UpsertIn adds a PUT as [Upsert] does, for records that belong to another one.
func UpsertIn[C, F, T any](r *Routes, collection, id, summary string, w UpsertsIn[C, F, T], edits ...Edit) {
	op := upsertOp[C](r, collection, byExternalID, id, summary, edits)
	r.api.register(op, reflect.TypeFor[upsertInInput](), reflect.TypeFor[T](), func(ctx context.Context, in input) (reply, error) {
		of := in.(*upsertInInput) //nolint:errcheck,forcetypeassert // register makes it
		return (&upsert[C, F, T]{Upserts: w.of(of.ID), routes: r, op: op, call: &of.Call, key: of.Key.Fields(), body: of.Body, find: func(ctx context.Context) (*uuid.UUID, error) {
			return w.Find(ctx, r.db, of.Company, of.ID, of.Key.Source, of.Key.ExternalID)
		}}).run(ctx)
	})
	binding.PatchSchema(r.api.desc.Components.Schemas, reflect.TypeFor[F]())
}

// upsert is one request.
type upsert[C, F, T any] struct {
	Upserts[C, F, T]
	routes *Routes
	op     Op
	call   *Call
	key    []KeyField
	body   json.RawMessage // with defaults
	find   func(ctx context.Context) (*uuid.UUID, error)
}

func (u *upsert[C, F, T]) run(ctx context.Context) (reply, error) {
	if err := u.check(); err != nil {
		return reply{}, err
	}
	var lost error
	for range upsertAttempts {
		id, err := u.find(ctx)
		if err != nil {
			return reply{}, err
		}
		var r reply
		switch {
		case id != nil:
			r, err = u.update(ctx, *id)
		case lost == nil:
			r, err = u.create(ctx)
		default:
			return reply{}, lost // no other request has created the record: something else stands against it
		}
		if !overtaken(err, id != nil) {
			return r, err
		}
		if lost = err; id != nil {
			lost = nil // it was deleted, so it can be created
		}
	}
	return reply{}, apierr.Unavailable(apierr.Serialization, 1, "other requests kept creating and deleting the record; retry")
}

// overtaken reports whether another request may have deleted the record, or created it, since it was looked for. One that has created
// it may have taken more than its external id, such as its SKU.
func overtaken(err error, found bool) bool {
	f, ok := apierr.As(err)
	if !ok {
		return false
	}
	_, reference := f.Meta["field"]
	return found && f.Status == http.StatusNotFound && !reference || !found && f.Status == http.StatusConflict
}

func (u *upsert[C, F, T]) create(ctx context.Context) (reply, error) {
	if u.call.Conditional() {
		return reply{}, apierr.New(http.StatusPreconditionFailed, "PRECONDITION_FAILED", "there is no such record; omit If-Match to create it")
	}
	body, err := u.identified(u.body)
	if err != nil {
		return reply{}, err
	}
	var in C
	if err := json.Unmarshal(body, &in); err != nil {
		return reply{}, fmt.Errorf("decode validated body: %w", err)
	}
	u.call.status = http.StatusCreated
	if u.Together != nil {
		return together(u.call, func(store func(*db.Tx, T, json.RawMessage) error, opts ...db.Option) error {
			_, err := u.Together(ctx, u.call.Caller, in, store, opts...)
			return err
		})
	}
	return mutate(ctx, u.routes.db, u.call, u.op.ID, func(ctx context.Context, tx *db.Tx) (any, error) {
		return u.Create(ctx, tx, u.call.Caller, in)
	}, u.routes.tx...)
}

func (u *upsert[C, F, T]) update(ctx context.Context, id uuid.UUID) (reply, error) {
	var patch record.Patch[F]
	if err := u.bindPatch(u.call.req.body.Raw, &patch); err != nil { // as it was sent: without defaults
		return reply{}, err
	}
	u.call.status = http.StatusOK
	return mutate(ctx, u.routes.db, u.call, u.op.ID, func(ctx context.Context, tx *db.Tx) (any, error) {
		return u.Update(ctx, tx, u.call.Caller, id, patch)
	}, u.routes.tx...)
}

func (u *upsert[C, F, T]) bindPatch(body []byte, into *record.Patch[F]) error {
	tree, err := binding.Parse(body)
	if err != nil {
		return fmt.Errorf("parse validated body: %w", err)
	}
	if fields, ok := tree.(map[string]any); ok && reflect.TypeFor[F]().NumField() == 0 { // a record that never changes
		u.call.req.showIgnored(slices.Sorted(maps.Keys(fields)))
		return nil
	}
	reg := u.routes.api.desc.Components.Schemas
	ignored, err := binding.BindPart(reg, "", binding.PatchSchema(reg, reflect.TypeFor[F]()), tree, nil, false, into)
	u.call.req.showIgnored(ignored)
	return err
}

// check returns a fault if the body contradicts the path.
func (u *upsert[C, F, T]) check() error {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(u.call.req.body.Raw, &sent); err != nil {
		return fmt.Errorf("decode validated body: %w", err)
	}
	var faults apierr.Fields
	for _, f := range u.key {
		var text *string
		if json.Unmarshal(sent[f.Name], &text) == nil && text != nil && strings.TrimSpace(*text) != f.Value {
			faults.Add(f.Name, apierr.Conflict, "must equal that in the path; omit it in the body")
		}
	}
	return faults.Err()
}

// identified returns the validated body with the fields of the path. Of a name that occurs twice the last one counts.
func (u *upsert[C, F, T]) identified(body []byte) ([]byte, error) {
	fields := make(map[string]string, len(u.key))
	for _, f := range u.key {
		fields[f.Name] = f.Value
	}
	key, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encode key of record: %w", err)
	}
	if len(body) == len("{}") {
		return key, nil
	}
	key[0] = ','
	return append(body[:len(body)-1:len(body)-1], key...), nil
}
