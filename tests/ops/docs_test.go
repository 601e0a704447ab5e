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

const ours = "https://github.com/tradegrid/tradegrid/blob/main/"

var (
	linkForm    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeForm    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	headingForm = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
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

// anchors are the places in a page that a link can name, as GitHub makes them from headings.
func anchors(page string) []string {
	var all []string
	for _, m := range headingForm.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), ""), " ", "-"))
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name, content := range all {
		for _, m := range linkForm.FindAllStringSubmatch(codeForm.ReplaceAllString(content, ""), -1) {
			link := m[1]
			path, anchor, _ := strings.Cut(link, "#")
			switch rest, own := strings.CutPrefix(path, ours); {
			case own:
				path = rest
			case strings.Contains(path, "://") || strings.HasPrefix(path, "mailto:"):
				continue // not ours to keep
			case path == "":
				path = name
			default:
				path = filepath.Join(filepath.Dir(name), path)
			}
			_, err := os.Stat(filepath.Join(root, path))
			require.NoError(t, err, "%s links to %s", name, link)
			if anchor != "" {
				require.Contains(t, anchors(all[path]), anchor, "%s links to %s", name, link)
			}
		}
	}
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
