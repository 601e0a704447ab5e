package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Limits of a batch; see docs/reference/limits.md#request-size and docs/reference/limits.md#rate-limits.
const (
	maxBatchItems  = 200
	batchItemsCost = 10 // items that cost as much as one request
)

// Writes are the changes that the items of a batch can make; a nil one is not supported.
type Writes[F, T any] struct {
	Create  func(context.Context, *db.Tx, access.Caller, F) (T, error)
	Update  func(context.Context, *db.Tx, access.Caller, uuid.UUID, record.Patch[F]) (T, error)
	Find    FindBySKU // for items that name their record by SKU; allows upsert
	Created int       // status of an item that Create has stored; default 201

	FindExternal FindExternal // for items that name their record by its external id; allows upsert
	// Delete deletes or hides a record.
	Delete func(context.Context, *db.Tx, access.Caller, uuid.UUID) (T, error)
}

// FindBySKU returns the id of the record with a SKU; if there is none, 404 <ENTITY>_NOT_FOUND.
type FindBySKU func(ctx context.Context, q db.Querier, company tenant.ID, sku string) (uuid.UUID, error)

// Operations of an item of a batch.
const (
	opCreate = "create"
	opUpdate = "update"
	opUpsert = "upsert"
	opDelete = "delete"
)

// batchBody is the body of a batch. Its schema is made by [Writes.schema], which knows the bodies of the items.
type batchBody struct {
	Items []batchItem `json:"items"`
}

type batchItem struct {
	Op   string          `json:"op"`
	ID   *uuid.UUID      `json:"id"`
	SKU  string          `json:"sku"`
	Body json.RawMessage `json:"body"`

	Source     string `json:"source"`
	ExternalID string `json:"externalId"`
}

// BatchResults is the response of a batch.
type BatchResults struct {
	Results []BatchResult `json:"results" doc:"one result per item, in the order of the items"`
}

// BatchResult is the result of one item.
type BatchResult struct {
	Index   int            `json:"index" doc:"position of the item, from 0"`
	Status  int            `json:"status" doc:"the status that the item would have had as a request of its own"`
	ID      *string        `json:"id" format:"uuid" doc:"of the record; null if there is none"`
	Code    string         `json:"code,omitempty" doc:"error code of an item that failed"`
	Message string         `json:"message,omitempty" doc:"what is wrong, for developers"`
	Errors  []apierr.Field `json:"errors,omitempty" doc:"only for 400; field is a path in the item"`
	Meta    map[string]any `json:"meta,omitempty" doc:"details of an error; the keys depend on code"`
}

// Batch adds a POST that creates and changes up to 200 records, each in a transaction of its own: an item that fails does not
// affect the others. The response has the result of every item; see docs/reference/conventions.md#batches. The bodies of the
// items are those of [Create] and [Update].
//
// With an idempotency key, each item leaves a marker in its transaction. A repeat of a batch that was interrupted takes the
// results of the items with markers and continues with the others; see docs/reference/idempotency.md#batches.
func Batch[F, T any](r *Routes, path, id, summary string, w Writes[F, T], edits ...Edit) {
	op := r.op(http.MethodPost, path, id, summary, http.StatusOK, append([]Edit{func(op *Op) { op.MaxBody, op.body, op.OneTx = BatchMaxBody, w.schema, false }}, edits...))
	if w.Created == 0 {
		w.Created = http.StatusCreated
	}
	Register(r.api, op, func(ctx context.Context, in *struct {
		Call
		Body batchBody
	},
	) (*Reply[BatchResults], error) {
		if err := in.req.charge((len(in.Body.Items)+batchItemsCost-1)/batchItemsCost - 1); err != nil {
			return nil, err
		}
		in.Caller = in.Unconditional() // one version cannot be that of all records
		results, err := (&batch[F, T]{Writes: w, routes: r, op: op, call: &in.Call}).run(ctx, in.Body.Items)
		return OK(BatchResults{results}), err
	})
}

func (w Writes[F, T]) ops() []any {
	var ops []any
	if w.Create != nil {
		ops = append(ops, opCreate)
	}
	if w.Update != nil {
		ops = append(ops, opUpdate)
	}
	if w.Find != nil || w.FindExternal != nil {
		ops = append(ops, opUpsert)
	}
	if w.Delete != nil {
		ops = append(ops, opDelete)
	}
	return ops
}

