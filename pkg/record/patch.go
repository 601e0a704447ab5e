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
func (p *Patch[F]) UnmarshalJSON(b []byte) error {
	var names map[string]json.RawMessage
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	*p = Patch[F]{}
	if err := json.Unmarshal(b, &p.Value); err != nil {
		return err
	}
	for i, f := range PlanOf[F]().fields {
		if _, ok := names[f.name]; ok && f.name != "" {
			p.sent = append(p.sent, i)
		}
	}
	return nil
}

// Apply copies the fields that were sent into dst.
func (p Patch[F]) Apply(dst *F) {
	plan := PlanOf[F]()
	from, to := reflect.ValueOf(&p.Value).Elem(), reflect.ValueOf(dst).Elem()
	for _, i := range p.sent {
		source, target := from.FieldByIndex(plan.fields[i].index), to.FieldByIndex(plan.fields[i].index)
		if sent, ok := source.Interface().(Metadata); ok {
			source = reflect.ValueOf(sent.mergedWith(target.Interface().(Metadata))) //nolint:errcheck,forcetypeassert // the same field
		}
		target.Set(source)
	}
}

// Without returns the patch without the fields that have the value that is sent already, those of current.
func (p Patch[F]) Without(current F) Patch[F] {
	plan := PlanOf[F]()
	plan.Normalise(&p.Value)
	plan.Normalise(&current)
	sent, has := reflect.ValueOf(&p.Value).Elem(), reflect.ValueOf(&current).Elem()
	p.sent = slices.DeleteFunc(slices.Clone(p.sent), func(i int) bool {
		f := plan.fields[i]
		return f.equal(sent.FieldByIndex(f.index), has.FieldByIndex(f.index))
	})
	return p
}

// Sent reports whether the body contained the field, given as a pointer into p.Value: in.Sent(&in.Value.ParentID).
func (p *Patch[F]) Sent(field any) bool {
	at, v := reflect.ValueOf(&p.Value).Elem(), reflect.ValueOf(field)
	for i, f := range PlanOf[F]().fields {
		if at.FieldByIndex(f.index).Addr().Pointer() == v.Pointer() && reflect.PointerTo(f.typ) == v.Type() {
			return slices.Contains(p.sent, i)
		}
	}
	panic(fmt.Sprintf("Sent: not a pointer to a field of %T.Value", p))
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
