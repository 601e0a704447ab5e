package ops

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/ops/dashboards"
)

func boards(t *testing.T) map[string]Board {
	t.Helper()
	all, err := Boards(dashboardDir)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

func TestDashboardsAreWhatTheirSourceSays(t *testing.T) {
	t.Parallel()
	want, err := dashboards.All()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dashboardDir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, len(want), "run make dashboards")
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(dashboardDir, name))
		require.NoError(t, err)
		require.Equal(t, string(content), string(got), "%s differs from its source: run make dashboards", name)
	}
}

func TestDashboardQueries(t *testing.T) {
	t.Parallel()
	known := catalog(t)
	for name, b := range boards(t) {
		for _, p := range b.Panels {
			for _, target := range p.Targets {
				require.NoError(t, Check(target.Expr, known), "%s: %s", name, p.Title)
				histogram := strings.Contains(target.Expr, "_bucket")
				require.Equal(t, histogram && p.Type == "timeseries", target.Exemplar, "%s: %s: exemplars", name, p.Title)
			}
		}
		for _, mark := range b.Marks.List {
			require.NoError(t, Check(mark.Expr, known), "%s: %s", name, mark.Name)
		}
		for _, v := range b.Templating.List {
			if v.Type == "query" {
				require.NoError(t, Check(labelValues(t, v.Query), known), "%s: %s", name, v.Name)
			}
		}
	}
}

// labelValues turns Grafana's label_values(selector, label) into a query that names both.
func labelValues(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var q struct{ Query string }
	require.NoError(t, json.Unmarshal(raw, &q))
	inner, ok := strings.CutPrefix(q.Query, "label_values(")
	require.True(t, ok, q.Query)
	i := strings.LastIndex(inner, ", ")
	require.Positive(t, i, q.Query)
	return "count by (" + strings.TrimSuffix(inner[i+2:], ")") + ") (" + inner[:i] + ")"
}

func TestDashboardsCanBeRead(t *testing.T) {
	t.Parallel()
	uids, all := map[string]string{}, alerts(t)
	for name, b := range boards(t) {
		require.NotContains(t, uids, b.UID, "%s has the uid of another dashboard", name)
		uids[b.UID] = name
		used := map[int]bool{}
		cells := map[[2]int]string{}
		for _, p := range b.Panels {
			require.False(t, used[p.ID], "%s: panel id %d twice", name, p.ID)
			used[p.ID] = true
			require.NotEmpty(t, p.Title, name)
			if p.Type != "row" && p.Type != "text" {
				require.NotEmpty(t, p.Description, "%s: %s", name, p.Title)
				require.NotEmpty(t, p.FieldConfig.Defaults.Unit, "%s: %s", name, p.Title)
				require.NotEmpty(t, p.Targets, "%s: %s", name, p.Title)
			}
			for _, l := range p.Links {
				require.Contains(t, all, strings.TrimSuffix(strings.TrimPrefix(l.URL, dashboards.Runbooks), ".md"), "%s: %s", name, p.Title)
			}
			occupy(t, cells, name, p)
		}
	}
}

// occupy refuses panels that lie over each other or outside of the page.
func occupy(t *testing.T, cells map[[2]int]string, board string, p Panel) {
	t.Helper()
	require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, "%s: %s", board, p.Title)
	for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
		for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
			require.Empty(t, cells[[2]int{x, y}], "%s: %s lies over another panel", board, p.Title)
			cells[[2]int{x, y}] = p.Title
		}
	}
}
