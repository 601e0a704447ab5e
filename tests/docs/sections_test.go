package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type description struct {
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

func described(t *testing.T) (d description) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "schemas/openapi/openapi.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &d))
	require.NotEmpty(t, d.Paths)
	return d
}

// The front page of the reference names every list of the API, and the page on reports every report: no section can be forgotten.
func TestEveryListHasASection(t *testing.T) {
	t.Parallel()
	read := func(page string) string {
		content, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		return string(content)
	}
	front, reports := read("docs/reference/README.md"), read("docs/reference/reports.md")
	for path, operations := range described(t).Paths {
		if _, list := operations["get"]; list && !strings.Contains(path, "{") {
			if strings.HasPrefix(path, "/reports/") {
				require.Contains(t, reports, path, "docs/reference/reports.md does not name a report")
				continue
			}
			require.Contains(t, front, path, "docs/reference/README.md does not name a list")
		}
	}
}
