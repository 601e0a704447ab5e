// Package event is the vocabulary of change events: the type of each event, and the list of all of them
// that the domains declare and that subscriptions, the event log and the API description read.
package event

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Type declares one event that a domain raises; see docs/reference/events.md#event-list.
type Type struct {
	Name        string       // such as order.created
	Module      string       // component that must be active for the company
	Scope       string       // resource whose read scope a token needs to see it
	Description string       // one sentence
	Data        reflect.Type // shape of data in the envelope: the record
	Extra       reflect.Type // fields that the event adds to the record's own; nil = none
}

// Of makes a Type whose data has the shape of T.
func Of[T any](name, module, scope, description string) Type {
	return Type{Name: name, Module: module, Scope: scope, Description: description, Data: reflect.TypeFor[T]()}
}

// Extended is [Of] for an event that adds the fields of X to those of the record.
func Extended[T, X any](name, module, scope, description string) Type {
	t := Of[T](name, module, scope, description)
	t.Extra = reflect.TypeFor[X]()
	return t
}

// Changed is what the event of an update adds to the record.
type Changed struct {
	ChangedFields []string `json:"changedFields" doc:"names of the fields that the change touched"`
}

// Registry is the complete list of event types of the platform.
type Registry struct {
	types  []Type
	byName map[string]Type
}

// NewRegistry gathers the events of all domains. It panics on a name declared twice: a wiring mistake.
func NewRegistry(domains ...[]Type) *Registry {
	r := &Registry{byName: map[string]Type{}}
	for _, t := range slices.Concat(domains...) {
		if _, dup := r.byName[t.Name]; dup {
			panic(fmt.Sprintf("event %s is declared twice", t.Name))
		}
		r.byName[t.Name] = t
		r.types = append(r.types, t)
	}
	slices.SortFunc(r.types, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// All lists the types by name.
func (r *Registry) All() []Type { return r.types }

// Lookup finds a type by its exact name.
func (r *Registry) Lookup(name string) (Type, bool) {
	t, ok := r.byName[name]
	return t, ok
}
