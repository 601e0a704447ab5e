package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Explanation says what became of an event for a subscription, and why; see docs/reference/events.md#explain.
type Explanation struct {
	SubscriptionID        uuid.UUID          `json:"subscriptionId" format:"uuid"`
	EventID               uuid.UUID          `json:"eventId" format:"uuid"`
	Event                 string             `json:"event"`
	OccurredAt            jsontype.Time      `json:"occurredAt"`
	Outcome               string             `json:"outcome" enum:"delivered,pending,failed,filtered,not_subscribed,skipped"`
	Reason                *webhook.Reason    `json:"reason" nullable:"true" doc:"of a pending event, what it waits for; of a failed or skipped one, why; null = the outcome says it all"`
	Message               string             `json:"message" doc:"the same in a sentence"`
	Filter                *FilterMiss        `json:"filter" doc:"the condition that did not hold, when the outcome is filtered"`
	NextAttemptAt         *jsontype.Time     `json:"nextAttemptAt" nullable:"true"`
	SubscriptionChangedAt *jsontype.Time     `json:"subscriptionChangedAt" nullable:"true" doc:"last change of the subscription, when it was after the event"`
	Today                 *string            `json:"today" nullable:"true" enum:"delivered,filtered,not_subscribed,skipped" doc:"what the outcome would be with the subscription as it is today, when that differs"`
	Delivery              *ExplainedDelivery `json:"delivery" doc:"the delivery that the outcome is taken from: one that arrived, else the latest that is open, else the latest"`
}

// ExplainedDelivery is a delivery or null.
type ExplainedDelivery struct {
	DeliveryRecord
}

// Outcomes of an event for a subscription.
const (
	outcomeDelivered     = "delivered"
	outcomePending       = webhook.OutcomePending
	outcomeFailed        = webhook.OutcomeFailed
	outcomeFiltered      = "filtered"
	outcomeNotSubscribed = "not_subscribed"
	outcomeSkipped       = webhook.OutcomeSkipped
)

// FilterMiss is a condition of a filter that an event does not meet.
type FilterMiss struct {
	Key     string          `json:"key" doc:"dot path into the envelope"`
	Wanted  json.RawMessage `json:"wanted" doc:"the value, or the array of values, that must stand there"`
	Found   json.RawMessage `json:"found" doc:"what stands there; null also where it is longer than 1 KiB"`
	Missing bool            `json:"missing" doc:"nothing stands there"`

	tooLong bool // what stands there is not shown
}

// maxFound is how long a value may be that an explanation shows.
const maxFound = 1 << 10

// ExplainQuery names the event.
type ExplainQuery struct {
	EventID uuid.UUID `query:"eventId" required:"true" format:"uuid"`
}

// Explain says what became of an event for one subscription. An event that is not in the log, or that the caller may not
// read, is 404 EVENT_NOT_FOUND.
func (s *Service) Explain(ctx context.Context, by access.Caller, id uuid.UUID, in ExplainQuery) (Explanation, error) {
	sub, err := table.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return Explanation{}, err
	}
	all, err := s.explainAll(ctx, by, in.EventID, []Subscription{sub})
	if err != nil {
		return Explanation{}, err
	}
	return all[0], nil
}

// EventDeliveries says what became of an event for each subscription of the company.
func (s *Service) EventDeliveries(ctx context.Context, by access.Caller, event uuid.UUID) (*list.Page[Explanation], error) {
	subs, err := items.Page(ctx, s.cfg.DB, by.Company, SubscriptionFilter{Params: list.Params{PageSize: access.MaxSubscriptions}})
	if err != nil {
		return nil, err
	}
	all, err := s.explainAll(ctx, by, event, subs.Items)
	if err != nil {
		return nil, err
	}
	total, page := int64(len(all)), 1
	return &list.Page[Explanation]{Items: all, Total: &total, Page: &page, PageSize: access.MaxSubscriptions}, nil
}

// question is everything that an explanation follows from.
type question struct {
	entry      outbox.LogEntry
	typ        event.Type
	candidate  *webhook.Candidate
	components access.Components
	now        time.Time
	keep       time.Duration // of ended deliveries
}

