package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Patch is the body of a change of the fields F: what was sent is applied, what was left out stays. An array,
// a dictionary or an object replaces the old one as a whole.
type Patch[F any] struct {
	Value F // the fields that were sent; the others are zero
	sent  []int
}

// PatchOf is a patch of the named fields of v, for callers in Go. It panics on a name that F does not have.
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

// UnmarshalJSON implements [json.Unmarshaler]. The fields are read into a fresh value: the decoder reuses arrays and
// pointees, and reading into the record would change the state before the change, too.
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
		index := plan.fields[i].index
		to.FieldByIndex(index).Set(from.FieldByIndex(index))
	}
}

// Sent reports whether the body had the field, given as a pointer into p.Value: in.Sent(&in.Value.ParentID).
func (p *Patch[F]) Sent(field any) bool {
	at, v := reflect.ValueOf(&p.Value).Elem(), reflect.ValueOf(field)
	for i, f := range PlanOf[F]().fields {
		if at.FieldByIndex(f.index).Addr().Pointer() == v.Pointer() && reflect.PointerTo(f.typ) == v.Type() {
			return slices.Contains(p.sent, i)
		}
	}
	panic(fmt.Sprintf("Sent: not a pointer to a field of %T.Value", p))
}

// Names are the JSON names of the fields that were sent, in the order of F.
func (p Patch[F]) Names() []string {
	plan := PlanOf[F]()
	names := make([]string, len(p.sent))
	for i, at := range p.sent {
		names[i] = plan.fields[at].name
	}
	return names
}

// Fields is the type of the fields, for the description of the body.
func (Patch[F]) Fields() reflect.Type { return reflect.TypeFor[F]() }
