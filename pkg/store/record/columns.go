package record

import (
	"fmt"
	"reflect"
	"strings"
)

// SelectList returns the columns of the plan for a SELECT, in the order of [Plan.Targets], each with the prefix, such
// as "c.".
func (p *Plan) SelectList(prefix string) string {
	var list []string
	for _, f := range p.fields {
		switch {
		case f.column == "":
		case f.asText:
			list = append(list, prefix+f.column+"::TEXT")
		default:
			list = append(list, prefix+f.column)
		}
	}
	return strings.Join(list, ", ")
}

// Targets returns the scan destinations of [Plan.SelectList] in v, a pointer to a value of the plan's type.
func (p *Plan) Targets(v any) []any {
	at := reflect.ValueOf(v).Elem()
	targets := make([]any, 0, len(p.fields)+2)
	for i := range p.fields {
		if p.fields[i].column != "" {
			targets = append(targets, at.FieldByIndex(p.fields[i].index).Addr().Interface())
		}
	}
	return targets
}

// Column is a column that writes set, and the field that holds its value.
type Column struct {
	Name       string       // quoted if SQL requires it
	InsertOnly bool         // never updated
	Type       reflect.Type // of the field
	index      []int
	equal      func(a, b reflect.Value) bool
}

func columnOf(f field) Column {
	return Column{Name: f.column, InsertOnly: f.insertOnly, Type: f.typ, index: f.index, equal: f.equal}
}

// Of returns the field of the column in v, a value of the plan's type.
func (c Column) Of(v reflect.Value) reflect.Value { return v.FieldByIndex(c.index) }

// Same reports whether a and b, values of the plan's type, have the same in the column. Slices and maps are compared by their
// JSON, unless they are the same in memory.
func (c Column) Same(a, b reflect.Value) bool {
	x, y := c.Of(a), c.Of(b)
	return sameMemory(x, y) || c.equal(x, y)
}

// Value returns the value of the column in v, a pointer to a value of the plan's type.
func (c Column) Value(v any) any { return reflect.ValueOf(v).Elem().FieldByIndex(c.index).Interface() }

// Columns returns all columns of the plan, in field order.
func (p *Plan) Columns() []Column {
	var columns []Column
	for _, f := range p.fields {
		if f.column != "" {
			columns = append(columns, columnOf(f))
		}
	}
	return columns
}

// Own returns the columns of the plan that belong neither to [Key] nor to [Meta].
func (p *Plan) Own() []Column {
	var columns []Column
	for _, f := range p.fields {
		if p.own(f) {
			columns = append(columns, columnOf(f))
		}
	}
	return columns
}

// Field returns the column, type and tags of the field with a JSON name.
func (p *Plan) Field(name string) (column string, t reflect.Type, tag reflect.StructTag, ok bool) {
	i, ok := p.byName[name]
	if !ok {
		return "", nil, "", false
	}
	f := p.fields[i]
	return f.column, f.typ, f.tag, true
}

// Value returns the value of the field with the JSON name in v, a pointer to a value of the plan's type. It panics if
// there is no such field.
func (p *Plan) Value(v any, name string) any {
	i, ok := p.byName[name]
	if !ok {
		panic(fmt.Sprintf("%s has no field %s", p.typ, name))
	}
	return reflect.ValueOf(v).Elem().FieldByIndex(p.fields[i].index).Interface()
}

// Searched reports whether the plan has fields that search= matches.
func (p *Plan) Searched() bool {
	for _, f := range p.fields {
		if f.tag.Get("search") != "" {
			return true
		}
	}
	return false
}

// SearchFields returns the values of v that search= matches: texts, and phones, which also match by digits.
func (p *Plan) SearchFields(v any) (texts, phones []string) {
	at := reflect.ValueOf(v).Elem()
	for _, f := range p.fields {
		kind := f.tag.Get("search")
		if kind == "" {
			continue
		}
		value := at.FieldByIndex(f.index)
		if value.Kind() == reflect.Pointer {
			if value.IsNil() {
				continue
			}
			value = value.Elem()
		}
		if kind == "phone" {
			phones = append(phones, value.String())
		} else {
			texts = append(texts, fmt.Sprint(value.Interface()))
		}
	}
	return texts, phones
}

// FieldOf finds the only field of a type that has no column. It panics unless there is exactly one.
func (p *Plan) FieldOf(t reflect.Type) (index []int, name string) {
	for _, f := range p.fields {
		if f.typ != t || f.column != "" {
			continue
		}
		if index != nil {
			panic(fmt.Sprintf("%s has two fields of type %s", p.typ, t))
		}
		index, name = f.index, f.name
	}
	if index == nil {
		panic(fmt.Sprintf("%s has no field of type %s with db:\"-\"", p.typ, t))
	}
	return index, name
}

func sameMemory(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Slice: // a nil one is stored as an empty one
		return a.Len() == b.Len() && (a.Len() == 0 || a.Pointer() == b.Pointer())
	case reflect.Map, reflect.Pointer:
		return a.Pointer() == b.Pointer()
	default:
		return false
	}
}
