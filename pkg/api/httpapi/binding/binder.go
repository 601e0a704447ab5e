// Package binding turns requests into the typed inputs of operations. From the type of an input it derives the description of
// parameters and body, which it then uses to parse, validate and decode them. It leaves connections, callers and operations
// to others.
package binding

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Binder fills the input struct of one operation: fields tagged `path`, `query` and `header` from parameters, and the field
// Body from the body.
type Binder struct {
	reg     huma.Registry
	params  []param
	child   string          // name of the last path parameter
	known   map[string]bool // names of query parameters
	prefix  []string        // query parameters of the form name[key]
	body    []int           // index of Body; nil if the operation has none
	bodyOpt bool            // the request may lack a body
	schema  *huma.Schema    // of Body
	fields  reflect.Type    // of Body
	caller  []int           // index of what the operation fills itself
}

type param struct {
	index  []int
	name   string
	in     string // path, query or header
	schema *huma.Schema
	def    string // default; "" = none
	needed bool   // must be sent; those in the path always are
}

// childParam in a path tag stands for the last parameter of the path of the operation.
const childParam = "$child"

// New returns a binder of inputs of type t for an operation with this path. They must embed caller, which the operation fills itself.
func New(reg huma.Registry, path string, t, caller reflect.Type) *Binder {
	b := &Binder{reg: reg, known: map[string]bool{}, child: LastParam(path)}
	b.scan(t, nil, caller)
	if b.caller == nil {
		panic(fmt.Sprintf("input %s must embed %s", t, caller))
	}
	return b
}

// HasBody reports whether the operation takes a body.
func (b *Binder) HasBody() bool { return b.body != nil }

// Items reports whether the body has items with bodies of their own; see [Items].
func (b *Binder) Items() bool {
	return b.body != nil && reflect.PointerTo(b.fields).Implements(reflect.TypeFor[Items]())
}

// Body is the type of the body, of a change the type of its fields; nil = the operation takes none.
func (b *Binder) Body() reflect.Type { return b.fields }

// DescribeBody replaces the schema of the body, for a type that does not describe it.
func (b *Binder) DescribeBody(s *huma.Schema) { b.schema = s }

// Caller is the field of an input that the operation fills itself.
func (b *Binder) Caller(in reflect.Value) reflect.Value { return in.FieldByIndex(b.caller) }

func (b *Binder) scan(t reflect.Type, at []int, caller reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := slices.Concat(at, []int{i})
		switch {
		case f.Type == caller:
			b.caller = index
		case f.Name == "Body" && len(at) == 0:
			b.body, b.schema, b.fields = index, b.bodySchema(f, t.Name()+"Body"), cmp.Or(patchFields(deref(f.Type)), deref(f.Type))
			b.bodyOpt = f.Type.Kind() == reflect.Pointer || f.Tag.Get("body") == "command" && len(b.resolve(b.schema).Required) == 0
		case f.Type.Kind() == reflect.Struct && (f.Anonymous || f.Tag.Get("params") == "inline"):
			b.scan(f.Type, index, caller)
		default:
			b.addParam(f, index)
		}
	}
}

func (b *Binder) bodySchema(f reflect.StructField, hint string) *huma.Schema {
	t := deref(f.Type)
	if fields := patchFields(t); fields != nil {
		return derivedBody(b.reg, fields, patchSuffix)
	}
	if f.Tag.Get("body") != "" {
		return derivedBody(b.reg, t, inputSuffix)
	}
	return b.reg.Schema(t, true, hint)
}

func (b *Binder) addParam(f reflect.StructField, index []int) {
	for _, in := range []string{"path", "query", "header"} {
		name, ok := f.Tag.Lookup(in)
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, ",")
		if in == "path" && name == childParam {
			name = b.child
		}
		p := param{index: index, name: name, in: in, def: f.Tag.Get("default"), schema: huma.SchemaFromField(b.reg, f, f.Name), needed: f.Tag.Get("required") == "true"}
		p.schema.Description = withType(p.schema.Description, f.Type, b.reg)
		if in == "query" {
			notBlank(p.schema)
		}
		b.params = append(b.params, p)
		b.known[name] = in == "query"
		if in == "query" && p.schema.Type == huma.TypeObject {
			b.prefix = append(b.prefix, name+"[")
		}
	}
}

// withType adds to the description of a parameter what its type says of itself, such as the time zone of its days, unless the field
// says nothing else.
func withType(text string, t reflect.Type, reg huma.Registry) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	of, ok := reflect.Zero(t).Interface().(huma.SchemaProvider)
	if !ok {
		return text
	}
	if note := of.Schema(reg).Description; note != "" && note != text {
		return text + "; " + note
	}
	return text
}

// notBlank describes that a query parameter must have a value; bindParams checks it. Items of a list are separated by commas.
func notBlank(s *huma.Schema) {
	one := 1
	switch {
	case s.Type == huma.TypeArray:
		s.MinItems = &one
		if open(s.Items) {
			s.Items.Pattern, s.Items.PatternDescription = `^[^,]*[^,\s][^,]*$`, "text that is not blank"
		}
	case s.Type == huma.TypeObject:
		if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
			notBlank(of)
		}
	case open(s):
		s.Pattern, s.PatternDescription = `\S`, "text that is not blank"
	}
}

// open reports whether a schema allows any text.
func open(s *huma.Schema) bool {
	return s.Type == huma.TypeString && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 && len(s.OneOf) == 0
}

// resolve returns the schema that s refers to.
func (b *Binder) resolve(s *huma.Schema) *huma.Schema {
	if s.Ref == "" {
		return s
	}
	return b.reg.SchemaFromRef(s.Ref)
}

// LastParam returns the name of the last parameter of a path.
func LastParam(path string) string {
	name, _, _ := strings.Cut(path[strings.LastIndex(path, "{")+1:], "}")
	return name
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// Describe adds the parameters and the body of the operation to its description. The binder does it, and not huma,
// because only the binder has optional parameters as pointers.
func (b *Binder) Describe(ho *huma.Operation) {
	for _, p := range b.params {
		described := &huma.Param{Name: p.name, In: p.in, Description: p.schema.Description, Required: p.in == "path" || p.needed, Schema: p.schema, Explode: b.explode(p)}
		if p.in == "query" && p.schema.Type == huma.TypeObject {
			yes := true
			described.Style, described.Explode = "deepObject", &yes // name[key]=value
		}
		ho.Parameters = append(ho.Parameters, described)
	}
	if b.body != nil {
		ho.RequestBody = &huma.RequestBody{
			Required: !b.bodyOpt,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: b.schema}},
		}
	}
}

// explode documents that a list is sent as one comma-separated parameter, which is shorter than several; both are taken.
func (b *Binder) explode(p param) *bool {
	if p.in != "query" || p.schema.Type != huma.TypeArray {
		return nil
	}
	no := false
	return &no
}
