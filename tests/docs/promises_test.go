package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// section is the text of a page between a heading and the next one.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	_, text, found := strings.Cut(string(content), "\n"+heading+"\n")
	require.True(t, found, "%s has no %s", page, heading)
	text, _, _ = strings.Cut(text, "\n#")
	return text
}

// described parameters of an operation.
type parameters struct {
	Parameters []struct {
		Name   string `json:"name"`
		Schema struct {
			Enum []any `json:"enum"`
		} `json:"schema"`
	} `json:"parameters"`
}

// Every method that takes a key is named where keys are explained, and no other.
func TestMethodsWithKeysAreNamed(t *testing.T) {
	t.Parallel()
	keys := section(t, "docs/reference/idempotency.md", "## Keys")
	for path, operations := range described(t).Paths {
		for method, raw := range operations {
			var op parameters
			require.NoError(t, json.Unmarshal(raw, &op))
			takes := false
			for _, p := range op.Parameters {
				takes = takes || p.Name == "X-Idempotency-Key"
			}
			method = strings.ToUpper(method)
			require.Equal(t, method != "GET", takes, "%s %s", method, path)
			require.Contains(t, keys, "`"+method+"`", "docs/reference/idempotency.md does not name the method of %s", path)
		}
	}
}

// Lists that have refunds among their records are named where the signs of exported amounts are explained.
func TestListsWithRefundsAreNamed(t *testing.T) {
	t.Parallel()
	signs, lists := section(t, "docs/reference/jobs.md", "### Signs of amounts"), []string{}
	for path, operations := range described(t).Paths {
		if operations["get"] == nil || strings.Contains(path, "{") || strings.HasSuffix(path, "/sums") {
			continue
		}
		var op parameters
		require.NoError(t, json.Unmarshal(operations["get"], &op))
		for _, p := range op.Parameters {
			if p.Name == "kind" && slices.Contains(p.Schema.Enum, any("refund")) {
				lists = append(lists, path)
				require.Contains(t, signs, "`"+strings.TrimPrefix(path, "/")+"`", "docs/reference/jobs.md does not name a list with refunds")
			}
		}
	}
	require.NotEmpty(t, lists)
}

// Media types that the API takes are named where the generator of clients for Python has to be told that they are files.
func TestFilesThatAreSentAreNamed(t *testing.T) {
	t.Parallel()
	python, files := section(t, "docs/clients.md", "## Python"), 0
	for path, operations := range described(t).Paths {
		for _, raw := range operations {
			var op struct {
				Body struct {
					Content map[string]json.RawMessage `json:"content"`
				} `json:"requestBody"`
			}
			require.NoError(t, json.Unmarshal(raw, &op))
			for media := range op.Body.Content {
				if !slices.Contains([]string{"application/json", "application/merge-patch+json", "application/octet-stream"}, media) {
					files++
					require.Contains(t, python, "  "+media+": application/octet-stream\n", "docs/clients.md does not name a kind of file that %s takes", path)
				}
			}
		}
	}
	require.NotZero(t, files)
}
