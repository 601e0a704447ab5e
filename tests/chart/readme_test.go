package chart

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the table of values into the chart's README, its schema and the flags of the roles") //nolint:gochecknoglobals // a flag

// The README's table says what values.yaml says.
func TestReadmeIsUpToDate(t *testing.T) {
	t.Parallel()
	values, err := os.ReadFile(filepath.Join(Folder, "values.yaml"))
	require.NoError(t, err)
	table, err := Table(values)
	require.NoError(t, err)
	path := filepath.Join(Folder, "README.md")
	readme, err := os.ReadFile(path)
	require.NoError(t, err)
	want, err := WithTable(string(readme), table)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(readme), "run make chart-docs")
}

// values.schema.json is what its source says.
func TestSchemaIsUpToDate(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(Folder, "values.schema.yaml"))
	require.NoError(t, err)
	want, err := ValuesSchema(source)
	require.NoError(t, err)
	path := filepath.Join(Folder, "values.schema.json")
	if *update {
		require.NoError(t, os.WriteFile(path, want, 0o600))
		return
	}
	require.Equal(t, string(want), read(t, path), "run make chart-docs")
}

// A value that nobody explains, and a README without a place for the table, are named.
func TestTableNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := Table([]byte("api:\n  # -- Known\n  a: 1\nrelay:\n  a: 1\n  b: 2\n"))
	require.EqualError(t, err, "relay.b: say in a comment `# -- …` what it means")
	_, err = WithTable("nothing", "")
	require.ErrorContains(t, err, "has no lines")
}

// values.yaml and values.schema.json know the same keys, and the schema closes every object.
func TestSchemaKnowsEveryValue(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(Folder, "values.schema.json"))
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(data, &schema))
	text, err := os.ReadFile(filepath.Join(Folder, "values.yaml"))
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, yaml.UnmarshalStrict(text, &values))
	// Keys that have no default.
	extra := []string{"global"}
	compare(t, schema["definitions"].(map[string]any), schema, values, "", extra)
}

func compare(t *testing.T, definitions, schema map[string]any, value any, path string, extra []string) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		if strings.HasPrefix(name, "io.k8s.") {
			return // what Kubernetes takes: its defaults are not ours
		}
		schema = definitions[name].(map[string]any)
	}
	properties, ok := schema["properties"].(map[string]any)
	fields, isMap := value.(map[string]any)
	if isMap && len(fields) == 0 {
		return // what differs from another value
	}
	if !ok || !isMap || schema["additionalProperties"] != false {
		require.False(t, ok && isMap && schema["additionalProperties"] == nil, "%s: the schema lets unknown keys through", path)
		return
	}
	for key := range fields {
		require.Contains(t, properties, key, "%s.%s is missing in the schema", path, key)
		compare(t, definitions, properties[key].(map[string]any), fields[key], path+"."+key, extra)
	}
	for key := range properties {
		if _, given := fields[key]; !given && !slices.Contains(extra, key) && key != "claims" {
			require.Failf(t, "missing value", "%s.%s is in the schema and has no default in values.yaml", path, key)
		}
	}
}

// Every path that the documentation and the notes name exists in the values.
func TestDocumentsNameValuesThatExist(t *testing.T) {
	t.Parallel()
	c := load(t)
	for _, file := range []string{"templates/NOTES.txt", "README.md", "../../docs/kubernetes.md"} {
		text, err := os.ReadFile(filepath.Join(Folder, file))
		require.NoError(t, err)
		for _, key := range named(string(text)) {
			require.True(t, known(c.Values, key), "%s names %s, which is no value", file, key)
		}
	}
}

// named finds what looks like a value: dotted words that begin with a top-level key, in backticks or in --set.
func named(text string) []string {
	var found []string
	for i, part := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		for _, word := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" =,:()\n\"'", r) }) {
			first, rest, dotted := strings.Cut(word, ".")
			if dotted && rest != "" && slices.Contains([]string{
				"api", "relay", "dispatcher", "console", "run", "database", "kafka", "jobs", "networkPolicy", "metrics", "evaluation", "telemetry", "logging", "image", "serviceAccount",
			}, first) {
				found = append(found, word)
			}
		}
	}
	return found
}

func known(values any, key string) bool {
	for _, part := range strings.Split(key, ".") {
		m, ok := values.(map[string]any)
		if !ok {
			return false
		}
		next, ok := m[part]
		if !ok {
			return part == "*" || len(m) == 0 || fmt.Sprint(m) == "map[]"
		}
		values = next
	}
	return true
}
