package record

import (
	"maps"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// External is embedded in the settable fields of records that integrations synchronize with other systems; see
// docs/reference/conventions.md#external-ids. Its columns are source, external_id and metadata.
type External struct {
	Source     *string `json:"source" maxLength:"255" doc:"system that externalId belongs to, or where the record comes from"`
	ExternalID *string `json:"externalId" minLength:"1" maxLength:"255" doc:"id in the system named by source; unique per company and source"`
	Tagged
}

// Tagged is embedded in records that integrations keep data with; its column is metadata.
type Tagged struct {
	Metadata Metadata `json:"metadata" null:"zero" maxProperties:"50" doc:"data of integrations by key; a change sets the keys that are sent, an empty value removes its key, null removes all"`
}

// Limits of metadata, in characters and keys; see docs/reference/conventions.md#metadata.
const (
	MaxMetadataKeys  = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// Metadata is data that integrations keep with a record, by key.
type Metadata map[string]string

// TransformSchema implements [huma.SchemaTransformer].
func (Metadata) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	value, least, key := maxMetadataValue, 1, maxMetadataKey
	s.AdditionalProperties = &huma.Schema{Type: huma.TypeString, MaxLength: &value}
	return jsontype.KeysOf(s, &huma.Schema{
		Type: huma.TypeString, MinLength: &least, MaxLength: &key, Pattern: `^[^\[\]]+$`, PatternDescription: "text of at most 40 characters without brackets",
	})
}

// mergedWith returns the metadata after a change that sent m: keys that were not sent stay. nil removes all.
func (m Metadata) mergedWith(before Metadata) Metadata {
	if m == nil {
		return Metadata{}
	}
	merged := Metadata{}
	maps.Copy(merged, before)
	maps.Copy(merged, m)
	return merged
}

// withoutEmpty drops keys without a value.
func (m Metadata) withoutEmpty() Metadata {
	kept := make(Metadata, len(m))
	for key, value := range m {
		if value != "" {
			kept[key] = value
		}
	}
	return kept
}

var metadataType = reflect.TypeFor[Metadata]()

// Check returns a fault if a rule is broken that holds for a record as a whole, not for the body of one request.
func (p *Plan) Check(v any) error {
	i, ok := p.byName["metadata"]
	if !ok || p.fields[i].typ != metadataType {
		return nil
	}
	if n := reflect.ValueOf(v).Elem().FieldByIndex(p.fields[i].index).Len(); n > MaxMetadataKeys {
		return apierr.InvalidField("metadata", apierr.Max, "the record would have %d keys, which exceeds %d; remove keys by sending them with an empty value", n, MaxMetadataKeys)
	}
	return nil
}

// Identifies reports whether records of the plan have an external id.
func (p *Plan) Identifies() bool {
	column, _, _, ok := p.Field("externalId")
	return ok && column == "external_id"
}
