package binding

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Suffixes of body schemas, for example ClientInput for a new record, with required fields and defaults, and
// ClientPatch for a change, without either.
const (
	inputSuffix = "Input"
	patchSuffix = "Patch"
)

// patchFields returns the struct type of the fields of a [record.Patch], or nil for another type.
func patchFields(t reflect.Type) reflect.Type {
	if p, ok := reflect.Zero(t).Interface().(interface{ Fields() reflect.Type }); ok {
		return p.Fields()
	}
	return nil
}

// InputSchema describes the body of a new record with the fields of struct t.
func InputSchema(reg huma.Registry, t reflect.Type) *huma.Schema {
	return derivedBody(reg, t, inputSuffix)
}

// PatchSchema describes the body of a change of these fields.
func PatchSchema(reg huma.Registry, t reflect.Type) *huma.Schema {
	return derivedBody(reg, t, patchSuffix)
}

// derivedBody describes a body with the fields of struct t under a name of its own.
func derivedBody(reg huma.Registry, t reflect.Type, suffix string) *huma.Schema {
	name := bodyName(t, suffix)
	ref := &huma.Schema{Ref: "#/components/schemas/" + name}
	if reg.Map()[name] != nil {
		return ref
	}
	record.CheckTags(t)
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	addProperties(reg, s, t, suffix == patchSuffix)
	s.PrecomputeMessages()
	reg.Map()[name] = s
	return ref
}

func bodyName(t reflect.Type, suffix string) string {
	stem := jsontype.SchemaName(t, "")
	for _, end := range []string{"Fields", inputSuffix} {
		stem = strings.TrimSuffix(stem, end)
	}
	return stem + suffix
}

// Restrict restricts a property of the bodies with the fields of t, or the items of one that is an array, to values that are
// known only when the program is put together.
func Restrict(reg huma.Registry, t reflect.Type, property string, values []string) {
	one := make([]any, len(values))
	for i, v := range values {
		one[i] = v
	}
	found := false
	for _, suffix := range []string{inputSuffix, patchSuffix} {
		body := reg.Map()[bodyName(t, suffix)]
		if body == nil {
			continue
		}
		p := body.Properties[property]
		if p.Type == huma.TypeArray {
			p = p.Items
		}
		p.Enum, found = one, true
	}
	if !found {
		panic("no operation takes the fields of " + t.String())
	}
}

func addProperties(reg huma.Registry, s *huma.Schema, t reflect.Type, patch bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			addProperties(reg, s, f.Type, patch)
			continue
		}
		if name == "-" || name == "" || !f.IsExported() {
			continue
		}
		p := huma.SchemaFromField(reg, f, t.Name()+f.Name)
		p.Nullable = false
		if f.Type.Kind() == reflect.Pointer || f.Tag.Get("null") == "zero" {
			jsontype.MayBeNull(p)
		}
		if patch {
			p.Default = nil
		} else if f.Tag.Get("required") == "true" {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = p
	}
}
