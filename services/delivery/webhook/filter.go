package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Limits of a filter.
const (
	MaxFilterKeys     = 20
	MaxFilterSegments = 8
)

// Filter is a compiled subscription filter: every condition must hold. The zero value and nil match
// everything. It is safe for concurrent use.
type Filter struct{ conditions []condition }

// condition says that the value at path equals one of the values. A filter may list thousands, and is tried on each event: those that
// are no arrays or objects are looked up.
type condition struct {
	path    []string
	scalars map[any]bool
	nested  []any
}

// FilterFault is one error in a filter; Key is empty if it concerns the filter as a whole.
type FilterFault struct {
	Key     string `json:"key"`
	Message string `json:"message"` // Rule with Args in it
	Rule    string `json:"-"`       // format of the message
	Args    []any  `json:"-"`
}

func fault(key, rule string, args ...any) *FilterFault {
	return &FilterFault{Key: key, Message: fmt.Sprintf(rule, args...), Rule: rule, Args: args}
}

// CompileFilter reads a flat JSON object whose keys are dot paths into the envelope, such as
// {"data.status": "new", "data.lines.0.kind": ["product", "custom"]}. An array means any of its values;
// to match an array in the event, nest it in another array. An empty input, null and {} match every event.
// All faults are reported at once, in the order of the keys.
func CompileFilter(raw []byte) (*Filter, []FilterFault) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return &Filter{}, nil
	}
	if !json.Valid(raw) || raw[0] != '{' {
		return nil, []FilterFault{*fault("", "the filter must be a JSON object of paths and values, such as {\"data.status\": \"new\"}")}
	}
	entries, err := readEntries(raw)
	if err != nil {
		return nil, []FilterFault{*fault("", "%s", err.Error())}
	}
	var faults []FilterFault
	if len(entries) > MaxFilterKeys {
		faults = append(faults, *fault("", "the filter has %d keys; at most %d are allowed", len(entries), MaxFilterKeys))
	}
	f := &Filter{conditions: make([]condition, 0, len(entries))}
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		c, problem := compileCondition(e)
		if problem == nil && seen[e.key] {
			problem = fault(e.key, "is a duplicate key; use one key with an array to match any of several values")
		}
		seen[e.key] = true
		if problem != nil {
			faults = append(faults, *problem)
			continue
		}
		f.conditions = append(f.conditions, c)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return f, nil
}

// Empty reports whether the filter matches every event.
func (f *Filter) Empty() bool { return f == nil || len(f.conditions) == 0 }

// Match reports whether every condition holds for the envelope. A path that does not exist never
// matches, not even null.
func (f *Filter) Match(d *Doc) bool { return f.failing(d) < 0 }

// failing is the index of the first condition that does not hold; -1 when all do.
func (f *Filter) failing(d *Doc) int {
	if f.Empty() {
		return -1
	}
	root, ok := d.value()
	if !ok {
		return 0
	}
	for i := range f.conditions {
		if !f.conditions[i].match(root) {
			return i
		}
	}
	return -1
}

// Miss is the first condition of a filter that an event does not meet.
type Miss struct {
	Key   string
	Found any  // what stands there
	There bool // false = nothing stands there
}

// Miss returns the condition because of which [Filter.Match] reports false; ok is false when it reports true.
func (f *Filter) Miss(d *Doc) (m Miss, ok bool) {
	i := f.failing(d)
	if i < 0 {
		return m, false
	}
	path := f.conditions[i].path
	m.Key = strings.Join(path, ".")
	if root, valid := d.value(); valid {
		m.Found, m.There = lookup(root, path)
	}
	return m, true
}

func (c *condition) match(root any) bool {
	v, ok := lookup(root, c.path)
	if !ok {
		return false
	}
	switch v := v.(type) {
	case []any, map[string]any:
		return slices.ContainsFunc(c.nested, func(want any) bool { return equal(v, want) })
	default:
		return c.scalars[canonicalize(v)]
	}
}

