package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// number is the newest release of a changelog, which begins with what is not released yet.
func number(t *testing.T, changelog string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, changelog))
	require.NoError(t, err)
	sections := heading.FindAllStringSubmatch(string(raw), 2)
	require.Len(t, sections, 2, changelog)
	require.Equal(t, "Unreleased", sections[0][1], "%s: what comes next is written here", changelog)
	require.Regexp(t, `^[0-9]+\.[0-9]+\.[0-9]+ - 20[0-9]{2}-[0-9]{2}-[0-9]{2}$`, sections[1][1], "%s: a release has a number and a date", changelog)
	version, _, _ := strings.Cut(sections[1][1], " ")
	return version
}

// A release has one number, that of the changelog: the chart runs the image that has it, and a tag of this commit is it.
func TestReleaseIsOneNumber(t *testing.T) {
	t.Parallel()
	version := number(t, "CHANGELOG.md")
	require.Equal(t, version, number(t, "charts/tradegrid/CHANGELOG.md"))
	raw, err := os.ReadFile(filepath.Join(root, "charts/tradegrid/Chart.yaml"))
	require.NoError(t, err)
	var chart struct{ Version, AppVersion string }
	require.NoError(t, yaml.Unmarshal([]byte(strings.Replace(string(raw), "appVersion:", "appversion:", 1)), &chart))
	require.Equal(t, []string{version, version}, []string{chart.Version, chart.AppVersion}, "version and appVersion of Chart.yaml")
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "describe", "--exact-match", "--tags", "--match", "v[0-9]*", "HEAD").Output()
	if err == nil { // a tag
		require.Equal(t, "v"+version, strings.TrimSpace(string(out)))
	}
}

// The program says the number that it was built with, and so does the label of the image.
func TestReleaseIsSaidByProgramAndImage(t *testing.T) {
	t.Parallel()
	path, err := program()
	require.NoError(t, err)
	said, err := exec.CommandContext(t.Context(), path, "--version").Output()
	require.NoError(t, err)
	require.Equal(t, builtAs, strings.TrimSpace(string(said)))

	found, _ := stages(t)
	var build, label string
	for _, stage := range found {
		for _, c := range stage.Commands {
			switch c := c.(type) {
			case *instructions.RunCommand:
				build += strings.Join(c.CmdLine, " ")
			case *instructions.LabelCommand:
				for _, l := range c.Labels {
					if l.Key == "org.opencontainers.image.version" {
						label = strings.Trim(l.Value, `"`)
					}
				}
			}
		}
	}
	require.Contains(t, build, "-X github.com/tradegrid/tradegrid/services/roles.Release=${RELEASE}")
	require.Equal(t, "${RELEASE}", label)
}

// What `make release` and `make image` build has the number of the changelog.
func TestReleaseIsMadeWithTheNumber(t *testing.T) {
	t.Parallel()
	version := number(t, "CHANGELOG.md")
	recipe := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "make", append([]string{"-C", root, "--dry-run", "--no-print-directory"}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	release := recipe("release")
	for _, part := range []string{"name=tradegrid_" + version + "_", "-X github.com/tradegrid/tradegrid/services/roles.Release=" + version + " ", "-version v" + version + " ", "tradegrid_" + version + ".cdx.json", "tests/image/release dist " + version} {
		require.Contains(t, release, part)
	}
	require.Contains(t, recipe("image", "RELEASE="+version), "--build-arg RELEASE="+version+" --tag tradegrid:"+version+" ")
}
