package jsontype

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

// PropertyNames is the keyword, in the extensions of a schema, that holds the [huma.Schema] of the keys of a map.
const PropertyNames = "propertyNames"

// KeysOf describes a map of strings whose keys are like rule, and returns s.
func KeysOf(s *huma.Schema, rule *huma.Schema) *huma.Schema {
	if s.Extensions == nil {
		s.Extensions = map[string]any{}
	}
	s.Extensions[PropertyNames] = rule
	return s
}

// IDOrNull is a parameter that is the id of a record or the word null.
type IDOrNull string

// Schema implements [huma.SchemaProvider].
func (IDOrNull) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: idOrNull, PatternDescription: "a UUID such as 0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55, or null"}
}

const idOrNull = `^(null|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`

// Sent reports whether the parameter was sent.
func (p IDOrNull) Sent() bool { return p != "" }

// ID returns the id, or nil for null and for a parameter that was not sent.
func (p IDOrNull) ID() *uuid.UUID {
	id, err := uuid.Parse(string(p))
	if err != nil {
		return nil
	}
	return &id
}
