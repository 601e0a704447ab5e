package httpapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Shape describes a value that an operation takes or returns, as the API description does: a parameter, a body, or a field of one.
type Shape struct {
	Name      string
	In        string // path, query or header, for parameters
	Type      string // string, integer, number, boolean, array or object
	Format    string // such as uuid, date or date-time
	Doc       string
	Enum      []string
	Required  bool
	Nullable  bool
	Minimum   *float64
	Maximum   *float64
	MaxLength *int    // characters
	Fields    []Shape // of an object, in the order of its JSON; none for one with any names
	Item      *Shape  // of an array
}

// Field returns the field of an object.
func (s *Shape) Field(name string) (Shape, bool) {
	if s == nil {
		return Shape{}, false
	}
	i := slices.IndexFunc(s.Fields, func(f Shape) bool { return f.Name == name })
	if i < 0 {
		return Shape{}, false
	}
	return s.Fields[i], true
}

// Operation is an operation with its parameters, its body and its answer.
type Operation struct {
	Op
	Params []Shape
	Body   *Shape // nil = it takes none
	Answer *Shape // of success; nil = none, or a file
}

// maxDepth ends types that contain themselves.
const maxDepth = 6

// Operation describes an operation. ok is false if there is none with the id. The description is shared: callers do not change it.
func (a *API) Operation(id string) (o Operation, ok bool) {
	if known, ok := a.described.Load(id); ok {
		return known.(Operation), true //nolint:errcheck,forcetypeassert // only these are stored
	}
	if o, ok = a.shapes(id); ok {
		a.described.Store(id, o)
	}
	return o, ok
}

func (a *API) shapes(id string) (o Operation, ok bool) {
	known, ok := a.operations[id]
	if !ok {
		return o, false
	}
	o.Op = known.Op
	described := operationOf(a.desc.Paths[o.Path], o.Method)
	for _, p := range described.Parameters {
		s := a.shape(p.Schema, nil, 0)
		s.Name, s.In, s.Doc, s.Required = p.Name, p.In, cmp.Or(p.Description, s.Doc), p.Required
		o.Params = append(o.Params, s)
	}
	if described.RequestBody != nil {
		o.Body = a.shapeOf(described.RequestBody.Content, known.binder.Body())
	}
	if res := described.Responses[strconv.Itoa(cmp.Or(o.Status, http.StatusOK))]; res != nil {
		o.Answer = a.shapeOf(res.Content, known.answer)
	}
	return o, true
}

// shapeOf is the shape of JSON content.
func (a *API) shapeOf(content map[string]*huma.MediaType, t reflect.Type) *Shape {
	media := content[fiber.MIMEApplicationJSON]
	if media == nil || media.Schema == nil {
		return nil
	}
	s := a.shape(media.Schema, t, 0)
	return &s
}

// shape follows a schema. t is its type, which knows the order of fields; nil = they are in that of their names.
func (a *API) shape(schema *huma.Schema, t reflect.Type, depth int) Shape {
	doc := schema.Description
	schema, nullable := jsontype.Resolve(a.desc.Components.Schemas, schema)
	if schema == nil || depth > maxDepth {
		return Shape{Type: huma.TypeObject, Doc: doc}
	}
	s := Shape{
		Type: schema.Type, Format: schema.Format, Doc: cmp.Or(doc, schema.Description), Nullable: nullable || schema.Nullable,
		Minimum: schema.Minimum, Maximum: schema.Maximum, MaxLength: schema.MaxLength,
	}
	for _, v := range schema.Enum {
		if v != nil {
			s.Enum = append(s.Enum, fmt.Sprint(v))
		}
	}
	t = plain(t)
	if schema.Items != nil {
		var of reflect.Type
		if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			of = t.Elem()
		}
		item := a.shape(schema.Items, of, depth+1)
		s.Item = &item
	}
	fields := jsonFields(t)
	for _, name := range fieldOrder(schema, fields) {
		f := a.shape(schema.Properties[name], fields[name].typ, depth+1)
		f.Name, f.Required = name, slices.Contains(schema.Required, name)
		s.Fields = append(s.Fields, f)
	}
	return s
}

// fieldOrder lists the properties of a schema: those of the type in its order, and others behind them.
func fieldOrder(schema *huma.Schema, fields map[string]jsonField) []string {
	names := slices.Sorted(maps.Keys(schema.Properties))
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(fields[x].rank(), fields[y].rank()) })
	return names
}

// jsonField is a field of a struct as JSON shows it.
type jsonField struct {
	typ   reflect.Type
	place int // counts from 1
}

// rank orders fields; one that the type does not have is last.
func (f jsonField) rank() int {
	if f.place == 0 {
		return 1 << 20
	}
	return f.place
}

// jsonFields returns the fields of a struct, with those of embedded ones, by the name that JSON has for them.
func jsonFields(t reflect.Type) map[string]jsonField {
	all := map[string]jsonField{}
	if t = plain(t); t == nil || t.Kind() != reflect.Struct {
		return all
	}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if of := plain(f.Type); f.Anonymous && name == "" && of != nil && of.Kind() == reflect.Struct {
				walk(of)
			} else if name != "" && name != "-" {
				all[name] = jsonField{f.Type, len(all) + 1}
			}
		}
	}
	walk(t)
	return all
}

// plain is a type without pointers.
func plain(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
