package webhooks

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Preview is whether a subscription would have got an event of the log, and if not, why.
type Preview struct {
	Event   Logged
	Outcome string         // as of [Explanation]
	Reason  webhook.Reason // "" = the outcome says it all
	Message string         // the same in a sentence
	Filter  *FilterMiss    // the condition that does not hold, when the outcome is filtered
}

// Preview asks which of the last events with the names of a subscription, newest first, it would have got if the caller had made it
// before. Nothing is stored or sent. Only events and filter of the subscription count; what is wrong with these is
// VALIDATION_ERROR, as when it is made.
func (s *Service) Preview(ctx context.Context, by access.Caller, in SubscriptionFields, limit int) ([]Preview, error) {
	var faults apierr.Fields
	if len(in.Events) == 0 {
		faults.Add("events", apierr.Required, "names at least one event")
	}
	patterns := s.checkPatterns(&faults, in.Events)
	in.Events = texts(patterns)
	in.Filter = s.checkFilter(&faults, in.Filter, patterns)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	found, _, err := s.Tail(ctx, by, TailQuery{Events: in.Events, Limit: limit})
	if err != nil {
		return nil, err
	}
	sub := Subscription{SubscriptionFields: in, Status: statusActive, CreatedByID: by.Actor, ReadScopes: readScopes(by)}
	previews := make([]Preview, 0, len(found))
	for _, e := range found {
		typ, known := s.cfg.Registry.Lookup(e.Event)
		if !known { // of a later release
			continue
		}
		q := question{typ: typ, components: by.Components}
		q.entry.Event, q.entry.OccurredAt = e.Event, e.OccurredAt
		q.candidate = &webhook.Candidate{Name: e.Event, Component: typ.Component, Scope: typ.Scope, Doc: webhook.NewDoc(e.Body)}
		a, err := q.decide(sub.version())
		if err != nil {
			return nil, err
		}
		previews = append(previews, Preview{Event: e, Outcome: a.outcome, Reason: a.reason, Message: a.message, Filter: a.filter})
	}
	return previews, nil
}
