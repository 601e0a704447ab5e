package access

import "slices"

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
