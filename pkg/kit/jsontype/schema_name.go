package jsontype

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

const domains = "github.com/tradegrid/tradegrid/services/"

// Named is a type that names its schema itself, because its own name says little without its package.
type Named interface{ SchemaName() string }

// SchemaName returns the schema name of a type in the API description and in event schemas. Types of a domain are
// prefixed with the name of its resource: orders.Line is OrderLine, and a page of them is OrderLinePage. So are others whose name is
// [general], and job.Record is Job. A type that is [Named] decides itself.
func SchemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name := ownName(t); name != "" {
		return name
	}
	if outer, inner, ok := strings.Cut(t.Name(), "["); ok {
		if items, ok := itemsOf(t); ok {
			return SchemaName(items, hint) + outer
		}
		pkg, name := splitName(strings.TrimSuffix(inner, "]"))
		return withResource(pkg, name) + outer
	}
	if t.Name() == "" || !strings.HasPrefix(t.PkgPath(), domains) && !general(t.Name()) {
		return huma.DefaultSchemaNamer(t, hint)
	}
	return withResource(t.PkgPath(), t.Name())
}

// ownName is the name that a type gives its schema; "" if it gives none, or has the method only from a struct that it embeds.
func ownName(t reflect.Type) string {
	named, ok := reflect.Zero(t).Interface().(Named)
	if !ok {
		return ""
	}
	name := named.SchemaName()
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if f := t.Field(i); f.Anonymous && f.Type.Kind() == reflect.Struct && ownName(f.Type) == name {
			return ""
		}
	}
	return name
}

// itemsOf is the type of the records in a page.
func itemsOf(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	f, ok := t.FieldByName("Items")
	if !ok || f.Type.Kind() != reflect.Slice || f.Type.Elem().PkgPath() == "" {
		return nil, false
	}
	return f.Type.Elem(), true
}

// general reports whether a name says nothing without its package.
func general(name string) bool {
	return slices.Contains([]string{"Fields", "Input", "ListItem", "Record"}, name)
}

// splitName splits the full name of a type, such as example.com/a/orders.Line, into package and name.
func splitName(full string) (pkg, name string) {
	dot := strings.LastIndex(full, ".")
	return full[:max(dot, 0)], full[dot+1:]
}

func withResource(pkg, name string) string {
	name = strings.ToUpper(name[:1]) + name[1:]
	noun, plural := strings.CutSuffix(path.Base(pkg), "s")
	if (!plural || !strings.HasPrefix(pkg, domains)) && !general(name) {
		return name
	}
	noun = strings.ToUpper(noun[:1]) + noun[1:]
	if name == "Record" {
		return noun
	}
	if strings.HasPrefix(name, noun) {
		return name
	}
	return noun + name
}

// AllowMore allows additional properties in the objects of the schemas: clients and the platform ignore unknown fields.
func AllowMore(schemas map[string]*huma.Schema) {
	for _, s := range schemas {
		if s.AdditionalProperties == false {
			s.AdditionalProperties = nil
		}
	}
}

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
