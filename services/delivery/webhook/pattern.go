package webhook

import (
	"fmt"
	"regexp"
	"strings"
)

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