// schema describes the body. An item is validated against the schema of its own body later, so that a fault concerns the item
// only.
func (w Writes[F, T]) schema(reg huma.Registry) *huma.Schema {
	closed := func(s *huma.Schema) *huma.Schema {
		s.Type, s.AdditionalProperties = huma.TypeObject, false
		s.PrecomputeMessages()
		return s
	}
	ops := w.ops()
	item := &huma.Schema{Required: []string{"body"}, Properties: map[string]*huma.Schema{
		"op":   {Type: huma.TypeString, Enum: ops, Description: "upsert changes the record with the SKU or the external id, or creates it"},
		"body": w.itemSchema(reg),
	}}
	if len(ops) == 1 {
		item.Properties["op"].Default = ops[0]
		item.Properties["op"].Description = ""
	} else {
		item.Required = []string{"op", "body"}
	}
	if w.Delete != nil {
		item.Required = []string{"op"} // item.check knows which need a body
	}
	if w.Update != nil {
		item.Properties["id"] = &huma.Schema{Type: huma.TypeString, Format: "uuid", Nullable: true, Description: "of the record to change"}
	}
	if w.Find != nil {
		one, most := 1, 64
		item.Properties["sku"] = &huma.Schema{
			Type: huma.TypeString, MinLength: &one, MaxLength: &most,
			Description: "of the record to change, in place of id; of a record to create, in place of sku in body",
		}
	}
	if w.FindExternal != nil {
		least, longest := 1, 255
		for name, text := range map[string]string{"source": "system that externalId belongs to", "externalId": "of the record, in place of id; of a record to create, in place of externalId in body"} {
			item.Properties[name] = &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &longest, Description: text}
		}
	}
	one, most := 1, maxBatchItems
	return closed(&huma.Schema{Required: []string{"items"}, Properties: map[string]*huma.Schema{
		"items": {Type: huma.TypeArray, Items: closed(item), MinItems: &one, MaxItems: &most},
	}})
}

func (w Writes[F, T]) itemSchema(reg huma.Registry) *huma.Schema {
	s := &huma.Schema{Description: "as in the operation that creates or changes a single record"}
	if w.Create != nil {
		s.AnyOf = append(s.AnyOf, binding.InputSchema(reg, reflect.TypeFor[F]()))
	}
	if w.Update != nil {
		s.AnyOf = append(s.AnyOf, binding.PatchSchema(reg, reflect.TypeFor[F]()))
	}
	return s
}

// batch runs the items of one request.
type batch[F, T any] struct {
	Writes[F, T]
	routes  *Routes
	op      Op
	call    *Call
	ignored []string // unknown fields of all items
}

func (b *batch[F, T]) run(ctx context.Context, items []batchItem) ([]BatchResult, error) {
	done, err := b.done(ctx, len(items))
	if err != nil {
		return nil, err
	}
	results := make([]BatchResult, len(items))
	var down *BatchResult // of an item that failed because the platform cannot work now
	for i, item := range items {
		switch stored, ok := done[i]; {
		case ok:
			results[i] = stored
		case down != nil:
			results[i] = BatchResult{Index: i, Status: down.Status, ID: item.id(), Code: down.Code, Message: "the item was not attempted, because the one before failed; send it again"}
		default:
			results[i], err = b.item(ctx, i, item)
			if err != nil {
				return nil, err
			}
			if s := results[i].Status; s == http.StatusServiceUnavailable || s == http.StatusGatewayTimeout {
				down = &results[i]
			}
		}
		if results[i].Status >= http.StatusInternalServerError {
			b.call.claim.Incomplete()
		}
	}
	b.call.req.showIgnored(b.ignored)
	return results, nil
}

// done returns the results of those of the first items that earlier requests with the same key have made, by index.
func (b *batch[F, T]) done(ctx context.Context, count int) (map[int]BatchResult, error) {
	stored, err := b.call.claim.DoneItems(ctx, b.routes.db, count)
	if err != nil {
		return nil, err
	}
	done := make(map[int]BatchResult, len(stored))
	for _, raw := range stored {
		var result BatchResult
		if err := json.Unmarshal(raw, &result); err != nil {
			return nil, fmt.Errorf("decode the stored result of an item: %w", err)
		}
		done[result.Index] = result
	}
	return done, nil
}

