package event

import (
	"fmt"
	"reflect"
)

// Event is an event about records of type T. Domains declare a variable for each of their events.
type Event[T any] struct {
	declaration
	data  func(after *T) any // nil = the record itself
	extra func(before, after *T, changed []string) any
}

// declaration is what an event has whatever the type of its records.
type declaration struct {
	Name        string // such as order.created
	Description string // one sentence

	dataType  reflect.Type
	extraType reflect.Type
	requests  []string
	raiser    string
}

// New declares an event whose data is the record after the change.
func New[T any](name, description string) Event[T] {
	return Event[T]{declaration: declaration{Name: name, Description: description, dataType: reflect.TypeFor[T]()}}
}

// As declares an event whose data is what view makes of the record.
func As[T, D any](name, description string, view func(after *T) D) Event[T] {
	e := New[T](name, description)
	e.dataType, e.data = reflect.TypeFor[D](), func(after *T) any { return view(after) }
	return e
}

// WithChanges declares an event whose data also names the fields that the change touched.
func WithChanges[T any](name, description string) Event[T] {
	return New[T](name, description).withChanges()
}

// AsWithChanges is [As] and [WithChanges] in one.
func AsWithChanges[T, D any](name, description string, view func(after *T) D) Event[T] {
	return As(name, description, view).withChanges()
}

func (e Event[T]) withChanges() Event[T] {
	e.extraType = reflect.TypeFor[Changed]()
	e.extra = func(_, _ *T, changed []string) any { return Changed{ChangedFields: changed} }
	return e
}

// With declares an event whose data has the fields of X in addition to those of the record. before is nil if the change
// created the record.
func With[T, X any](name, description string, extra func(before, after *T) X) Event[T] {
	e := New[T](name, description)
	e.extraType, e.extra = reflect.TypeFor[X](), func(before, after *T, _ []string) any { return extra(before, after) }
	return e
}

// By returns the event with the requests of the external API that make it happen in a test company, in their order: each a method, a path
// and a body. $run stands for a text of one run; names such as $client stand for the ids of records that are made first. Package trigger
// has those names and makes the requests; a request that is a name alone stands for the one which makes that record.
func (e Event[T]) By(requests ...string) Event[T] {
	e.requests = requests
	return e
}

// NotByClients returns the event with who raises it, in a sentence, because no request of a client does.
func (e Event[T]) NotByClients(raiser string) Event[T] {
	e.raiser = raiser
	return e
}

// Carrying returns the event with these fields in addition to those of the record, for fields that do not follow from it. They
// have the type that the event was declared with.
func (e Event[T]) Carrying(extra any) Event[T] {
	mustCarry(e.Name, e.extraType, extra)
	e.extra = func(_, _ *T, _ []string) any { return extra }
	return e
}

func mustCarry(event string, want reflect.Type, extra any) {
	if reflect.TypeOf(extra) != want {
		panic(fmt.Sprintf("event %s carries %v, not %T", event, want, extra))
	}
}

// Data is the data of the event, apart from [Event.Extra].
func (e Event[T]) Data(after *T) any {
	if e.data == nil {
		return after
	}
	return e.data(after)
}

// Extra are the fields that the event adds to those of the record; nil for none.
func (e Event[T]) Extra(before, after *T, changed []string) any {
	if e.extra == nil {
		return nil
	}
	return e.extra(before, after, changed)
}

// Type returns the registry entry of the event.
func (d declaration) Type(component, scope string) Type {
	return Type{
		Name: d.Name, Component: component, Scope: scope, Description: d.Description, Data: d.dataType, Extra: d.extraType, Requests: d.requests, Raiser: d.raiser,
	}
}

// Declared is an [Event] of any record type.
type Declared interface {
	Type(component, scope string) Type
}

// Declare returns the types of a domain's events. component is the component that must be enabled; scope is the resource
// whose read scope a token needs to see the events.
func Declare(component, scope string, events ...Declared) []Type {
	types := make([]Type, len(events))
	for i, e := range events {
		types[i] = e.Type(component, scope)
	}
	return types
}
