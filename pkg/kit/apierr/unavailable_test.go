package apierr_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

func TestUnavailableHasItsReason(t *testing.T) {
	t.Parallel()
	seen := map[apierr.Reason]bool{}
	for _, doc := range apierr.Reasons() {
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, string(doc.Reason))
		require.NotEmpty(t, doc.Meaning)
		require.False(t, seen[doc.Reason], doc.Reason)
		seen[doc.Reason] = true
		f := apierr.Unavailable(doc.Reason, 7, "later")
		require.Equal(t, 503, f.Status)
		require.Equal(t, "SERVICE_UNAVAILABLE", f.Code)
		require.Equal(t, 7, f.RetryAfter)
		require.Equal(t, doc.Reason, f.Reason())
	}
	require.Empty(t, apierr.StateConflict("CLOSED", "closed").Reason())
}

// made finds faults that are 503 without a reason.
var made = regexp.MustCompile(`"SERVICE_UNAVAILABLE"|(apierr\.New\(|Status: *)(http\.StatusServiceUnavailable|503)|(apierr\.|\b)Reason\("`)

// Every 503 of the API is made by Unavailable, with one of the documented reasons.
func TestEvery503IsMadeByUnavailable(t *testing.T) {
	t.Parallel()
	allowed := map[string]int{
		"pkg/kit/apierr/unavailable.go": 1,
		"services/console/web/view.go":  3, // pages for people, with texts
		"pkg/api/httpapi/errordocs.go":  3, // status and codes in the list of codes
	}
	found := map[string]int{}
	root := filepath.Join("..", "..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if n := len(made.FindAll(text, -1)); n > 0 {
			found[filepath.ToSlash(name)] = n
		}
		return err
	}))
	require.Equal(t, allowed, found, "use apierr.Unavailable")
}
