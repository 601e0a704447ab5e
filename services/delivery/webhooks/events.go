package webhooks

import (
	"context"
	"slices"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// testData is what a test message carries, whatever event it names.
type testData struct {
	Test bool `json:"test" doc:"always true"`
}

// tested goes to its one receiver only, not to the event log.
var tested = event.New[testData]("webhook.test", "A test message that a person asked for.").By(`POST /webhooks/subscriptions/$subscription/test`)

var disabled = event.As("webhook.disabled", "A subscription was disabled, because its receiver failed for days or is gone.", disabledData).NotByClients("the platform raises it when it disables a subscription whose receiver has failed for days or is gone")

// DisabledData is the payload of webhook.disabled: nothing that the receiver's signatures depend on.
type DisabledData struct {
	record.Key
	Name           *string        `json:"name"`
	URL            string         `json:"url"`
	Events         []string       `json:"events"`
	Status         string         `json:"status" enum:"active,paused,disabled"`
	DisabledReason *string        `json:"disabledReason"`
	FailingSince   *jsontype.Time `json:"failingSince" nullable:"true" doc:"first failed attempt since the last success"`
	LastSuccessAt  *jsontype.Time `json:"lastSuccessAt" nullable:"true"`
	LastFailureAt  *jsontype.Time `json:"lastFailureAt" nullable:"true"`
	record.Meta
}

func disabledData(s *Subscription) DisabledData {
	return DisabledData{
		Key: s.Key, Name: s.Name, URL: s.URL, Events: s.Events, Status: s.Status, DisabledReason: s.DisabledReason,
		FailingSince: s.FailingSince, LastSuccessAt: s.LastSuccessAt, LastFailureAt: s.LastFailureAt, Meta: s.Meta,
	}
}

// EventType describes one event that subscriptions may name.
type EventType struct {
	Event       string `json:"event"`
	Component   string `json:"module" doc:"component that must be enabled for the company"`
	Description string `json:"description"`
	SchemaRef   string `json:"schemaRef" doc:"JSON Schema of the envelope, relative to the schemas of the platform"`
}

// EventTypes lists every event by name.
func (s *Service) EventTypes(context.Context, access.Caller) ([]EventType, error) {
	declared := s.cfg.Registry.All()
	types := make([]EventType, len(declared))
	for i, t := range declared {
		types[i] = EventType{Event: t.Name, Component: t.Component, Description: t.Description, SchemaRef: "events/" + t.Name + ".schema.json"}
	}
	return types, nil
}

// checkPatterns checks the names and wildcards of the field events and leaves out repeats. Each must stand for at least one event.
func (s *Service) checkPatterns(faults *apierr.Fields, names []string) []webhook.EventPattern {
	var patterns []webhook.EventPattern
	for i, name := range names {
		at := "events[" + strconv.Itoa(i) + "]"
		p, err := webhook.ParseEventPattern(name)
		switch {
		case err != nil:
			faults.Add(at, apierr.Format, "%s", err.Error())
		case len(s.matching(p)) == 0:
			faults.Add(at, apierr.Enum, "%s is not an event, nor a prefix of one; GET /webhooks/event-types lists them", name)
		case !slices.Contains(patterns, p):
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// matching lists the events that any of the patterns stands for.
func (s *Service) matching(patterns ...webhook.EventPattern) (types []event.Type) {
	for _, t := range s.cfg.Registry.All() {
		if webhook.MatchAny(patterns, t.Name) {
			types = append(types, t)
		}
	}
	return types
}

// scopeOf is the scope that shows what an event of the name carries. One that this binary does not know is shown to
// those who may read everything.
func (s *Service) scopeOf(name string) string {
	t, known := s.cfg.Registry.Lookup(name)
	if !known {
		return "*"
	}
	return t.Scope
}

// checkEvent refuses what is not the exact name of an event.
func (s *Service) checkEvent(field, name string) error {
	if _, known := s.cfg.Registry.Lookup(name); known {
		return nil
	}
	return apierr.InvalidField(field, apierr.Enum, "%s is not an event; GET /webhooks/event-types lists them", name)
}
