package jsontype

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// registry marks pointers as nullable. huma does not do so for UUIDs and for types that provide their own schema.
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
		if p == nil || p.Ref != "" {
			continue
		}
		if f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
			p.Nullable = true
		}
		if p.Nullable && len(p.Enum) > 0 && !slices.Contains(p.Enum, nil) {
			p.Enum = append(p.Enum, nil) // a schema allows only what its enum lists, also where null is a type
		}
		pointersMayBeNull(f.Type, p) // an anonymous object
	}
}

// MarshalJSON implements [json.Marshaler]: the schemas by their names.
func (r *registry) MarshalJSON() ([]byte, error) { return json.Marshal(r.Map()) }
