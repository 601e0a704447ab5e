package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Limits of a batch; see docs/reference/limits.md#request-size and docs/reference/limits.md#rate-limits.
const (
	maxBatchItems  = 1000
	maxInRequest   = 200 // items that are made within the request; more of them become a job
	batchItemsCost = 10  // items that cost as much as one request
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

	Resource string // name of the records for jobs and imports; default the last segment of the path before /batch
}

// FindBySKU returns the id of the record with a SKU; if there is none, 404 <ENTITY>_NOT_FOUND.
type FindBySKU func(ctx context.Context, q db.Querier, company tenant.ID, sku string) (uuid.UUID, error)

// batchBody is the body of a batch. Its schema is made by [Writes.schema], which knows the bodies of the items.
type batchBody struct {
	Items []BatchItem `json:"items"`
}

// SetBodies implements [binding.Items].
func (b *batchBody) SetBodies(bodies []json.RawMessage) {
	for i := range b.Items {
		b.Items[i].Body = bodies[i]
	}
}

// BatchResults is the response of a batch.
type BatchResults struct {
	Results []BatchResult `json:"results" doc:"one result per item, in the order of the items"`

	job *job.Record // in place of the results
}

// Encodable returns what the response shows.
func (r BatchResults) Encodable() (any, error) {
	if r.job != nil {
		return r.job, nil
	}
	return r, nil
}

// BatchResult is the result of one item.
type BatchResult struct {
	Index   int            `json:"index" doc:"position of the item, from 0"`
	Status  int            `json:"status" doc:"the status that the item would have had as a request of its own"`
	ID      *string        `json:"id" format:"uuid" doc:"of the record; null if there is none"`
	Version *int64         `json:"version,omitempty" doc:"of the record after the item; absent if the item failed or its record is gone"`
	Hidden  bool           `json:"hidden,omitempty" doc:"the record is hidden; send status active to show it again"`
	Code    string         `json:"code,omitempty" doc:"error code of an item that failed"`
	Message string         `json:"message,omitempty" doc:"what is wrong, for developers"`
	Errors  []apierr.Field `json:"errors,omitempty" doc:"only for 400; field is a path in the item"`
	Meta    map[string]any `json:"meta,omitempty" doc:"details of an error; the keys depend on code"`

	Effect Effect `json:"-"`
}

// Effect is what an item has done to its record.
type Effect string

// Effects of items.
const (
	Created   Effect = "create"
	Updated   Effect = "update"
	Unchanged Effect = "unchanged"
)

// effectOn tells by its times what a transaction has done to a record.
func effectOn(m *record.Meta, now time.Time) Effect {
	switch at := jsontype.At(now); {
	case m.UpdatedAt != at:
		return Unchanged
	case m.CreatedAt == at:
		return Created
	}
	return Updated
}

// Batch adds a POST that creates and changes up to 1 000 records. An item that fails does not affect the others, and the response has
// the result of every item; see docs/reference/conventions.md#batches. The bodies of the items are those of [Create] and [Update].
// More than 200 items become a job, whose result has these results.
//
// With an idempotency key, each item leaves a marker in its transaction. A repeat of a batch that was interrupted takes the
// results of the items with markers and continues with the others; see docs/reference/idempotency.md#batches.
func Batch[F, T any](r *Routes, at, id, summary string, w Writes[F, T], edits ...Edit) {
	op := r.op(http.MethodPost, at, id, summary, http.StatusOK, append([]Edit{func(op *Op) {
		op.MaxBody, op.body, op.OneTx, op.StartsJob = BatchMaxBody, w.schema, false, true
	}}, edits...))
	w.Created = cmp.Or(w.Created, http.StatusCreated)
	w.Resource = cmp.Or(w.Resource, path.Base(strings.TrimSuffix(op.Path, "/batch")))
	s := addBatch(r, op, w)
	Register(r.api, op, func(ctx context.Context, in *struct {
		Call
		Body batchBody
	},
	) (*Reply[BatchResults], error) {
		items := in.Body.Items
		if err := in.req.charge((len(items)+batchItemsCost-1)/batchItemsCost - 1); err != nil {
			return nil, err
		}
		in.Caller = in.Unconditional() // one version cannot be that of all records
		if len(items) > maxInRequest {
			return s.accept(ctx, &in.Call, items)
		}
		return s.answer(ctx, &in.Call, items)
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
