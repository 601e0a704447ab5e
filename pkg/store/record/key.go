package record

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Key must be embedded first in every record; its columns are company_id and id, the primary key.
type Key struct {
	ID        uuid.UUID `json:"id" format:"uuid"`
	CompanyID tenant.ID `json:"companyId" format:"uuid"`
}

// RecordKey returns the key of a record that embeds it.
func (k *Key) RecordKey() *Key { return k }

// RecordID is the last segment of the record's URL.
func (k Key) RecordID() string { return k.ID.String() }

// TransformSchema implements [huma.SchemaTransformer] for every type that embeds the key. In responses and events all
// fields are required and unbounded, so that the limits of request bodies can change compatibly.
func (Key) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, p := range s.Properties {
		unbound(p)
	}
	return s
}

func unbound(s *huma.Schema) {
	s.Default, s.MinLength, s.MaxLength, s.Pattern, s.PatternDescription, s.MinItems, s.MaxItems, s.MaxProperties = nil, nil, nil, "", "", nil, nil, nil
	if s.Format == "email" || s.Format == "uri" {
		s.Format = ""
	}
	if s.Items != nil && s.Items.Ref == "" {
		unbound(s.Items)
	}
	if of, ok := s.AdditionalProperties.(*huma.Schema); ok && of.Ref == "" {
		unbound(of)
	}
}

// Record is a mutable record: a pointer to a struct that embeds [Key] and [Meta].
type Record interface {
	RecordKey() *Key
	RecordMeta() *Meta
}

// Deriver is a record that computes fields from others: those that responses show, and columns that only conditions and searches
// use. Tables call it after every read and before every write, lists after every read.
type Deriver interface{ Derive() }

// Derive calls the Deriver of v, a pointer to a record, if it is one.
func Derive(v any) {
	if d, ok := v.(Deriver); ok {
		d.Derive()
	}
}

// Normaliser is a record or an input that normalizes its own fields. It runs before every write.
type Normaliser interface{ Normalise() }

// Normalise normalizes v, a pointer to a struct of columns, before it is stored or compared: it trims strings, sets empty
// optional strings to null and nil slices and maps to empty ones, and calls the type's own [Normaliser].
func (p *Plan) Normalise(v any) {
	if n, ok := v.(Normaliser); ok {
		n.Normalise()
	}
	at := reflect.ValueOf(v).Elem()
	for i := range p.fields {
		f := at.FieldByIndex(p.fields[i].index)
		switch {
		case f.Type() == metadataType:
			f.Set(reflect.ValueOf(f.Interface().(Metadata).withoutEmpty())) //nolint:errcheck,forcetypeassert // by its type
		case f.Kind() == reflect.Slice && f.IsNil():
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		case f.Kind() == reflect.Map && f.IsNil():
			f.Set(reflect.MakeMap(f.Type()))
		case f.Kind() == reflect.String:
			f.SetString(strings.TrimSpace(f.String()))
		case f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.String && !f.IsNil():
			if text := strings.TrimSpace(f.Elem().String()); text == "" {
				f.SetZero()
			} else if text != f.Elem().String() {
				f.Set(reflect.New(f.Type().Elem()))
				f.Elem().SetString(text)
			}
		}
	}
}