func (s *Service) explainAll(ctx context.Context, by access.Caller, id uuid.UUID, subs []Subscription) ([]Explanation, error) {
	entry, err := s.readableEvent(ctx, by, id)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(subs))
	for i := range subs {
		ids[i] = subs[i].ID
	}
	then, err := selectVersionsAt(ctx, s.cfg.DB, by.Company, ids, entry.OccurredAt)
	if err != nil {
		return nil, err
	}
	deliveries, err := s.selectOfEvent(ctx, s.cfg.DB, by.Company, ids, entry.ID)
	if err != nil {
		return nil, err
	}
	q := s.questionOf(by, entry)
	all := make([]Explanation, len(subs))
	for i, sub := range subs {
		if all[i], err = q.explain(sub, then[sub.ID], deliveries[sub.ID]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// questionOf is the question what became of an event of the caller's company.
func (s *Service) questionOf(by access.Caller, entry outbox.LogEntry) question {
	typ, known := s.cfg.Registry.Lookup(entry.Event)
	if !known { // of a later release
		typ = event.Type{Name: entry.Event, Component: group.Component, Scope: s.scopeOf(entry.Event)}
	}
	return question{
		entry: entry, typ: typ, components: by.Components, now: s.cfg.DB.Now(), keep: deliveriesExpire.Keep,
		candidate: &webhook.Candidate{Name: entry.Event, Component: typ.Component, Scope: typ.Scope, Doc: webhook.NewDoc(entry.Body)},
	}
}

// readableEvent reads an event of the log. One that the caller may not read is not confirmed to exist.
func (s *Service) readableEvent(ctx context.Context, by access.Caller, id uuid.UUID) (outbox.LogEntry, error) {
	entry, err := outbox.LogEvent(ctx, s.cfg.DB, by.Company, id)
	if errors.Is(err, outbox.ErrNotLogged) || (err == nil && !by.Allows(s.scopeOf(entry.Event), false)) {
		return entry, apierr.NotFound("EVENT", id.String())
	}
	return entry, err
}

// explain answers for one subscription. then is its version when the event occurred, nil = not recorded.
func (q *question) explain(sub Subscription, then *subscriptionVersion, d *DeliveryRecord) (Explanation, error) {
	e := Explanation{
		SubscriptionID: sub.ID, EventID: q.entry.ID, Event: q.entry.Event, OccurredAt: jsontype.At(q.entry.OccurredAt),
	}
	changed := sub.UpdatedAt.Std().After(q.entry.OccurredAt)
	if changed {
		e.SubscriptionChangedAt = &sub.UpdatedAt
	}
	today, err := q.decide(sub.version())
	if err != nil {
		return e, err
	}
	if d != nil {
		e.Delivery = &ExplainedDelivery{DeliveryRecord: *d}
		q.ofDelivery(&e, *d)
		return e, nil
	}
	at, note := today, ""
	switch {
	case q.entry.OccurredAt.Before(sub.CreatedAt.Std()):
		at = because(webhook.SkippedYounger, sub.CreatedAt)
	case changed && then != nil:
		if at, err = q.decide(*then); err != nil {
			return e, err
		}
		if at.outcome == outcomeDelivered && today.outcome != outcomeDelivered {
			at, note = today, " The subscription was changed so at "+sub.UpdatedAt.String()+", after the event, but before it was routed."
		}
	case changed:
		note = " That is the subscription as it is today; what it was before its change at " + sub.UpdatedAt.String() + " is not recorded."
	}
	if at.outcome == outcomeDelivered {
		at = q.withoutDelivery()
	}
	e.Outcome, e.Message, e.Filter = at.outcome, at.message+note, at.filter
	if at.reason != "" {
		e.Reason = &at.reason
	}
	if changed && today.outcome != at.outcome && (today.outcome != outcomeDelivered || at.outcome != outcomePending) {
		e.Today = &today.outcome
		e.Message += " As it is today: " + strings.ToLower(today.message[:1]) + today.message[1:]
	}
	return e, nil
}

// answer is what follows from the terms of a subscription, or from a delivery.
type answer struct {
	outcome string
	reason  webhook.Reason
	message string
	filter  *FilterMiss
}

// because is the answer that a reason gives.
func because(r webhook.Reason, of ...any) answer {
	return answer{outcome: r.Outcome(), reason: r, message: r.Sentence(of...)}
}

// decide asks whether a version of a subscription gets the event.
func (q *question) decide(v subscriptionVersion) (answer, error) {
	terms, err := v.terms()
	if err != nil {
		return answer{}, err
	}
	if v.Status == statusDisabled {
		return because(webhook.SkippedDisabled), nil
	}
	switch verdict := terms.Decide(q.candidate, q.components); verdict {
	case webhook.NotSubscribed:
		return answer{outcomeNotSubscribed, "", fmt.Sprintf("The subscription names %s; %s is not among them.", strings.Join(v.Events, ", "), q.entry.Event), nil}, nil
	case webhook.ComponentOff:
		return because(webhook.SkippedComponent, q.typ.Component), nil
	case webhook.ScopeMissing:
		return because(webhook.SkippedScope, q.typ.Scope), nil
	case webhook.OwnChange:
		return because(webhook.SkippedOwnChange), nil
	case webhook.FilteredOut:
		miss, err := v.miss(terms.Filter, q.candidate.Doc)
		if err != nil {
			return answer{}, err
		}
		found := "found " + string(miss.Found)
		switch {
		case miss.Missing:
			found = "nothing stands there"
		case miss.tooLong:
			found = "a value of more than 1 KiB stands there"
		}
		return answer{outcomeFiltered, "", fmt.Sprintf("The filter wants %s at %s; %s.", miss.Wanted, miss.Key, found), miss}, nil
	case webhook.Wanted:
	}
	return answer{outcome: outcomeDelivered, message: "The subscription gets the event."}, nil
}

// withoutDelivery explains why an event that a subscription gets has no delivery.
func (q *question) withoutDelivery() answer {
	if q.entry.OccurredAt.Before(q.now.Add(-q.keep)) {
		return because(webhook.SkippedForgotten, q.keep/(24*time.Hour))
	}
	return because(webhook.Reason(webhook.WaitsForRouter))
}

// ofDelivery explains by the delivery of the event.
func (q *question) ofDelivery(e *Explanation, d DeliveryRecord) {
	var reason webhook.Reason
	switch d.Status {
	case webhook.StateSuccess.String():
		e.Outcome, e.Message = outcomeDelivered, fmt.Sprintf("Attempt %d arrived at %s%s.", d.Attempt, d.CompletedAt.String(), d.answered())
	case webhook.StateFailed.String():
		switch {
		case d.ErrorMessage != nil && *d.ErrorMessage == webhook.Skipped:
			reason, e.Message = webhook.FailedSkipped, webhook.FailedSkipped.Sentence()
		case d.Attempt >= d.MaxAttempts:
			reason, e.Message = webhook.FailedAttempts, webhook.FailedAttempts.Sentence(d.Attempt)
		case d.CompletedAt != nil && d.ExpiresAt != nil && !d.CompletedAt.Std().Before(d.ExpiresAt.Std()):
			reason, e.Message = webhook.FailedExpired, webhook.FailedExpired.Sentence(d.Attempt)
		default:
			reason, e.Message = webhook.FailedClosed, webhook.FailedClosed.Sentence()
		}
		e.Outcome = reason.Outcome()
		e.Message += d.answered() + ". Send it again with POST /webhooks/deliveries/" + d.ID.String() + "/redeliver."
	default:
		e.Outcome, e.NextAttemptAt, reason = outcomePending, d.NextAttemptAt, webhook.Reason(*d.WaitingFor)
		e.Message = d.WaitingFor.Sentence()
		if d.NextAttemptAt != nil && d.NextAttemptAt.Std().After(q.now) {
			e.Message += " Attempt " + fmt.Sprint(d.Attempt+1) + " is due at " + d.NextAttemptAt.String() + "."
		}
		if d.Attempt > 0 {
			e.Message += fmt.Sprintf(" Attempt %d failed%s.", d.Attempt, d.answered())
		}
	}
	if reason != "" {
		e.Reason = &reason
	}
}

// answered is the end of a sentence: what the last attempt was answered.
func (d *DeliveryRecord) answered() string {
	switch {
	case d.ErrorMessage != nil:
		return ": " + *d.ErrorMessage
	case d.HTTPCode != nil:
		return fmt.Sprintf(": HTTP %d", *d.HTTPCode)
	}
	return ""
}
