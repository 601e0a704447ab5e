package webhook

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// Terms decide which events a subscription gets; see docs/reference/events.md#explain.
type Terms struct {
	Events     []EventPattern
	Filter     *Filter
	Scopes     access.Scopes // what the receiver may see
	ExcludeOwn bool          // leave out what CreatedBy causes
	CreatedBy  uuid.UUID
}

// Candidate is what of an event decides whether subscriptions get it.
type Candidate struct {
	Name      string // such as order.created
	Component string // component that must be enabled for the company
	Scope     string // resource whose read scope is needed to see it
	Doc       *Doc
}

// Verdict is whether a subscription gets an event or, if not, the first reason against it.
type Verdict int

// The verdicts, in the order in which [Terms.Decide] looks for reasons.
const (
	Wanted Verdict = iota
	ComponentOff
	NotSubscribed
	ScopeMissing
	OwnChange
	FilteredOut
)

// String is the name that the API uses as reason.
func (v Verdict) String() string {
	return [...]string{"wanted", string(SkippedComponent), "not_subscribed", string(SkippedScope), string(SkippedOwnChange), "filter"}[v]
}

// Decide says whether a subscription with these terms gets the event, in a company with these components. Router,
// reconciler, replay and explanation all ask this function.
func (t *Terms) Decide(e *Candidate, components access.Components) Verdict {
	switch {
	case !components.Has(e.Component):
		return ComponentOff
	case !MatchAny(t.Events, e.Name):
		return NotSubscribed
	case !t.Scopes.Allows(e.Scope, false):
		return ScopeMissing
	case t.ExcludeOwn && e.Doc.actor() == t.CreatedBy.String():
		return OwnChange
	case !t.Filter.Match(e.Doc):
		return FilteredOut
	}
	return Wanted
}

// actor is the id of the user or token that caused the event.
func (d *Doc) actor() string {
	var body struct {
		ActorID string `json:"actorId"`
	}
	_ = json.Unmarshal(d.body, &body) // an event's body is valid JSON; an actor of another type matches nobody
	return body.ActorID
}
