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

// The front page of the reference names every list of the API: no section can be forgotten.
func TestEveryListHasASection(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/reference/README.md"))
	require.NoError(t, err)
	for path, operations := range described(t).Paths {
		if _, list := operations["get"]; list && !strings.Contains(path, "{") {
			require.Contains(t, string(page), path, "docs/reference/README.md does not name a list")
		}
	}
}
