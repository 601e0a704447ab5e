package eventcatalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

// maxDepth ends types that contain themselves.
const maxDepth = 6

// schema is the part of JSON Schema that events use.
type schema struct {
	Ref         string `json:"$ref"`
	Type        any    `json:"type"`
	Format      string
	Description string
	Enum        []any
	Properties  map[string]schema
	Items       *schema
	MaxLength   *int
	Minimum     *float64
	Maximum     *float64
	Defs        map[string]schema `json:"$defs"`
}

// dataOf is the field data of the schema of an event.
func dataOf(raw []byte) (httpapi.Shape, error) {
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return httpapi.Shape{}, fmt.Errorf("read schema: %w", err)
	}
	return s.Properties["data"].shape(s.Defs, 0), nil
}

// shape describes a value as operations of the API describe theirs.
func (s schema) shape(defs map[string]schema, depth int) httpapi.Shape {
	doc := s.Description
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = defs[name]
	}
	out := httpapi.Shape{Format: s.Format, Doc: s.Description, MaxLength: s.MaxLength, Minimum: s.Minimum, Maximum: s.Maximum}
	if doc != "" {
		out.Doc = doc
	}
	switch t := s.Type.(type) {
	case string:
		out.Type = t
	case []any:
		for _, v := range t {
			if v == "null" {
				out.Nullable = true
			} else {
				out.Type = fmt.Sprint(v)
			}
		}
	}
	for _, v := range s.Enum {
		if v != nil {
			out.Enum = append(out.Enum, fmt.Sprint(v))
		}
	}
	if depth >= maxDepth {
		return out
	}
	if s.Items != nil {
		item := s.Items.shape(defs, depth+1)
		out.Item = &item
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		f := s.Properties[name].shape(defs, depth+1)
		f.Name = name
		out.Fields = append(out.Fields, f)
	}
	return out
}
