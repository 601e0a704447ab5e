package access

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Resource is what a scope names, as the domain behind it declares it.
type Resource struct {
	Name     string // such as orders
	ReadOnly bool   // there is no write scope
}

// Scopes are the scopes of a token, such as orders:write. A slice is as fast as a map for the few entries.
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

// ScopeMissing returns the 403 for what needs a scope that the token lacks.
func ScopeMissing(need string) error {
	return apierr.New(http.StatusForbidden, "AUTH_API_SCOPE_INSUFFICIENT", "the token lacks the scope "+need+"; use a token that has it").With("scopes", []string{need})
}

// Component is a part of the platform that a company has or has not, as the domain behind it declares it.
type Component struct {
	Alias    string // such as orders
	AlwaysOn bool   // every company has it; it cannot be disabled
}

// Components are the components that a company has: those that are always on and those that are enabled, in the order
// in which clients see them. They are few, so that walking them is as fast as any index. Never change one.
type Components []string

// Has reports whether the component is in the set.
func (c Components) Has(alias string) bool { return slices.Contains(c, alias) }

// List names the components of the set.
func (c Components) List() []string { return slices.Clone(c) }
