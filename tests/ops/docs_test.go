package ops

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pages are all texts for people, by path from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, from := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "charts", "loadtest"} {
		err := filepath.WalkDir(filepath.Join(root, from), func(path string, _ fs.DirEntry, err error) error {
			if os.IsNotExist(err) || !strings.HasSuffix(path, ".md") {
				return nil
			}
			content, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			all[name] = string(content)
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, len(all), 3)
	return all
}

var promqlForm = regexp.MustCompile("(?s)```promql\n(.*?)```")

func TestQueriesOfRunbooks(t *testing.T) {
	t.Parallel()
	known, n := catalog(t), 0
	for name, content := range pages(t) {
		for _, m := range promqlForm.FindAllStringSubmatch(content, -1) {
			for _, line := range strings.Split(strings.TrimSpace(m[1]), "\n") {
				if !strings.HasPrefix(line, "#") {
					require.NoError(t, Check(line, known), name)
					n++
				}
			}
		}
	}
	require.Greater(t, n, 50)
}
