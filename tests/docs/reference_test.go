package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A newcomer finds every room on the map.
func TestPackageMapIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## Package map\n")
	require.True(t, ok, "CONTRIBUTING.md lacks the section Package map")
	section, _, _ = strings.Cut(section, "\n## ")
	onMap, inTree := []string{}, []string{"cmd/tradegrid"}
	for _, row := range mapRow.FindAllStringSubmatch(section, -1) {
		onMap = append(onMap, row[1])
	}
	for _, floor := range []string{"pkg", "services"} {
		for _, room := range folders(t, floor) {
			inTree = append(inTree, floor+"/"+room)
		}
	}
	require.ElementsMatch(t, inTree, onMap, "rooms of the package map of CONTRIBUTING.md")
}

// mapRow is a row of the package map.
var mapRow = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|")

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
