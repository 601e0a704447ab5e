// Package event defines event types and the registry of all of them, which domains declare and which subscriptions, the
// event log and the API description use.
package event

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
)

// Type declares one event that a domain raises; see docs/reference/events.md#event-list.
type Type struct {
	Name        string       // such as order.created
	Component   string       // component that must be enabled for the company
	Scope       string       // resource whose read scope a token needs to see it
	Description string       // one sentence
	Data        reflect.Type // type of data in the envelope: the record
	Extra       reflect.Type // fields that the event adds to the record's own; nil = none
	Requests    []string     // that make it happen; see [Event.By]
	Raiser      string       // who raises it, where no request of a client does; see [Event.NotByClients]
}

// Changed holds the fields that update events add to the record.
type Changed struct {
	ChangedFields []string `json:"changedFields" doc:"names of the changed fields"`
}

// Registry is the complete list of event types of the platform.
type Registry struct {
	Recorded fs.FS // recorded envelopes, <name>.example.json, as examples; nil = all are made up
	types    []Type
	byName   map[string]Type
}

// NewRegistry returns a registry with the events of these domains; see [Registry.Add].
func NewRegistry(domains ...[]Type) *Registry {
	r := &Registry{byName: map[string]Type{}}
	for _, types := range domains {
		r.Add(types)
	}
	return r
}

// Add adds the events of a domain. It panics if a name is declared twice.
func (r *Registry) Add(types []Type) {
	for _, t := range types {
		if _, dup := r.byName[t.Name]; dup {
			panic(fmt.Sprintf("event %s is declared twice", t.Name))
		}
		r.byName[t.Name] = t
		r.types = append(r.types, t)
	}
	slices.SortFunc(r.types, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
}

// All returns all types, sorted by name.
func (r *Registry) All() []Type { return r.types }

// Lookup finds a type by its exact name.
func (r *Registry) Lookup(name string) (Type, bool) {
	t, ok := r.byName[name]
	return t, ok
}
