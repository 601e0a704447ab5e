package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Patch is the body of a PATCH of the fields F. Fields that were sent are applied; the others stay unchanged. Arrays and
// objects are replaced as a whole, [Metadata] key by key.
type Patch[F any] struct {
	Value F // fields that were not sent are zero
	sent  []int
}

// PatchOf returns a patch of the named fields of v, for callers in Go. It panics if F has no such field.
func PatchOf[F any](v F, names ...string) Patch[F] {
	p := Patch[F]{Value: v}
	plan := PlanOf[F]()
	for _, name := range names {
		i, ok := plan.byName[name]
		if !ok {
			panic(fmt.Sprintf("%s has no field %s", plan.typ, name))
		}
		p.sent = append(p.sent, i)
	}
	return p
}

// UnmarshalJSON implements [json.Unmarshaler]. It decodes into a new value: the decoder reuses arrays and pointees, so
// decoding into the record would also change its snapshot.
func (p *Patch[F]) UnmarshalJSON(b []byte) (err error) {
	*p = Patch[F]{}
	p.sent, err = PlanOf[F]().decode(b, &p.Value)
	return err
}

// Apply copies the fields that were sent into dst.
func (p Patch[F]) Apply(dst *F) { PlanOf[F]().copyFields(p.sent, &p.Value, dst) }

// Without returns the patch without the fields that have the value that is sent already, those of current.
func (p Patch[F]) Without(current F) Patch[F] {
	p.sent = PlanOf[F]().different(p.sent, &p.Value, &current)
	return p
}

// Sent reports whether the body contained the field, given as a pointer into p.Value: in.Sent(&in.Value.ParentID).
func (p *Patch[F]) Sent(field any) bool {
	return slices.Contains(p.sent, PlanOf[F]().indexOf(&p.Value, field))
}

// Names returns the JSON names of the fields that were sent, in the order of F.
func (p Patch[F]) Names() []string {
	plan := PlanOf[F]()
	names := make([]string, len(p.sent))
	for i, at := range p.sent {
		names[i] = plan.fields[at].name
	}
	return names
}

// Fields returns the type of the fields, for the description of the body.
func (Patch[F]) Fields() reflect.Type { return reflect.TypeFor[F]() }

// The following is what patches do whatever their type. Generic code is compiled anew for each. Values are pointers to structs of
// the plan, and fields are given by their indexes in it.

// decode decodes JSON into a new value, and returns the fields that it has.
func (p *Plan) decode(b []byte, into any) (sent []int, err error) {
	var names map[string]json.RawMessage
	if err := json.Unmarshal(b, &names); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return nil, err
	}
	for i, f := range p.fields {
		if _, ok := names[f.name]; ok && f.name != "" {
			sent = append(sent, i)
		}
	}
	return sent, nil
}

func (p *Plan) copyFields(fields []int, from, to any) {
	source, target := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for _, i := range fields {
		s, t := source.FieldByIndex(p.fields[i].index), target.FieldByIndex(p.fields[i].index)
		if sent, ok := s.Interface().(Metadata); ok {
			s = reflect.ValueOf(sent.mergedWith(t.Interface().(Metadata))) //nolint:errcheck,forcetypeassert // the same field
		}
		t.Set(s)
	}
}

// different normalizes both values, and returns those of the fields that differ.
func (p *Plan) different(fields []int, a, b any) []int {
	p.Normalise(a)
	p.Normalise(b)
	one, other := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	return slices.DeleteFunc(slices.Clone(fields), func(i int) bool {
		f := p.fields[i]
		return f.equal(one.FieldByIndex(f.index), other.FieldByIndex(f.index))
	})
}

// indexOf returns the field of v to which a pointer points. It panics if there is none.
func (p *Plan) indexOf(v, pointer any) int {
	at, to := reflect.ValueOf(v).Elem(), reflect.ValueOf(pointer)
	for i, f := range p.fields {
		if at.FieldByIndex(f.index).Addr().Pointer() == to.Pointer() && reflect.PointerTo(f.typ) == to.Type() {
			return i
		}
	}
	panic(fmt.Sprintf("not a pointer to a field of the %s", p.typ))
}
