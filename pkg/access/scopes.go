package access

import (
	"slices"
	"strings"
)

// Resource is what a scope names, as the domain behind it declares it.
type Resource struct {
	Name     string // such as orders
	ReadOnly bool   // there is no write scope
}

// Scopes are the scopes of a token, such as orders:write. They hold few entries, so that walking them
// is as fast as any index.
type Scopes []string

// Allows reports whether the scopes open the resource for reading or for writing.
// Writing includes reading; the resource * stands for every one.
func (s Scopes) Allows(resource string, write bool) bool {
	for _, scope := range s {
		name, verb, _ := strings.Cut(scope, ":")
		if (name == resource || name == "*") && (verb == "write" || verb == "read" && !write) {
			return true
		}
	}
	return false
}

// Readable lists the resources that the scopes name, by name: each of them may be read. The resource * stands for every one.
func (s Scopes) Readable() []string {
	names := make([]string, 0, len(s))
	for _, scope := range s {
		name, _, _ := strings.Cut(scope, ":")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
