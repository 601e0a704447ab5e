package docs

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	integrationForm = regexp.MustCompile(`(?m)^\| \[[^]]+\]\(#(\w+)\) \| .* \| \d+ \| (\d+) \|$`)
	programForm     = regexp.MustCompile(`\(\.\./(tests/integrations/[^)]+)\)`)
	excerptForm     = regexp.MustCompile("(?ms)^```\\w+\n(.*?)^```$")
)

// The page of integrations says how long each program is, and shows parts of it as they are. How many calls each makes is checked by
// tests/integrations/run.
func TestIntegrationsAreAsThePageShowsThem(t *testing.T) {
	t.Parallel()
	content := pages(t)["docs/integrations.md"]
	programs := files(t, func(name string) bool { return strings.Contains("*.mjs *.py *.go *.java", filepath.Ext(name)) })
	rows := integrationForm.FindAllStringSubmatch(content, -1)
	require.Len(t, rows, 4)
	for _, row := range rows {
		_, part, found := strings.Cut(content, "\n## "+strings.ToUpper(row[1][:1])+row[1][1:]+"\n")
		require.True(t, found, "%s has no section", row[1])
		part, _, _ = strings.Cut(part, "\n## ")
		program := programForm.FindStringSubmatch(part)
		require.NotNil(t, program, "the section of %s links no program", row[1])
		source := programs[program[1]]
		require.Equal(t, strconv.Itoa(strings.Count(source, "\n")), row[2], "lines of %s", program[1])
		excerpts := excerptForm.FindAllStringSubmatch(part, -1)
		require.NotEmpty(t, excerpts)
		for _, excerpt := range excerpts {
			require.Contains(t, source, excerpt[1], program[1])
		}
	}
}
