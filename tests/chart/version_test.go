package chart

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The chart's changelog begins with its version, and a chart that differs from that of the last release has another one.
func TestVersionMoves(t *testing.T) {
	t.Parallel()
	newestEntry := regexp.MustCompile(`(?m)^## ([0-9]+\.[0-9]+\.[0-9]+)$`).FindStringSubmatch(read(t, Folder+"/CHANGELOG.md"))
	require.NotNil(t, newestEntry, "the chart's changelog has no version")
	version := load(t).Metadata.Version
	require.Equal(t, version, newestEntry[1], "CHANGELOG.md and Chart.yaml of the chart disagree")
	tag := lastTag(t)
	if tag == "" || exec.Command("git", "-C", "../..", "diff", "--quiet", tag, "--", "charts/tradegrid").Run() == nil {
		return // nothing has changed since
	}
	old, _ := chartAt(t, tag)
	require.NotEqual(t, old.Metadata.Version, version, "the chart has changed since %s: raise version in Chart.yaml, and say in its CHANGELOG.md what has changed", tag)
}

// A release is that of its chart: what carries a tag has the tag as appVersion, which is the image that the chart runs.
func TestReleaseIsThatOfTheChart(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "describe", "--exact-match", "--tags", "--match", "v[0-9]*.[0-9]*.[0-9]*", "HEAD").Output()
	if err != nil {
		return // no release
	}
	require.Equal(t, strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), load(t).AppVersion())
}
