package access

import (
	"fmt"
	"slices"
	"strings"
)

// resources lists the resources of scopes. Read-only ones have no write scope.
var resources = []struct {
	name     string
	readOnly bool
}{
	{name: "catalog"},
	{name: "clients"},
	{name: "leads"},
	{name: "orders"},
	{name: "deals"},
	{name: "sales"},
	{name: "warehouse"},
	{name: "scheduling"},
	{name: "webhooks"},
	{name: "events", readOnly: true},
	{name: "company", readOnly: true},
	{name: "exports"},
}

// AllScopes returns every scope that a token can have; see docs/reference/authentication.md#scopes.
func AllScopes() []string {
	all := make([]string, 0, 2*len(resources)+2)
	for _, r := range resources {
		all = append(all, r.name+":read")
		if !r.readOnly {
			all = append(all, r.name+":write")
		}
	}
	return append(all, "*:read", "*:write")
}

// Scopes are the scopes of a token, such as orders:write. A slice is as fast as a map for the few entries.
type Scopes []string

// ParseScopes returns an error if a scope is not in [AllScopes].
func ParseScopes(list []string) (Scopes, error) {
	known := AllScopes()
	for _, scope := range list {
		if !slices.Contains(known, scope) {
			return nil, fmt.Errorf("unknown scope %q: use one of %s", scope, strings.Join(known, ", "))
		}
	}
	return slices.Clone(list), nil
}

// Allows reports whether the scopes allow reading or writing the resource.
// Write scopes include reading; the resource * matches every resource.
func (s Scopes) Allows(resource string, write bool) bool {
	for _, scope := range s {
		name, verb, _ := strings.Cut(scope, ":")
		if (name == resource || name == "*") && (verb == "write" || verb == "read" && !write) {
			return true
		}
	}
	return false
}

// Readable returns the resources that the scopes allow to read.
func (s Scopes) Readable() []string {
	var names []string
	for _, r := range resources {
		if s.Allows(r.name, false) {
			names = append(names, r.name)
		}
	}
	return names
}