type entry struct {
	key   string
	value any
}

// readEntries reads a JSON object key by key, because a map would hide duplicate keys.
func readEntries(raw []byte) ([]entry, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	var entries []entry
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read filter: %w", err)
		}
		e := entry{key: key.(string)} //nolint:errcheck // JSON keys are strings
		if err := dec.Decode(&e.value); err != nil {
			return nil, fmt.Errorf("read filter: %w", err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func compileCondition(e entry) (condition, *FilterFault) {
	path := strings.Split(e.key, ".")
	if len(path) > MaxFilterSegments {
		return condition{}, fault(e.key, "the path has %d segments; at most %d are allowed", len(path), MaxFilterSegments)
	}
	if slices.Contains(path, "") {
		return condition{}, fault(e.key, "the path has an empty segment; write names and array indexes with single dots between them, such as data.lines.0.kind")
	}
	if problem := misplaced(path); problem != nil {
		return condition{}, problem
	}
	values, isList := e.value.([]any)
	if !isList {
		values = []any{e.value}
	}
	if len(values) == 0 {
		return condition{}, fault(e.key, "an empty array never matches; list at least one value or omit the key")
	}
	c := condition{path: path, scalars: map[any]bool{}}
	for _, v := range values {
		switch v := canonicalize(v).(type) {
		case []any, map[string]any:
			c.nested = append(c.nested, v)
		default:
			c.scalars[v] = true
		}
	}
	return c, nil
}

// aside are the fields of the envelope beside data. They are texts.
var aside = []string{"event", "companyId", "occurredAt", "actorId", "eventId"} //nolint:gochecknoglobals // a constant list

const inData = "data"

// misplaced says what is wrong with a path that leads nowhere in any envelope.
func misplaced(path []string) *FilterFault {
	root, deeper := path[0], len(path) > 1
	whole := strings.Join(path, ".")
	switch {
	case root == inData && deeper, !deeper && slices.Contains(aside, root):
		return nil
	case root == inData:
		return fault(whole, "can never match; name a field of it, such as data.status. %s", pathRule())
	}
	meant := apierr.Nearest(root, slices.Concat(aside, []string{inData}))
	switch {
	case meant == inData && deeper:
		meant = inData + whole[len(root):]
	case meant == inData || meant == "":
		meant = inData + "." + whole
	}
	return fault(whole, "can never match; did you mean %s? %s", meant, pathRule())
}

func pathRule() string {
	return "A path begins with data. or is one of " + strings.Join(aside, ", ")
}

// DataFields calls see with each path into data, and the name of the field that it begins with.
func (f *Filter) DataFields(see func(key, field string)) {
	for _, c := range f.conditions {
		if c.path[0] == inData {
			see(strings.Join(c.path, "."), c.path[1])
		}
	}
}

// EventPattern is one entry of a subscription's event list: an exact name, a prefix such as order.* or
// stock.* (any depth below it), or * for everything.
type EventPattern string

// Any is the pattern of every event.
const Any EventPattern = "*"

var patternForm = regexp.MustCompile(`^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\.\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+)$`)

// ParseEventPattern checks the syntax of a pattern. It does not check that the event exists.
func ParseEventPattern(s string) (EventPattern, error) {
	if len(s) > 100 || !patternForm.MatchString(s) {
		return "", fmt.Errorf("%q must be an event name such as order.created, a prefix such as order.*, or *", s)
	}
	return EventPattern(s), nil
}

// Match reports whether the pattern matches the event.
func (p EventPattern) Match(event string) bool {
	if p == Any {
		return true
	}
	prefix, wild := strings.CutSuffix(string(p), "*")
	if !wild {
		return string(p) == event
	}
	return len(event) > len(prefix) && strings.HasPrefix(event, prefix)
}

// MatchAny reports whether one of the patterns matches the event.
func MatchAny(patterns []EventPattern, event string) bool {
	for _, p := range patterns {
		if p.Match(event) {
			return true
		}
	}
	return false
}
