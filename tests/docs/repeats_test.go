package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repeats lists what a page says twice: headings with the same text under the same parent, and rows of one table that
// begin with the same cell.
func repeats(page string) []string {
	var all []string
	var path []string // the headings above the line, by level
	headings, rows := map[string]bool{}, map[string]bool{}
	for line := range strings.SplitSeq(fenceForm.ReplaceAllString(page, ""), "\n") {
		if m := headingForm.FindStringSubmatch(line); m != nil {
			level := len(line) - len(strings.TrimLeft(line, "#"))
			path = append(slices.Grow(path, level)[:min(len(path), level-1)], m[1])
			whole := strings.Join(path, " > ")
			if headings[whole] {
				all = append(all, "heading "+whole)
			}
			headings[whole] = true
		}
		if !strings.HasPrefix(line, "|") {
			clear(rows)
			continue
		}
		first := strings.TrimSpace(strings.SplitN(strings.ReplaceAll(line, `\|`, "¦"), "|", 3)[1])
		if strings.Trim(first, "-: ") == "" {
			continue
		}
		if rows[first] {
			all = append(all, "row "+first)
		}
		rows[first] = true
	}
	return all
}

// A table or section that was merged twice contradicts itself sooner or later.
func TestNothingIsSaidTwice(t *testing.T) {
	t.Parallel()
	for name, content := range pages(t) {
		if name == "CHANGELOG.md" {
			continue // its groups repeat within releases
		}
		for _, repeat := range repeats(content) {
			t.Errorf("%s has twice: %s", name, repeat)
		}
	}
}

func TestRepeatsAreFound(t *testing.T) {
	t.Parallel()
	require.Empty(t, repeats("# A\n## B\n### C\n## D\n### C\n| x | 1 |\n|---|---|\n| y | 1 |\n\n| x | 2 |\n"))
	require.Equal(t, []string{"heading A > B", "row x", "row `a` b"},
		repeats("# A\n## B\n## C\n## B\n| x | 1 |\n|---|---|\n| x | 2 |\n\n| `a` b | c |\n| d | |\n| `a` b | e |\n"))
}
