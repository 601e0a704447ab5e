package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Operations of an item of a batch.
const (
	opCreate = "create"
	opUpdate = "update"
	opUpsert = "upsert"
	opDelete = "delete"
)

// BatchItem is an item of a batch. Clients send all of it but New.
type BatchItem struct {
	Op         string          `json:"op"` // create, update, upsert or delete
	ID         *uuid.UUID      `json:"id,omitempty"`
	SKU        string          `json:"sku,omitempty"`
	Source     string          `json:"source,omitempty"`
	ExternalID string          `json:"externalId,omitempty"`
	Body       json.RawMessage `json:"body,omitempty"`
	New        map[string]any  `json:"-"` // fields that the body lacks for a record that the item creates; one that exists keeps its own
}

func (i BatchItem) id() *string {
	if i.ID == nil {
		return nil
	}
	id := i.ID.String()
	return &id
}

// changes reports whether the item is about a record that exists.
func (i BatchItem) changes() bool { return i.Op == opUpdate || i.Op == opDelete }

// check checks what names the record of an item, and whether it has the body that its operation needs; identified says that records
// have external ids.
func (i BatchItem) check(identified bool) error {
	var faults apierr.Fields
	external := i.Source != "" || i.ExternalID != ""
	switch {
	case i.Source == "" && external:
		faults.Add("source", apierr.Required, "is required with externalId: it names the system that the id belongs to")
	case i.ExternalID == "" && external:
		faults.Add("externalId", apierr.Required, "is required with source")
	case i.changes() && i.ID != nil && external:
		faults.Add("externalId", apierr.Conflict, "cannot be combined with id; a new external id belongs into body")
	case !i.changes() && i.ID != nil:
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

// itemChange makes the change of an item. It returns the id of the record, if it has one, the status of success and the effect.
type itemChange func(context.Context, *db.Tx) (BatchResult, error)

// itemParser validates the items of one batch and makes their changes.
type itemParser[F, T any] struct {
	Writes[F, T]
	reg     huma.Registry
	by      access.Caller
	strict  bool
	ignored []string // unknown fields of the item
}

// parse validates an item and returns its change.
func (p *itemParser[F, T]) parse(item BatchItem) (itemChange, error) {
	if err := item.check(p.FindExternal != nil); err != nil {
		return nil, err
	}
	switch item.Op {
	case opCreate:
		create, err := p.creation(item)
		return changeOf(create), err
	case opUpdate:
		update, err := p.update(item)
		return changeOf(func(ctx context.Context, tx *db.Tx) (v T, status int, err error) {
			id, err := p.record(ctx, tx, item)
			if err != nil {
				return v, 0, err
			}
			return update(ctx, tx, id)
		}), err
	case opDelete:
		ignored, err := binding.BindNone("body", item.Body, p.strict)
		p.ignored = ignored
		return changeOf(func(ctx context.Context, tx *db.Tx) (v T, status int, err error) {
			id, err := p.record(ctx, tx, item)
			if err != nil {
				return v, 0, err
			}
			v, err = p.Delete(ctx, tx, p.by, id)
			return v, http.StatusOK, err
		}), err
	}
	create, invalid := p.creation(item)
	update, err := p.update(item)
	return changeOf(func(ctx context.Context, tx *db.Tx) (v T, status int, err error) {
		id, err := p.record(ctx, tx, item)
		switch missing, ok := apierr.As(err); {
		case err == nil:
			return update(ctx, tx, id)
		case !ok || missing.Status != http.StatusNotFound:
			return v, 0, err
		case invalid != nil:
			return v, 0, invalid
		}
		return create(ctx, tx)
	}), err
}

// changeOf hides the type of the record.
func changeOf[T any](change func(context.Context, *db.Tx) (T, int, error)) itemChange {
	return func(ctx context.Context, tx *db.Tx) (BatchResult, error) {
		v, status, err := change(ctx, tx)
		if err != nil {
			return BatchResult{}, err
		}
		made := BatchResult{Status: status}
		if of, ok := any(v).(Identified); ok {
			text := of.RecordID()
			made.ID = &text
		}
		if of, ok := any(v).(Hideable); ok {
			made.Hidden = of.IsHidden()
		}
		if of, ok := any(&v).(interface{ RecordMeta() *record.Meta }); ok {
			meta := of.RecordMeta()
			made.Effect = effectOn(meta, tx.Now())
			if meta.Version > 0 { // one that was removed has none
				made.Version = &meta.Version
			}
		}
		return made, nil
	}
}

// record returns the id of the record that an item names; 404 if there is none.
func (p *itemParser[F, T]) record(ctx context.Context, tx *db.Tx, item BatchItem) (uuid.UUID, error) {
	switch {
	case item.ID != nil:
		return *item.ID, nil
	case item.ExternalID == "":
		return p.Find(ctx, tx, p.by.Company, item.SKU)
	}
	id, err := p.FindExternal(ctx, tx, p.by.Company, item.Source, item.ExternalID)
	if err != nil {
		return uuid.Nil, err
	}
	if id == nil {
		return uuid.Nil, apierr.New(http.StatusNotFound, "EXTERNAL_ID_NOT_FOUND", fmt.Sprintf("no record of this kind has the externalId %s from %s", item.ExternalID, item.Source))
	}
	return *id, nil
}

// creation is the change of an item that creates its record. The SKU of the item is that of the record.
func (p *itemParser[F, T]) creation(item BatchItem) (func(context.Context, *db.Tx) (T, int, error), error) {
	var in F
	if err := p.bind(item, binding.InputSchema, item.New, &in); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (T, int, error) {
		v, err := p.Create(ctx, tx, p.by, in)
		return v, p.Created, underBody(err)
	}, nil
}

func (p *itemParser[F, T]) update(item BatchItem) (func(context.Context, *db.Tx, uuid.UUID) (T, int, error), error) {
	item.SKU, item.Source, item.ExternalID = "", "", "" // a change keeps them, unless the body has others
	var in record.Patch[F]
	if err := p.bind(item, binding.PatchSchema, nil, &in); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx, id uuid.UUID) (T, int, error) {
		v, err := p.Update(ctx, tx, p.by, id, in)
		return v, http.StatusOK, underBody(err)
	}, nil
}

// bind validates the body of an item and decodes it, with the values of fields that it lacks.
func (p *itemParser[F, T]) bind(item BatchItem, schema func(huma.Registry, reflect.Type) *huma.Schema, lacking map[string]any, into any) error {
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
		for name, value := range lacking {
			if _, sent := body[name]; !sent {
				body[name] = value
			}
		}
	}
	ignored, err := binding.BindPart(p.reg, "body", schema(p.reg, reflect.TypeFor[F]()), tree, faults, p.strict, into)
	p.ignored = append(p.ignored, ignored...)
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
