// Package docs checks the pages for people: links and citations lead somewhere, and what a page lists is complete.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root = "../.."
	// Pages that leave the repository, such as those of the chart, name others by their address.
	ours = "https://github.com/tradegrid/tradegrid/blob/main/"
)

// files reads the files below root that want takes, by path from the root. Hidden folders and what is built are left out.
func files(t *testing.T, want func(name string) bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "bin"):
			return fs.SkipDir
		case e.IsDir() || !want(e.Name()):
			return nil
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[filepath.ToSlash(name)] = string(content)
		return err
	})
	require.NoError(t, err)
	return all
}

func pages(t *testing.T) map[string]string {
	t.Helper()
	all := files(t, func(name string) bool { return strings.HasSuffix(name, ".md") })
	require.Greater(t, len(all), 40)
	return all
}

var (
	fenceForm   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	spanForm    = regexp.MustCompile("`[^`\n]*`")
	headingForm = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#* *$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	linkForm    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// anchors are the places in a page that a link can name, as GitHub makes them from headings.
func anchors(page string) []string {
	seen := map[string]int{}
	var all []string
	for _, m := range headingForm.FindAllStringSubmatch(fenceForm.ReplaceAllString(page, ""), -1) {
		text := linkForm.ReplaceAllString(strings.ReplaceAll(strings.ToLower(m[1]), "`", ""), "]")
		anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(text, ""), " ", "-")
		n := seen[anchor]
		seen[anchor]++
		if n > 0 {
			anchor = fmt.Sprintf("%s-%d", anchor, n)
		}
		all = append(all, anchor)
	}
	return all
}

// broken says what is wrong with a link from a page, or nothing.
func broken(all map[string]string, page, link string) string {
	path, anchor, _ := strings.Cut(link, "#")
	switch rest, own := strings.CutPrefix(path, ours); {
	case own:
		path = rest
	case strings.Contains(path, "://") || strings.HasPrefix(path, "mailto:"):
		return "" // not ours to keep
	case path == "":
		path = page
	default:
		path = filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
	}
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		return "there is no " + path
	}
	if anchor != "" && !slices.Contains(anchors(all[path]), anchor) {
		return path + " has no heading for #" + anchor
	}
	return ""
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	n := 0
	for name, content := range all {
		plain := spanForm.ReplaceAllString(fenceForm.ReplaceAllString(content, ""), "")
		for _, m := range linkForm.FindAllStringSubmatch(plain, -1) {
			n++
			if problem := broken(all, name, m[1]); problem != "" {
				t.Errorf("%s links to %s: %s", name, m[1], problem)
			}
		}
	}
	require.Greater(t, n, 200)
}

// citationForm is how comments, error texts, rules and pages name a page: by its path from the root.
var citationForm = regexp.MustCompile(`\bdocs/[A-Za-z0-9_/.-]*\.md(#[A-Za-z0-9_-]*)?`)

func TestCitationsLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	n := 0
	for name, content := range files(t, func(name string) bool {
		return slices.Contains([]string{".go", ".md", ".sql", ".yaml", ".tpl", ".js"}, filepath.Ext(name)) || name == "Makefile"
	}) {
		for _, cited := range citationForm.FindAllString(content, -1) {
			n++
			if problem := broken(all, "README.md", cited); problem != "" {
				t.Errorf("%s cites %s: %s", name, cited, problem)
			}
		}
	}
	require.Greater(t, n, 20)
}

func TestBrokenLinksAreFound(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		"docs/slo.md":     "# Objectives\n\n## Labels\n\n```\n# not a heading\n```\n\n## Twice\n\n## Twice\n\n## `Flag` and [link](x.md)\n",
		"docs/metrics.md": "# Metrics\n",
	}
	for _, link := range []string{
		"slo.md", "slo.md#labels", "slo.md#twice", "slo.md#twice-1", "slo.md#flag-and-link", "#metrics", "../README.md", "runbooks",
		ours + "docs/slo.md#labels", "https://example.com/none.md",
	} {
		require.Empty(t, broken(all, "docs/metrics.md", link), link)
	}
	for _, link := range []string{"none.md", "README.md", "slo.md#not-a-heading", "slo.md#twice-2", "#labels", ours + "none.md"} {
		require.NotEmpty(t, broken(all, "docs/metrics.md", link), link)
	}
}
