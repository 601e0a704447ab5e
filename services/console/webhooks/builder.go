package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

const outcomeDelivered = "delivered"

// What the buttons of conditions do; the path stands behind.
const (
	doAdd  = "add"  // the value that the event has at the path
	doLess = "less" // without this value
	doDrop = "drop" // without the condition
)

func verbOf(do string) string {
	verb, _, _ := strings.Cut(do, " ")
	return verb
}

// Bounds of the fields of an event that are shown.
const (
	maxFields     = 200
	maxElements   = 3       // of an array
	maxValueBytes = 1 << 10 // of a value that becomes a condition
	maxValueShown = 80      // characters
)

// condition is a path of a filter with the JSON of the values of which one must stand there.
type condition struct {
	path   string
	values []json.RawMessage
	list   bool // written as a list, which is an array also with one value
}

// conditions reads a filter in its order; ok is false if it is no JSON object.
func conditions(text string) (all []condition, ok bool) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, true
	}
	names, values, ok := membersOf([]byte(text))
	if !ok {
		return nil, false
	}
	for i, name := range names {
		c := condition{path: name}
		if c.list = values[i][0] == '['; c.list {
			_ = json.Unmarshal(values[i], &c.values) // it is valid, and a list
		} else {
			c.values = []json.RawMessage{values[i]}
		}
		all = append(all, c)
	}
	return all, true
}

// membersOf are those of a JSON object, in its order.
func membersOf(raw []byte) (names []string, values []json.RawMessage, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') || !json.Valid(raw) {
		return nil, nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, nil, false
		}
		names, values = append(names, name.(string)), append(values, value) //nolint:errcheck // JSON names are strings
	}
	return names, values, true
}

// filterText is the JSON of conditions, a line for each.
func filterText(all []condition) string {
	if len(all) == 0 {
		return ""
	}
	lines := make([]string, len(all))
	for i, c := range all {
		value := string(bytes.Join(rawBytes(c.values), []byte(", ")))
		if c.list || len(c.values) != 1 {
			value = "[" + value + "]"
		}
		name, _ := json.Marshal(c.path) //nolint:errchkjson // a text
		lines[i] = "  " + string(name) + ": " + value
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}"
}

func rawBytes(values []json.RawMessage) (all [][]byte) {
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// has reports whether a value is among those of the condition.
func (c condition) has(value json.RawMessage) bool {
	return slices.ContainsFunc(c.values, func(v json.RawMessage) bool { return bytes.Equal(v, value) })
}

// changeFilter does what the button of a condition asks for. A filter that cannot be read stays, so that the API says what is wrong.
func changeFilter(typed url.Values, sample *webhooks.EventEnvelope) url.Values {
	verb, path, _ := strings.Cut(typed.Get(fieldDo), " ")
	all, ok := conditions(typed.Get(fieldFilter))
	if !ok || verb == doTry {
		return typed
	}
	i := slices.IndexFunc(all, func(c condition) bool { return c.path == path })
	value := valueAt(sample, path)
	switch {
	case verb == doAdd && value != nil && i < 0:
		all = append(all, condition{path: path, values: []json.RawMessage{value}})
	case verb == doAdd && value != nil && !all[i].has(value):
		all[i].values = append(all[i].values, value)
	case verb == doLess && value != nil && i >= 0 && len(all[i].values) > 1:
		all[i].values = slices.DeleteFunc(all[i].values, func(v json.RawMessage) bool { return bytes.Equal(v, value) })
	case (verb == doDrop || verb == doLess) && i >= 0:
		all = slices.Delete(all, i, i+1)
	}
	typed = maps.Clone(typed)
	typed.Set(fieldFilter, filterText(all))
	return typed
}

// sampleOf is the event whose fields the form shows; nil = none was chosen, or it is gone.
func sampleOf(ctx context.Context, q *web.Request) (*webhooks.EventEnvelope, error) {
	id, err := uuid.Parse(q.Form.Get(fieldSample))
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // there is none
	}
	raw, err := web.Call[web.JSON](ctx, q, "getEvent", web.Input{Path: map[string]string{"eventId": id.String()}})
	if web.Refused(err) {
		return nil, nil //nolint:nilnil // it is gone
	}
	var sample webhooks.EventEnvelope
	if err == nil {
		err = web.Decode(raw, &sample)
	}
	return &sample, err
}

// eventField is a value in an event; nil = it is no value that a condition can take.
type eventField struct {
	path  string
	value json.RawMessage
	text  string
}

