package jsontype

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const domains = "github.com/tradegrid/tradegrid/services/"

// SchemaName returns the schema name of a type in the API description and in event schemas. Types of a domain are
// prefixed with the name of its resource: orders.Line is OrderLine, and a page of them is OrderLinePage. So are others whose name is
// [general], and job.Record is Job.
func SchemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if outer, inner, ok := strings.Cut(t.Name(), "["); ok {
		pkg, name := splitName(strings.TrimSuffix(inner, "]"))
		return withResource(pkg, name) + outer
	}
	if t.Name() == "" || !strings.HasPrefix(t.PkgPath(), domains) && !general(t.Name()) {
		return huma.DefaultSchemaNamer(t, hint)
	}
	return withResource(t.PkgPath(), t.Name())
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
