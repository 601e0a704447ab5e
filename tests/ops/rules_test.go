package ops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/ops/dashboards"
)

func rules(t *testing.T) []Rule {
	t.Helper()
	all, err := Rules(ruleDir)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// alerts gives all alerts by name.
func alerts(t *testing.T) map[string]Rule {
	t.Helper()
	all := map[string]Rule{}
	for _, r := range rules(t) {
		if r.Alert != "" {
			require.NotContains(t, all, r.Alert, "two alerts of one name")
			all[r.Alert] = r
		}
	}
	return all
}

func TestRuleQueries(t *testing.T) {
	t.Parallel()
	known := catalog(t)
	for _, r := range rules(t) {
		require.NoError(t, Check(r.Expr, known), "%s%s", r.Alert, r.Record)
	}
}

func TestAlertsTellWhatToDo(t *testing.T) {
	t.Parallel()
	for name, r := range alerts(t) {
		require.True(t, strings.HasPrefix(name, "Tradegrid"), "%s: alerts of several programs meet in one list", name)
		require.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], name)
		require.NotEmpty(t, r.Annotations["summary"], name)
		require.Less(t, len(r.Annotations["summary"]), 110, "%s: it is the title of a message", name)
		require.NotEmpty(t, r.Annotations["description"], name)
		require.Equal(t, dashboards.Runbooks+name+".md", r.Annotations["runbook_url"], name)
	}
}

// headings are the sections of every runbook, in this order.
var headings = []string{"## Meaning", "## Impact", "## Diagnosis", "## Causes", "## Resolution", "## Resolved when"}

func TestEveryAlertHasARunbookAndEveryRunbookAnAlert(t *testing.T) {
	t.Parallel()
	all := alerts(t)
	for name := range all {
		content, err := os.ReadFile(filepath.Join(runbookDir, name+".md"))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(content), "# "+name+"\n"), name)
		at := 0
		for _, h := range headings {
			i := strings.Index(string(content)[at:], "\n"+h+"\n")
			require.GreaterOrEqual(t, i, 0, "%s: %q is missing or not in its place", name, h)
			at += i
		}
	}
	files, err := filepath.Glob(filepath.Join(runbookDir, "*.md"))
	require.NoError(t, err)
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".md"); name != "README" {
			require.Contains(t, all, name, "%s: no alert has this name", f)
		}
	}
}

// TestEveryAlertIsTested asks for what promtool runs: the alert fires, it does not just below, and it ends.
func TestEveryAlertIsTested(t *testing.T) {
	t.Parallel()
	tests, err := RuleTests(ruleTestDir)
	require.NoError(t, err)
	for name := range alerts(t) {
		var fires, ends, below bool
		for _, test := range tests {
			fired := false
			for i := range test.Checks {
				now := firesIn(test, i, name)
				ends = ends || (fired && !now)
				below = below || (!fired && !now && strings.HasPrefix(test.Name, name))
				fired = fired || now
			}
			fires = fires || fired
		}
		require.True(t, fires, "%s: no unit test in tests/ops/rules makes it fire", name)
		require.True(t, ends, "%s: no unit test sees it end", name)
		require.True(t, below, "%s: no unit test, named for it, sees it silent", name)
	}
}

func firesIn(test RuleTest, check int, alert string) bool {
	for _, s := range test.Checks[check].Samples {
		if strings.Contains(s.Labels, `alertname="`+alert+`"`) {
			return true
		}
	}
	return false
}
