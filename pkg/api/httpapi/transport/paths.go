package transport

import (
	"slices"
	"strings"
)

// pathTree maps paths to their methods. Fiber itself considers every matching pattern, so a fixed path would also list,
// and be routed to, the methods of a sibling path with an {id}.
type pathTree struct {
	fixed    map[string]*pathTree
	any      *pathTree // {parameter}
	rest     bool      // ends in *: matches any suffix
	accepted []string
}

// add registers a method of a path such as /things/{id} or /docs/*.
func (t *pathTree) add(path string, methods ...string) {
	for _, segment := range segments(path) {
		if segment == "*" {
			t.rest = true
			break
		}
		t = t.child(segment)
	}
	t.accepted = append(t.accepted, methods...)
	slices.Sort(t.accepted)
}

func (t *pathTree) child(segment string) *pathTree {
	if strings.HasPrefix(segment, "{") {
		if t.any == nil {
			t.any = &pathTree{}
		}
		return t.any
	}
	if t.fixed == nil {
		t.fixed = map[string]*pathTree{}
	}
	if t.fixed[segment] == nil {
		t.fixed[segment] = &pathTree{}
	}
	return t.fixed[segment]
}

// methods returns the methods of the most specific matching pattern, or nil if none matches.
func (t *pathTree) methods(path string) []string { return t.find(segments(path)) }

func (t *pathTree) find(path []string) []string {
	if len(path) == 0 || t.rest {
		return t.accepted
	}
	if next := t.fixed[path[0]]; next != nil {
		if found := next.find(path[1:]); found != nil {
			return found
		}
	}
	if t.any != nil && path[0] != "" {
		return t.any.find(path[1:])
	}
	return nil
}

// segments splits a path as Fiber does, ignoring a trailing slash.
func segments(path string) []string {
	path = strings.TrimRight(strings.TrimPrefix(path, "/"), "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
