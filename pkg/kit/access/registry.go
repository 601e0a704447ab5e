package access

import (
	"fmt"
	"slices"
	"strings"
)

// Registry is the complete list of scopes and components of the platform, which the domains declare. Lists are sorted by name.
type Registry struct {
	scopes     []string
	components []string
	alwaysOn   []string
}

// allScopes contain every other one.
var allScopes = []string{"*:read", "*:write"} //nolint:gochecknoglobals // a constant

// NewRegistry returns a registry with these resources and components; see [Registry.Add].
func NewRegistry(resources []Resource, components []Component) *Registry {
	r := &Registry{}
	r.Add(resources, components)
	return r
}

// Add adds what a domain declares. It panics on a name that is declared twice: a wiring mistake.
func (r *Registry) Add(resources []Resource, components []Component) {
	for _, res := range resources {
		r.scopes = insert(r.scopes, res.Name+":read")
		if !res.ReadOnly {
			r.scopes = insert(r.scopes, res.Name+":write")
		}
	}
	for _, c := range components {
		r.components = insert(r.components, c.Alias)
		if c.AlwaysOn {
			r.alwaysOn = insert(r.alwaysOn, c.Alias)
		}
	}
}

// insert keeps the list sorted, as clients see it.
func insert(list []string, name string) []string {
	i, found := slices.BinarySearch(list, name)
	if found {
		panic(name + " is declared twice")
	}
	return slices.Insert(list, i, name)
}

// Scopes lists every scope that a token can have.
func (r *Registry) Scopes() []string { return slices.Concat(r.scopes, allScopes) }

// ParseScopes fails on a scope that is not in [Registry.Scopes].
func (r *Registry) ParseScopes(list []string) (Scopes, error) {
	for _, scope := range list {
		if all := r.Scopes(); !slices.Contains(all, scope) {
			return nil, fmt.Errorf("unknown scope %q: use one of %s", scope, strings.Join(all, ", "))
		}
	}
	return slices.Clone(list), nil
}

// Components are all components.
func (r *Registry) Components() Components { return slices.Clone(r.components) }

// AlwaysOn are the components that cannot be disabled.
func (r *Registry) AlwaysOn() Components { return slices.Clone(r.alwaysOn) }

// CheckComponent fails on an alias that does not exist.
func (r *Registry) CheckComponent(alias string) error {
	if slices.Contains(r.components, alias) {
		return nil
	}
	return fmt.Errorf("unknown component %q: use one of %s", alias, strings.Join(r.components, ", "))
}

// With are the components of a company that has enabled these: those that are always on, too. Aliases that this binary
// does not know are left out.
func (r *Registry) With(enabled ...string) Components {
	on := make(Components, 0, len(r.components))
	for _, alias := range r.components {
		if slices.Contains(r.alwaysOn, alias) || slices.Contains(enabled, alias) {
			on = append(on, alias)
		}
	}
	return on
}
