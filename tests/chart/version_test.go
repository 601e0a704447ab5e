package chart

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A chart that differs from that of the last release says what has changed, or is that of the next release.
func TestChangelogMoves(t *testing.T) {
	t.Parallel()
	tag := lastTag(t)
	if tag == "" || exec.Command("git", "-C", "../..", "diff", "--quiet", tag, "--", "charts/tradegrid").Run() == nil {
		return // nothing has changed since
	}
	if old, _ := chartAt(t, tag); old.Metadata.Version != load(t).Metadata.Version {
		return
	}
	unreleased := regexp.MustCompile(`(?ms)^## Unreleased$(.*?)^## `).FindStringSubmatch(read(t, Folder+"/CHANGELOG.md"))
	require.NotNil(t, unreleased, "the chart's changelog has no section Unreleased")
	require.NotEmpty(t, strings.TrimSpace(unreleased[1]), "the chart has changed since %s: say what in the section Unreleased of its CHANGELOG.md", tag)
}
