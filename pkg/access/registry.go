package access

import (
	"fmt"
	"slices"
	"strings"
)

// Registry is the complete list of scopes and components of the platform, which the domains declare.
type Registry struct {
	scopes     []string
	components []string
	alwaysOn   []string
}

// NewRegistry gathers what the domains declare, in the order in which clients see it listed. It panics on a name that is
// declared twice: a wiring mistake.
func NewRegistry(resources []Resource, components []Component) *Registry {
	r := &Registry{}
	for _, res := range resources {
		r.scopes = appendNew(r.scopes, res.Name+":read")
		if !res.ReadOnly {
			r.scopes = append(r.scopes, res.Name+":write")
		}
	}
	r.scopes = append(r.scopes, "*:read", "*:write")
	for _, c := range components {
		r.components = appendNew(r.components, c.Alias)
		if c.AlwaysOn {
			r.alwaysOn = append(r.alwaysOn, c.Alias)
		}
	}
	return r
}

func appendNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		panic(name + " is declared twice")
	}
	return append(list, name)
}

// Scopes lists every scope that a token can have.
func (r *Registry) Scopes() []string { return slices.Clone(r.scopes) }

// ParseScopes fails on a scope that is not in [Registry.Scopes].
func (r *Registry) ParseScopes(list []string) (Scopes, error) {
	for _, scope := range list {
		if !slices.Contains(r.scopes, scope) {
			return nil, fmt.Errorf("unknown scope %q: use one of %s", scope, strings.Join(r.scopes, ", "))
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