// item makes the change of one item, or finds that another request with the same key has made it.
func (b *batch[F, T]) item(ctx context.Context, index int, item batchItem) (BatchResult, error) {
	result := BatchResult{Index: index, ID: item.id()}
	change, err := b.parse(index, item)
	for attempt := 0; err == nil; attempt++ {
		err = b.routes.db.RunTx(ctx, b.op.ID, func(ctx context.Context, tx *db.Tx) error {
			v, status, err := change(ctx, tx)
			if err != nil {
				return err
			}
			result.Status = status
			if of, ok := any(v).(Identified); ok {
				id := of.RecordID()
				result.ID = &id
			}
			raw, err := jsontype.Marshal(result)
			b.call.claim.StoreItemIn(tx, index, status, raw)
			return err
		}, append(b.call.claim.ItemTxOptions(index), b.routes.tx...)...)
		if attempt > 0 || item.Op != opUpsert || !overtaken(err, false) {
			break
		}
		err = nil // another request may have created the record: look again
	}
	if errors.Is(err, idempotency.ErrItemDone) {
		done, err := b.done(ctx, index+1)
		if err != nil {
			return result, err
		}
		return done[index], nil
	}
	if err != nil {
		b.fail(&result, item, err) //nolint:contextcheck // the request has its own
	}
	return result, nil
}

func (b *batch[F, T]) fail(result *BatchResult, item batchItem, err error) {
	f := b.call.req.api.server.FaultOf(b.call.req.fc, err)
	listed, _ := transport.ListedFaults(f.Fields)
	texts := []string{f.Message}
	if len(listed) > 0 {
		texts = nil
	}
	for _, field := range listed {
		texts = append(texts, field.Message)
	}
	result.ID, result.Status, result.Code, result.Message, result.Errors, result.Meta = item.id(), f.Status, f.Code, strings.Join(texts, "; "), listed, f.Meta
}

func (i batchItem) id() *string {
	if i.ID == nil {
		return nil
	}
	id := i.ID.String()
	return &id
}

// itemChange makes the change of an item and returns the status of success.
type itemChange[T any] func(context.Context, *db.Tx) (T, int, error)

// parse validates an item and returns its change.
func (b *batch[F, T]) parse(index int, item batchItem) (itemChange[T], error) {
	if err := item.check(b.FindExternal != nil); err != nil {
		return nil, err
	}
	switch item.Op {
	case opCreate:
		return b.creation(index, item)
	case opUpdate:
		update, err := b.update(index, item)
		return func(ctx context.Context, tx *db.Tx) (v T, status int, err error) {
			id, err := b.record(ctx, tx, item)
			if err != nil {
				return v, 0, err
			}
			return update(ctx, tx, id)
		}, err
	case opDelete:
		return func(ctx context.Context, tx *db.Tx) (v T, status int, err error) {
			id, err := b.record(ctx, tx, item)
			if err != nil {
				return v, 0, err
			}
			v, err = b.Delete(ctx, tx, b.call.Caller, id)
			return v, http.StatusOK, err
		}, nil
	}
	create, invalid := b.creation(index, item)
	update, err := b.update(index, item)
	return func(ctx context.Context, tx *db.Tx) (v T, status int, err error) {
		id, err := b.record(ctx, tx, item)
		switch missing, ok := apierr.As(err); {
		case err == nil:
			return update(ctx, tx, id)
		case !ok || missing.Status != http.StatusNotFound:
			return v, 0, err
		case invalid != nil:
			return v, 0, invalid
		}
		return create(ctx, tx)
	}, err
}

// check checks what names the record of an item, and whether it has the body that its operation needs; identified says that records
// have external ids.
func (i batchItem) check(identified bool) error {
	var faults apierr.Fields
	external := i.Source != "" || i.ExternalID != ""
	switch {
	case i.Source == "" && external:
		faults.Add("source", apierr.Required, "is required with externalId: it names the system that the id belongs to")
	case i.ExternalID == "" && external:
		faults.Add("externalId", apierr.Required, "is required with source")
	case i.changes() && i.ID != nil && external:
		faults.Add("externalId", apierr.Conflict, "cannot be combined with id; a new external id belongs into body")
	case i.Op != opUpdate && i.Op != opDelete && i.ID != nil:
		faults.Add("id", apierr.Conflict, "must be omitted, except to update or delete a record")
	case i.changes() && i.ID == nil && i.SKU == "" && !external:
		faults.Add("id", apierr.Required, "is required to %s a record", i.Op)
	case i.changes() && i.ID != nil && i.SKU != "":
		faults.Add("sku", apierr.Conflict, "cannot be combined with id; a new SKU belongs into body")
	case i.Op == opUpsert && i.SKU == "" && !external && identified:
		faults.Add("externalId", apierr.Required, "is required, with source, or sku where the operation has it: it decides whether a record is changed or created")
	case i.Op == opUpsert && i.SKU == "" && !external:
		faults.Add("sku", apierr.Required, "is required: it decides whether a record is changed or created")
	case i.Op != opCreate && i.SKU != "" && external:
		faults.Add("sku", apierr.Conflict, "cannot be combined with externalId; the SKU belongs into body")
	}
	if i.Op != opDelete && len(i.Body) == 0 {
		faults.Add("body", apierr.Required, "is required to %s a record", i.Op)
	}
	return faults.Err()
}

