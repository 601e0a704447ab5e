package wire

import (
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const domains = "github.com/tradegrid/tradegrid/services/"

// SchemaName names a type in the API description and in event schemas. A type of a domain that is called after its
// resource carries the resource's name, so that orders.Line is OrderLine; a page of them is OrderLinePage.
func SchemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if outer, inner, ok := strings.Cut(t.Name(), "["); ok {
		pkg, name := splitName(strings.TrimSuffix(inner, "]"))
		return withResource(pkg, name) + outer
	}
	if t.Name() == "" || !strings.HasPrefix(t.PkgPath(), domains) {
		return huma.DefaultSchemaNamer(t, hint)
	}
	return withResource(t.PkgPath(), t.Name())
}

// splitName parts the full name of a type, such as example.com/a/orders.Line, into package and name.
func splitName(full string) (pkg, name string) {
	dot := strings.LastIndex(full, ".")
	return full[:max(dot, 0)], full[dot+1:]
}

func withResource(pkg, name string) string {
	name = strings.ToUpper(name[:1]) + name[1:]
	noun, plural := strings.CutSuffix(path.Base(pkg), "s")
	if !plural || !strings.HasPrefix(pkg, domains) {
		return name
	}
	noun = strings.ToUpper(noun[:1]) + noun[1:]
	if strings.HasPrefix(name, noun) {
		return name
	}
	return noun + name
}

// AllowMore lets the objects of the schemas have more fields than they name: clients ignore what they do not know,
// and so does the platform.
func AllowMore(schemas map[string]*huma.Schema) {
	for _, s := range schemas {
		if s.AdditionalProperties == false {
			s.AdditionalProperties = nil
		}
	}
}
