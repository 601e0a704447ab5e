package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var eventForm = regexp.MustCompile("`([a-z_]+(?:\\.[a-z_]+)+)`")

// The schemas come from the code, so the list of the page cannot forget an event, or keep one that is gone.
func TestEventListIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/reference/events.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## Event list\n")
	require.True(t, ok, "docs/reference/events.md lacks the section Event list")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for line := range strings.SplitSeq(section, "\n") {
		if first, _, isRow := strings.Cut(strings.TrimPrefix(line, "|"), "|"); isRow && strings.HasPrefix(line, "|") {
			for _, m := range eventForm.FindAllStringSubmatch(first, -1) {
				listed = append(listed, m[1])
			}
		}
	}
	schemas, err := filepath.Glob(filepath.Join(root, "schemas/events/*.schema.json"))
	require.NoError(t, err)
	require.NotEmpty(t, schemas)
	for i, path := range schemas {
		schemas[i] = strings.TrimSuffix(filepath.Base(path), ".schema.json")
	}
	slices.Sort(listed)
	slices.Sort(schemas)
	require.Equal(t, schemas, listed)
}

// A newcomer finds every package on the map.
func TestPackageMapIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	for _, group := range []string{"pkg/*/*", "services/*/*"} {
		entries, err := filepath.Glob(filepath.Join(root, group))
		require.NoError(t, err)
		require.NotEmpty(t, entries)
		for _, e := range entries {
			info, err := os.Stat(e)
			require.NoError(t, err)
			if name, err := filepath.Rel(root, e); info.IsDir() {
				require.NoError(t, err)
				require.Contains(t, string(page), "`"+filepath.ToSlash(name)+"`", "the package map of CONTRIBUTING.md lacks a package")
			}
		}
	}
}
