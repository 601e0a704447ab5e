package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/services/roles"
)

var updateDocs = flag.Bool("update-docs", false, "write the tables of docs/configuration.md anew") //nolint:gochecknoglobals // a flag

// The tables of the page come from the flags.
func TestConfigurationPageIsUpToDate(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/configuration.md", "<!-- begin of the tables -->\n", "<!-- end of the tables -->\n"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok, "the page lacks %q", begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the page lacks %q", end)
	commands := []string{"run", "api", "console", "relay", "dispatcher", "migrate", "topics", "receiver", "dev"}
	want := before + begin + "\n" + config.Markdown(&CLI{}, commands, config.Options{Name: "tradegrid", Vars: roles.Vars()}) + "\n" + end + after
	if *updateDocs {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	require.True(t, want == string(raw) || *updateDocs, "docs/configuration.md differs from the flags: go test ./cmd/tradegrid -run ConfigurationPage -update-docs")
}
