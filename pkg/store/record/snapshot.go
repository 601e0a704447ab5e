package record

import (
	"reflect"
	"time"
)

var stdTime = reflect.TypeFor[time.Time]()

func isTime(t reflect.Type) bool { return t.Kind() == reflect.Struct && t.ConvertibleTo(stdTime) }

func asTime(v reflect.Value) time.Time {
	return v.Convert(stdTime).Interface().(time.Time) //nolint:errcheck,forcetypeassert // converted right here
}

// Snapshot is the state of a record before a change. It shares no memory with the record.
type Snapshot struct {
	plan   *Plan
	values []reflect.Value // by field: a copy, including the target of a pointer
	nested [][]byte        // by field: the JSON of values that == cannot compare
}

// Snapshot takes a snapshot of v, a pointer to a value of the plan's type.
func (p *Plan) Snapshot(v any) Snapshot {
	at := reflect.ValueOf(v).Elem()
	s := Snapshot{plan: p, values: make([]reflect.Value, len(p.fields)), nested: make([][]byte, len(p.fields))}
	for i, f := range p.fields {
		if !p.counts(f) {
			continue
		}
		from := at.FieldByIndex(f.index)
		to := from
		if to.Kind() == reflect.Pointer {
			to = to.Elem()
		}
		if to.IsValid() && !plain(to.Type()) && !isTime(to.Type()) {
			s.nested[i] = asJSON(to)
			continue
		}
		kept := reflect.New(f.typ).Elem()
		switch {
		case from.Kind() != reflect.Pointer:
			kept.Set(from)
		case !from.IsNil():
			kept.Set(reflect.New(f.typ.Elem()))
			kept.Elem().Set(from.Elem())
		}
		s.values[i] = kept
	}
	return s
}

// Changes compares the record with its snapshot. It reports whether anything differs, and the JSON names of the fields
// that do.
func (s Snapshot) Changes(v any) (changed bool, names []string) {
	at := reflect.ValueOf(v).Elem()
	for i, f := range s.plan.fields {
		if !s.plan.counts(f) || s.same(i, at.FieldByIndex(f.index)) {
			continue
		}
		changed = true
		if f.changedAs != "" {
			names = append(names, f.changedAs)
		}
	}
	return changed, names
}

func (s Snapshot) same(i int, now reflect.Value) bool {
	if !s.values[i].IsValid() { // compared as JSON
		if now.Kind() == reflect.Pointer {
			if now.IsNil() {
				return false
			}
			now = now.Elem()
		}
		return string(s.nested[i]) == string(asJSON(now))
	}
	return s.plan.fields[i].equal(s.values[i], now)
}
