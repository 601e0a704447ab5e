package event

import (
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

const definitions = "#/$defs/"

// Schema returns the JSON Schema of the event's envelope.
func (t Type) Schema() ([]byte, error) {
	registry := jsontype.NewRegistry(definitions)
	s := t.envelope(registry)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	jsontype.AllowMore(registry.Map())
	s["$defs"] = registry.Map()
	return jsontype.Description(s)
}

// envelope is the schema of the event's envelope; the types of data are in the registry.
func (t Type) envelope(registry huma.Registry) map[string]any {
	data := t.dataSchema(registry)
	jsontype.AllowMore(map[string]*huma.Schema{"data": data})
	return map[string]any{
		"title": t.Name, "description": t.Description, "type": "object",
		"required": []string{"event", "companyId", "occurredAt", "actorId", "data", "eventId"},
		"properties": map[string]any{
			"event":      map[string]any{"const": t.Name},
			"companyId":  map[string]any{"type": "string", "format": "uuid"},
			"occurredAt": map[string]any{"type": "string", "format": "date-time"},
			"actorId":    map[string]any{"type": "string", "description": "id of a user or of a token's technical user, or system"},
			"data":       data,
			"eventId":    map[string]any{"type": "string", "format": "uuid", "description": "the same for all subscriptions, attempts and redeliveries"},
		},
	}
}

// Example returns the recorded envelope of an event. One that was not recorded yet gets a sample that satisfies the schema.
func (r *Registry) Example(t Type) ([]byte, error) {
	if r.Recorded != nil {
		raw, err := fs.ReadFile(r.Recorded, t.Name+".example.json")
		if !errors.Is(err, fs.ErrNotExist) {
			return raw, err
		}
	}
	return t.Example()
}

// Example returns a sample envelope that satisfies the schema. It is deterministic.
func (t Type) Example() ([]byte, error) { return jsontype.Description(t.example()) }

func (t Type) example() map[string]any {
	registry := jsontype.NewRegistry(definitions)
	data := t.dataSchema(registry)
	return map[string]any{
		"event": t.Name, "companyId": sampleUUID, "occurredAt": sampleTime, "actorId": sampleUUID, "eventId": sampleUUID,
		"data": sample(registry, data, "", 0),
	}
}

// dataSchema is the schema of data: that of the record plus the fields that the event adds.
func (t Type) dataSchema(registry huma.Registry) *huma.Schema {
	data := registry.Schema(t.Data, true, t.Name)
	if t.Extra == nil {
		return data
	}
	for data.Ref != "" {
		data = registry.SchemaFromRef(data.Ref)
	}
	extra := registry.Schema(t.Extra, false, t.Name)
	both := &huma.Schema{
		Type: huma.TypeObject, Properties: maps.Clone(data.Properties), AdditionalProperties: data.AdditionalProperties,
		Required: slices.Concat(data.Required, extra.Required),
	}
	maps.Copy(both.Properties, extra.Properties)
	return both
}

// fieldsOf keeps what Fields has found, by the types of data: each subscription with a filter asks for it.
var fieldsOf sync.Map

// Fields are the names of the fields that data can have, those of an envelope that was too large included. Nobody changes them.
func (t Type) Fields() []string {
	types := [2]reflect.Type{t.Data, t.Extra}
	if known, ok := fieldsOf.Load(types); ok {
		return known.([]string) //nolint:errcheck,forcetypeassert // only Fields stores
	}
	registry := jsontype.NewRegistry(definitions)
	data := t.dataSchema(registry)
	for data.Ref != "" {
		data = registry.SchemaFromRef(data.Ref)
	}
	fields := append(slices.Sorted(maps.Keys(data.Properties)), "truncated")
	fieldsOf.Store(types, fields)
	return fields
}

const (
	sampleUUID = "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"
	sampleTime = "2026-11-20T09:30:00.000Z"
)

// sample returns a value that satisfies the schema.
func sample(r huma.Registry, s *huma.Schema, name string, depth int) any {
	s, _ = jsontype.Resolve(r, s)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case depth > 6:
		return nil
	}
	switch s.Type {
	case huma.TypeObject:
		return sampleObject(r, s, depth)
	case huma.TypeArray:
		return []any{sample(r, s.Items, name, depth+1)}
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil && *s.Minimum > 0 {
			return *s.Minimum
		}
		return 1
	case huma.TypeBoolean:
		return false
	case huma.TypeString:
		return sampleText(s.Format, name)
	}
	return nil
}

func sampleObject(r huma.Registry, s *huma.Schema, depth int) any {
	out := map[string]any{}
	if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
		out["en"] = sample(r, of, "en", depth+1)
	}
	for name, p := range s.Properties {
		if slices.Contains(s.Required, name) {
			out[name] = sample(r, p, name, depth+1)
		}
	}
	return out
}

func sampleText(format, name string) string {
	switch format {
	case "uuid":
		return sampleUUID
	case "date-time":
		return sampleTime
	case "date":
		return sampleTime[:len("2026-11-20")]
	case "email":
		return "name@example.com"
	}
	return name
}
