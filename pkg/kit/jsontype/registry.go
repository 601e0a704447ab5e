package jsontype

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// registry marks pointers as nullable. huma does not do so for UUIDs, for structs and for types that provide their own schema.
type registry struct {
	huma.Registry
	prefix string
	done   map[string]bool
}

// NewRegistry returns a schema registry whose references start with prefix, such as #/components/schemas/.
func NewRegistry(prefix string) huma.Registry {
	return &registry{Registry: huma.NewMapRegistry(prefix, SchemaName), prefix: prefix, done: map[string]bool{}}
}

// Schema implements [huma.Registry].
func (r *registry) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	known := len(r.Map())
	s := r.Registry.Schema(t, allowRef, hint)
	if len(r.Map()) > known {
		r.mend()
	}
	if s != nil && s.Ref == "" {
		pointersMayBeNull(t, s)
	}
	return s
}

// mend corrects the named schemas that are new.
func (r *registry) mend() {
	for name, named := range r.Map() {
		if r.done[name] {
			continue
		}
		r.done[name] = true
		if of := r.TypeFromRef(r.prefix + name); of != nil {
			pointersMayBeNull(of, named)
			if _, isRecord := reflect.PointerTo(of).MethodByName("RecordKey"); isRecord {
				r.ownBounds(of, named)
			}
		}
	}
}

// ownBounds gives the numbers of a record the bounds of their types alone. Those of tags are for what clients send, and can
// change.
func (r *registry) ownBounds(t reflect.Type, s *huma.Schema) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			if f.Type.Name() != "Meta" { // its bounds are no inputs
				r.ownBounds(f.Type, s)
			}
			continue
		}
		p := s.Properties[name]
		if p == nil || p.Type != huma.TypeInteger && p.Type != huma.TypeNumber {
			continue
		}
		own := r.Registry.Schema(f.Type, true, name)
		p.Minimum, p.Maximum, p.ExclusiveMinimum, p.ExclusiveMaximum = own.Minimum, own.Maximum, own.ExclusiveMinimum, own.ExclusiveMaximum
	}
}

func pointersMayBeNull(t reflect.Type, s *huma.Schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || s.Type != huma.TypeObject {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			pointersMayBeNull(f.Type, s)
			continue
		}
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
			MayBeNull(p)
		}
		if p.Nullable && len(p.Enum) > 0 && !slices.Contains(p.Enum, nil) {
			p.Enum = append(p.Enum, nil) // a schema allows only what its enum lists, also where null is a type
		}
		pointersMayBeNull(f.Type, p) // an anonymous object
	}
}

// typeNull is the type of null.
const typeNull = "null"

// MayBeNull makes a schema one that allows null. Of a named one, that is said where it is referred to, because generators of clients
// look for it there.
func MayBeNull(p *huma.Schema) {
	if p.Ref == "" {
		p.Nullable = true
		return
	}
	p.AnyOf, p.Ref = []*huma.Schema{{Ref: p.Ref}, {Type: typeNull}}, ""
}

// Resolve follows references, also of what may be null.
func Resolve(r huma.Registry, s *huma.Schema) (of *huma.Schema, null bool) {
	for {
		switch {
		case s != nil && s.Ref != "":
			s = r.SchemaFromRef(s.Ref)
		case s != nil && len(s.AnyOf) == 2 && s.AnyOf[1].Type == typeNull:
			s, null = s.AnyOf[0], true
		default:
			return s, null
		}
	}
}

// Description encodes a description with schemas: stable, indented JSON. The keyword patternDescription, which no specification has,
// gets the prefix of those.
func Description(v any) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode description: %w", err)
	}
	return append(bytes.ReplaceAll(raw, []byte(`"patternDescription": `), []byte(`"x-patternDescription": `)), '\n'), nil
}

// MarshalJSON implements [json.Marshaler]: the schemas by their names.
func (r *registry) MarshalJSON() ([]byte, error) { return json.Marshal(r.Map()) }
