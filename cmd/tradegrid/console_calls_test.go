package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
)

var (
	consoleCall = regexp.MustCompile(`web\.(Call|CallAdmin|List)\[(.+?)\]\((?:ctx|within), (?:d\.)?q, "(\w+)"`)
	importPath  = regexp.MustCompile(`[\w./-]+/`)
)

// Pages name the operations that they call, and the types that these return. A page that no test opens fails here if it is wrong.
func TestPagesCallOperationsWithTheirTypes(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	files, err := filepath.Glob("../../services/console/*/*.go")
	require.NoError(t, err)
	calls := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range consoleCall.FindAllStringSubmatch(string(source), -1) {
			api, returned, id := p.external, m[2], m[3]
			switch m[1] {
			case "CallAdmin":
				api = p.admin
			case "List":
				returned = "*list.Page[" + returned + "]"
			}
			calls++
			err := api.Call(t.Context(), httpapi.Insider{}, id, httpapi.Input{}, new(struct{}))
			require.ErrorContains(t, err, "the operation "+id+" returns ", file)
			if returned != "web.JSON" {
				types, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "the operation "+id+" returns "), ", not ")
				require.Equal(t, importPath.ReplaceAllString(types, ""), returned, "%s: %s", file, id)
			}
		}
	}
	require.Greater(t, calls, 80)
}
