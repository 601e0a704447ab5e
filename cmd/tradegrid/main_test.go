package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHelpAndVersionRunNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"dev", "--help"}, {"--version"}, {"topics", "apply", "--help"}} {
		var out, errs bytes.Buffer
		require.Zero(t, run(args, &out, &errs), "%v: %s", args, errs.String())
		require.NotEmpty(t, out.String(), "%v", args)
		require.Empty(t, errs.String(), "%v", args)
	}
}

func TestWrongFlagsAreNamed(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--nonsense":      {"api", "--nonsense"},
		"--database-url":  {"migrate"},
		"--kafka-brokers": {"relay", "--database-url", "postgres://localhost/x"},
		"--retry-delays":  {"dispatcher", "--database-url", "postgres://localhost/x", "--kafka-brokers", "localhost:1", "--retry-delays", "1s"},
	} {
		var out, errs bytes.Buffer
		require.NotZero(t, run(args, &out, &errs), "%v", args)
		require.Contains(t, errs.String(), want, "%v", args)
	}
}

// A script sees drift by the exit code.
func TestDriftOfSchemasEndsWithAnError(t *testing.T) {
	t.Parallel()
	require.NotZero(t, run([]string{"openapi", "--check", t.TempDir()}, &testWriter{t}, &testWriter{t}))
}

func TestUnknownKindOfDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	require.NotZero(t, run([]string{"dev", "--database", "oracle", "--state", t.TempDir()}, &testWriter{t}, &testWriter{t}))
}

// testWriter shows what is written with the test.
type testWriter struct{ t *testing.T }

func (w *testWriter) Write(p []byte) (int, error) { return w.t.Output().Write(p) }
