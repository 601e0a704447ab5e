package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func writeSchemas(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var out bytes.Buffer
	require.NoError(t, (&OpenapiCmd{Write: dir}).Run(&out))
	require.Contains(t, out.String(), "files written to "+dir)
	return dir
}

func checkSchemas(dir string) error { return (&OpenapiCmd{Check: dir}).Run(&bytes.Buffer{}) }

func TestWrittenSchemasHaveNoDrift(t *testing.T) {
	t.Parallel()
	dir := writeSchemas(t)
	require.NoError(t, checkSchemas(dir))
	require.NoError(t, checkSchemas(dir+string(filepath.Separator)))
	require.NoError(t, (&OpenapiCmd{Write: dir}).Run(&bytes.Buffer{}), "to write again changes nothing")
	require.NoError(t, checkSchemas(dir))
	for _, name := range []string{"openapi/openapi.json", "events/order.created.schema.json", "events/order.created.example.json"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
}

// Each kind of drift fails by itself and names the file and what to do about it.
func TestDriftOfSchemasFails(t *testing.T) {
	t.Parallel()
	remove := func(path string) error { return os.Remove(path) }
	change := func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(b, '\n'), 0o600)
	}
	add := func(path string) error { return os.WriteFile(path, []byte("{}\n"), 0o600) }
	for name, tc := range map[string]struct {
		file  string
		spoil func(path string) error
		says  string
	}{
		"description is missing":    {"openapi/openapi.json", remove, "openapi/openapi.json is missing: run make schemas"},
		"event schema is missing":   {"events/order.created.schema.json", remove, "events/order.created.schema.json is missing"},
		"event example is missing":  {"events/order.created.example.json", remove, "events/order.created.example.json is missing"},
		"description has changed":   {"openapi/openapi.json", change, "openapi/openapi.json differs from the code"},
		"event schema has changed":  {"events/order.created.schema.json", change, "events/order.created.schema.json differs"},
		"event example has changed": {"events/order.created.example.json", change, "events/order.created.example.json differs"},
		"surplus description":       {"openapi/old.json", add, "openapi/old.json is described by nothing in the code: remove it"},
		"surplus event":             {"events/order.lost.schema.json", add, "events/order.lost.schema.json is described by nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeSchemas(t)
			require.NoError(t, tc.spoil(filepath.Join(dir, tc.file)))
			err := checkSchemas(dir)
			require.ErrorContains(t, err, tc.says)
			require.Len(t, bytes.Split([]byte(err.Error()), []byte("\n")), 1, "only what is wrong is named")
			require.NotZero(t, run([]string{"openapi", "--check", dir}, &bytes.Buffer{}, &bytes.Buffer{}), "a script sees it by the exit code")
		})
	}
}

func TestAllDriftIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	dir := writeSchemas(t)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "events")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openapi", "old.json"), nil, 0o600))
	err := checkSchemas(dir)
	for _, want := range []string{"events/order.created.schema.json is missing", "events/product.updated.example.json is missing", "openapi/old.json"} {
		require.ErrorContains(t, err, want)
	}
	require.Error(t, checkSchemas(t.TempDir()), "an empty folder")
}

func TestCommittedSchemasAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkSchemas("../../schemas"))
}