// changes reports whether the item is about a record that exists.
func (i batchItem) changes() bool { return i.Op == opUpdate || i.Op == opDelete }

// record returns the id of the record that an item names; 404 if there is none.
func (b *batch[F, T]) record(ctx context.Context, tx *db.Tx, item batchItem) (uuid.UUID, error) {
	switch {
	case item.ID != nil:
		return *item.ID, nil
	case item.ExternalID == "":
		return b.Find(ctx, tx, b.call.Company, item.SKU)
	}
	id, err := b.FindExternal(ctx, tx, b.call.Company, item.Source, item.ExternalID)
	if err != nil {
		return uuid.Nil, err
	}
	if id == nil {
		return uuid.Nil, apierr.New(http.StatusNotFound, "EXTERNAL_ID_NOT_FOUND", fmt.Sprintf("no record of this kind has the externalId %s from %s", item.ExternalID, item.Source))
	}
	return *id, nil
}

// creation is the change of an item that creates its record. The SKU of the item is that of the record.
func (b *batch[F, T]) creation(index int, item batchItem) (itemChange[T], error) {
	var in F
	if err := b.bind(index, item, binding.InputSchema, &in); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (T, int, error) {
		v, err := b.Create(ctx, tx, b.call.Caller, in)
		return v, b.Created, underBody(err)
	}, nil
}

func (b *batch[F, T]) update(index int, item batchItem) (func(context.Context, *db.Tx, uuid.UUID) (T, int, error), error) {
	item.SKU, item.Source, item.ExternalID = "", "", "" // a change keeps them, unless the body has others
	var in record.Patch[F]
	if err := b.bind(index, item, binding.PatchSchema, &in); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx, id uuid.UUID) (T, int, error) {
		v, err := b.Update(ctx, tx, b.call.Caller, id, in)
		return v, http.StatusOK, underBody(err)
	}, nil
}

// bind validates the body of an item and decodes it.
func (b *batch[F, T]) bind(index int, item batchItem, schema func(huma.Registry, reflect.Type) *huma.Schema, into any) error {
	defer b.call.req.processing()()
	tree, err := binding.Parse(item.Body)
	if err != nil {
		return fmt.Errorf("parse the body of an item: %w", err) // it was valid as a part of the request
	}
	var faults apierr.Fields
	if body, ok := tree.(map[string]any); ok {
		for _, of := range [...]struct{ name, value string }{{"sku", item.SKU}, {"source", item.Source}, {"externalId", item.ExternalID}} {
			if of.value == "" {
				continue
			}
			if own, sent := body[of.name]; sent && own != of.value {
				faults.Add("body."+of.name, apierr.Conflict, "must equal the %s of the item; send one of them", of.name)
			}
			body[of.name] = of.value
		}
	}
	reg := b.routes.api.desc.Components.Schemas
	ignored, err := binding.BindPart(reg, "body", schema(reg, reflect.TypeFor[F]()), tree, faults, b.call.req.handling() == binding.Strict, into)
	for _, name := range ignored {
		if len(b.ignored) <= apierr.MaxListed {
			b.ignored = append(b.ignored, fmt.Sprintf("items[%d].%s", index, name))
		}
	}
	return err
}

// underBody makes the fields of a fault paths in the item.
func underBody(err error) error {
	f, ok := apierr.As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	moved := *f
	moved.Fields = make([]apierr.Field, len(f.Fields))
	for i, field := range f.Fields {
		moved.Fields[i] = apierr.Field{Field: "body." + field.Field, Code: field.Code, Message: "body." + field.Message}
	}
	return &moved
}
