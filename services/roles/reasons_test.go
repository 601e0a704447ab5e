package roles

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// What the reference and the console say of reasons is what the table of reasons has, no more and no less.
func TestReasonsAreDocumentedAndHaveTexts(t *testing.T) {
	t.Parallel()
	pending := map[string]bool{}
	for _, r := range webhook.Reasons(webhook.OutcomePending) {
		pending[string(r)] = true
	}
	require.Greater(t, len(pending), 10)
	page, err := os.ReadFile("../../docs/reference/events.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?s)\n\\| `waitingFor` \\|.*?\n\n").FindString(string(page))
	require.Equal(t, pending, inBackticks(regexp.MustCompile("(?m)^\\| (`[a-z_]+`(?:, `[a-z_]+`)*) \\|"), rows), "docs/reference/events.md, what waitingFor says")
	explained := regexp.MustCompile("(?s)\n\\| `outcome` \\|.*?\n\n").FindString(string(page))
	over := map[string]bool{}
	for _, r := range webhook.Reasons(webhook.OutcomeFailed, webhook.OutcomeSkipped) {
		over[string(r)] = true
	}
	require.Equal(t, over, inBackticks(regexp.MustCompile("(?m)^\\| [^|]*\\| (`[a-z_]+`(?:, `[a-z_]+`)*) \\|"), explained[len("\n| `outcome` | `reason` |"):]), "docs/reference/events.md, reasons of failed and skipped")

	files, err := filepath.Glob("../../services/console/web/texts/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 1)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var texts map[string]string
		require.NoError(t, json.Unmarshal(raw, &texts))
		found := map[string]bool{}
		for key := range texts {
			if name, ok := strings.CutPrefix(key, "waiting."); ok {
				found[name] = true
			}
		}
		require.Equal(t, pending, found, "%s: waiting.NAME", file)
	}
}

// inBackticks are the names in backticks in what the form finds.
func inBackticks(form *regexp.Regexp, text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range form.FindAllStringSubmatch(text, -1) {
		for _, name := range regexp.MustCompile("[a-z_]+").FindAllString(m[1], -1) {
			names[name] = true
		}
	}
	return names
}
