package access

import (
	"fmt"
	"slices"
	"strings"
)

// components lists all components; the first alwaysOn are always enabled. The index is the bit in [Components].
var components = []string{
	"core", "catalog", "calendar", "messenger",
	"clients", "marketing", "orders", "deals", "cashier", "warehouse", "scheduling",
}

const alwaysOn = 4

// AllComponents lists every component by its alias; see docs/reference/authentication.md#components.
func AllComponents() []string { return slices.Clone(components) }

// AlwaysOn reports whether the component cannot be disabled.
func AlwaysOn(component string) bool { return slices.Contains(components[:alwaysOn], component) }

// CheckComponent returns an error if there is no component with this alias.
func CheckComponent(alias string) error {
	if slices.Contains(components, alias) {
		return nil
	}
	return fmt.Errorf("unknown component %q: use one of %s", alias, strings.Join(components, ", "))
}

// Components is a set of enabled components. The zero value contains those that are always on.
type Components struct{ bits uint32 }

// ComponentSet returns a set of components; unknown aliases are ignored.
func ComponentSet(enabled ...string) Components {
	var c Components
	for _, alias := range enabled {
		if i := slices.Index(components, alias); i >= 0 {
			c.bits |= 1 << i
		}
	}
	return c
}

// Has reports whether the component is enabled.
func (c Components) Has(alias string) bool {
	for i := range components {
		if components[i] == alias {
			return i < alwaysOn || c.bits&(1<<i) != 0
		}
	}
	return false
}

// List returns the aliases of the enabled components.
func (c Components) List() []string {
	list := make([]string, 0, len(components))
	for i, alias := range components {
		if i < alwaysOn || c.bits&(1<<i) != 0 {
			list = append(list, alias)
		}
	}
	return list
}
