package roles_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A generator of Go clients makes methods of the fields of a schema: Get, GetOk and Set, for optional ones also Has and Unset, for
// nullable ones SetNil. A field whose name is that of such a method does not compile, so docs/clients.md gives it another.
func TestFieldsAreNoAccessorsOfOthers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/clients.md")
	require.NoError(t, err)
	found := 0
	for _, file := range []string{descriptionFile, adminFile} {
		for schema, s := range schemasOf(t, file) {
			properties, _ := s.(map[string]any)["properties"].(map[string]any)
			for name := range properties {
				for _, field := range accessorsOf(name) {
					if _, taken := properties[field]; taken {
						found++
						require.Contains(t, string(page), "--name-mappings "+field+"=", "%s of %s is a method for %s, too", field, schema, name)
					}
				}
			}
		}
	}
	require.NotZero(t, found, "of products: hasVariants")
}

// accessorsOf are the names that a field must not have beside another.
func accessorsOf(name string) (all []string) {
	exported := strings.ToUpper(name[:1]) + name[1:]
	for _, verb := range []string{"get", "set", "has", "unset"} {
		all = append(all, verb+exported)
	}
	return slices.Concat(all, []string{"get" + exported + "Ok", "set" + exported + "Nil"})
}