// fieldsOf are the fields of an event by their paths, in its order.
func fieldsOf(e *webhooks.EventEnvelope) (all []eventField, more bool) {
	actor, _ := json.Marshal(e.ActorID) //nolint:errchkjson // a text
	all = flatten(nil, "data", e.Data)
	all = flatten(all, "actorId", actor)
	if len(all) > maxFields {
		return all[:maxFields], true
	}
	return all, false
}

// flatten appends the fields in a value. Names with a dot have no path, and what is deeper than a filter goes is left out.
func flatten(all []eventField, path string, raw json.RawMessage) []eventField {
	if len(all) > maxFields || len(raw) == 0 || strings.Count(path, ".") >= webhook.MaxFilterSegments {
		return all
	}
	if names, values, isObject := membersOf(raw); isObject && len(names) > 0 {
		for i, name := range names {
			if name != "" && !strings.Contains(name, ".") {
				all = flatten(all, path+"."+name, values[i])
			}
		}
		return all
	}
	var elements []json.RawMessage
	if raw[0] == '[' && json.Unmarshal(raw, &elements) == nil && len(elements) > 0 {
		for i, element := range elements[:min(len(elements), maxElements)] {
			all = flatten(all, path+"."+strconv.Itoa(i), element)
		}
		return all
	}
	f := eventField{path: path, value: raw, text: brief(raw)}
	if raw[0] == '[' || raw[0] == '{' || len(raw) > maxValueBytes {
		f.value = nil
	}
	return append(all, f)
}

func brief(raw json.RawMessage) string {
	if text := []rune(string(raw)); len(text) > maxValueShown {
		return string(text[:maxValueShown]) + "…"
	}
	return string(raw)
}

// valueAt is the value that an event has at a path; nil = there is none that a condition can take.
func valueAt(e *webhooks.EventEnvelope, path string) json.RawMessage {
	if e == nil {
		return nil
	}
	all, _ := fieldsOf(e)
	for _, f := range all {
		if f.path == path {
			return f.value
		}
	}
	return nil
}

// fieldShown is a field of an event with the button that makes it a condition.
type fieldShown struct {
	ID, Path, Text string
	Do             string // "" = it cannot be one
	Chosen         bool   // it is one
}

// conditionShown is a condition with the button that removes it.
type conditionShown struct {
	Path, Text, Do string
	Several        bool
}

func conditionsShown(filter string) (shown []conditionShown) {
	all, _ := conditions(filter)
	for _, c := range all[:min(len(all), webhook.MaxFilterKeys)] {
		text := make([]string, 0, len(c.values))
		for _, v := range c.values {
			text = append(text, brief(v))
		}
		shown = append(shown, conditionShown{Path: c.path, Text: brief([]byte(strings.Join(text, ", "))), Do: doDrop + " " + c.path, Several: len(c.values) > 1})
	}
	return shown
}

// show fills the part with the fields of the event that was chosen, or else of the newest.
func (p *previewPart) show(q *web.Request, previews []webhooks.Preview, sample *webhooks.EventEnvelope, filter string) {
	if sample == nil {
		for _, one := range previews[:min(len(previews), 1)] {
			sample = &webhooks.EventEnvelope{}
			if json.Unmarshal(one.Event.Body, sample) != nil {
				return
			}
		}
	}
	if sample == nil {
		return
	}
	chosen := sample.EventID.String()
	p.Sample = web.Choice(fieldSample, q.T("webhooks.builder.sample.event"), chosen)
	for _, one := range previews {
		id, text := one.Event.ID.String(), one.Event.Event+" · "+q.At(one.Event.OccurredAt).Short()
		p.Sample.Options = append(p.Sample.Options, web.Option{Value: id, Text: text, Selected: id == chosen})
	}
	if !slices.ContainsFunc(p.Sample.Options, func(o web.Option) bool { return o.Selected }) { // newer ones have come
		p.Sample.Options = append(p.Sample.Options, web.Option{Value: chosen, Text: sample.Event + " · " + q.At(sample.OccurredAt.Std()).Short(), Selected: true})
	}
	all, _ := conditions(filter)
	fields, cut := fieldsOf(sample)
	p.Cut = cut
	for i, f := range fields {
		shown := fieldShown{ID: "field-" + strconv.Itoa(i), Path: f.path, Text: f.text}
		shown.Chosen = f.value != nil && slices.ContainsFunc(all, func(c condition) bool { return c.path == f.path && c.has(f.value) })
		switch {
		case shown.Chosen:
			shown.Do = doLess + " " + f.path
		case f.value != nil:
			shown.Do = doAdd + " " + f.path
		}
		p.Fields = append(p.Fields, shown)
	}
}
