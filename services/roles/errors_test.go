package roles_test

import (
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/services/roles"
)

func errorPage(t *testing.T, api *httpapi.API, base string) string {
	t.Helper()
	res, err := api.App().Test(httptest.NewRequestWithContext(t.Context(), "GET", base+"/docs/errors", nil), -1)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(raw)
}

// Every code that the source mentions has a row on the page of error codes, so that every docUrl leads somewhere.
func TestErrorPageKnowsEveryCode(t *testing.T) {
	t.Parallel()
	all, cfg := roles.NewDomains(nil, roles.DomainConfig{}), httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})}
	page := errorPage(t, all.NewAPI(cfg), httpapi.BasePath) + errorPage(t, all.NewAdminAPI(cfg), httpapi.AdminBasePath)
	entities := regexp.MustCompile(`(?:apierr\.|[^.\w])(?:NotFound|ReferenceNotFound|missing|Add|One|Of\[\w+\])\((?:err, found, |"\w+", )?"([A-Z_]{4,})"`)
	literal := regexp.MustCompile(`(?:StateConflict\(|apierr\.New\([\w.]+, |Code: )"([A-Z_]+)"`)
	found := 0
	for _, pattern := range []string{"../../pkg/*/*/*.go", "../../services/*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			// Users, branches and companies are changed by the command line only, which prints the whole error.
			if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "services/platform/company/") {
				continue
			}
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
				found++
				require.Contains(t, page, `id="`+m[1]+`"`, "%s of %s has no row: declare it in Domain().Errors", m[1], file)
			}
			for _, m := range entities.FindAllStringSubmatch(string(source), -1) {
				found++
				require.Contains(t, page, `id="`+m[1]+`_NOT_FOUND"`, "%s_NOT_FOUND of %s has no row: declare it in Domain().Entities", m[1], file)
			}
		}
	}
	require.Greater(t, found, 80, "the patterns have lost the source")
}
