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

// A newcomer finds every package on the map, in the row of its room.
func TestPackageMapIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## Package map\n")
	require.True(t, ok, "CONTRIBUTING.md lacks the section Package map")
	section, _, _ = strings.Cut(section, "\n## ")
	onMap := map[string][]string{}
	for _, row := range mapRow.FindAllStringSubmatch(section, -1) {
		onMap[row[1]] = strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(row[2]))
	}
	inTree := map[string][]string{"cmd/tradegrid": {}}
	for _, floor := range []string{"pkg", "services"} {
		for _, room := range folders(t, floor) {
			inTree[floor+"/"+room] = folders(t, floor, room)
		}
	}
	require.Equal(t, inTree, onMap, "rooms of the package map of CONTRIBUTING.md, with their packages in alphabetical order")
}

// mapRow is a row of the package map: the room, and its packages.
var mapRow = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|.*\\|([^|]*)\\|$")

// folders are the names of the folders in a folder.
func folders(t *testing.T, path ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, filepath.Join(path...)))
	require.NoError(t, err)
	names := []string{}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
