package roles_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
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

// Client generators make nothing that compiles of alternatives of several types, arrays among them: a value has one type, is one of several
// objects, an object or null, or a text in one of several formats.
func TestAlternativesAreObjectsOrFormats(t *testing.T) {
	t.Parallel()
	for _, file := range []string{descriptionFile, adminFile} {
		eachSchema(description(t, file), "", func(at string, s map[string]any) {
			for _, keyword := range []string{"oneOf", "anyOf"} {
				alternatives, _ := s[keyword].([]any)
				for _, alternative := range alternatives {
					_, object := alternative.(map[string]any)["$ref"]
					_, format := alternative.(map[string]any)["format"]
					null := len(alternatives) == 2 && reflect.DeepEqual(alternative, map[string]any{"type": "null"})
					require.True(t, object || format || null, "%s: %s%s: describe it by one type, or in words", file, at, keyword)
				}
			}
			require.NotContains(t, s, "patternDescription", "%s: %s", file, at)
		})
	}
}

// Clients of several generators refuse null for an object whose own schema allows it. It is said where the object is referred to.
func TestNullIsDescribedAtTheReference(t *testing.T) {
	t.Parallel()
	found := 0
	for _, file := range []string{descriptionFile, adminFile} {
		for name, s := range schemasOf(t, file) {
			types, _ := s.(map[string]any)["type"].([]any)
			require.NotContains(t, types, "null", "%s: %s: use a pointer where it may be null", file, name)
		}
		eachSchema(description(t, file), "", func(_ string, s map[string]any) {
			alternatives, _ := s["anyOf"].([]any)
			found += len(slices.DeleteFunc(slices.Clone(alternatives), func(a any) bool { return !reflect.DeepEqual(a, map[string]any{"type": "null"}) }))
		})
	}
	require.GreaterOrEqual(t, found, 10, "of jobs: error")
}

func description(t *testing.T, file string) (doc map[string]any) {
	t.Helper()
	raw, err := os.ReadFile("../../schemas/openapi/" + file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &doc))
	return doc
}

// eachSchema calls do with every object of a description but examples, and where it is.
func eachSchema(v any, at string, do func(at string, s map[string]any)) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			eachSchema(item, fmt.Sprint(at, i, "/"), do)
		}
	case map[string]any:
		do(at, v)
		for name, item := range v {
			if name != "example" && name != "examples" {
				eachSchema(item, at+name+"/", do)
			}
		}
	}
}

// Each tag is declared with what its operations are about, and has some.
func TestTagsAreDeclared(t *testing.T) {
	t.Parallel()
	for _, file := range []string{descriptionFile, adminFile} {
		used := map[string]bool{}
		eachSchema(description(t, file)["paths"], "", func(_ string, s map[string]any) {
			tags, _ := s["tags"].([]any)
			for _, tag := range tags {
				used[tag.(string)] = true
			}
		})
		declared := map[string]bool{}
		for _, tag := range description(t, file)["tags"].([]any) {
			name := tag.(map[string]any)["name"].(string)
			declared[name] = true
			require.NotEmpty(t, tag.(map[string]any)["description"], "%s: the tag %s has no description: set About of its httpapi.Group", file, name)
		}
		require.Equal(t, used, declared, file)
	}
}
