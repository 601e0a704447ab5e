package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// live is a `tradegrid dev` that has delivered a webhook, and a Prometheus that scrapes it and evaluates the rules.
type live struct {
	t          *testing.T
	prometheus string // base URL
	info       struct{ MetricsURL, DatabaseURL string }
}

// TestLive looks at the dashboards' queries, the alerts and the runbooks' statements where they are used.
func TestLive(t *testing.T) {
	t.Parallel()
	l := &live{t: t}
	l.startDev()
	l.startPrometheus()
	t.Run("catalog", l.catalog)
	t.Run("dashboards", l.dashboards)
	t.Run("alerts", l.alerts)
	t.Run("statements", l.statements)
}

// start runs a program until the test ends.
func (l *live) start(program string, args ...string) {
	t := l.t
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "bin", program))
	require.NoError(t, err)
	require.FileExists(t, path, "`make rules` builds what this test runs")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		kill := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		err := cmd.Wait()
		said, _ := os.ReadFile(log.Name())
		if t.Failed() || err != nil {
			t.Logf("%s: %v\n%s", program, err, said)
		}
	})
}

func (l *live) startDev() {
	t := l.t
	dir, err := os.MkdirTemp("", "tradegrid-ops-") // short: the database's socket lies in it
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755)) // the database's user has to reach its folder
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	l.start("tradegrid", "dev", "--demo-data=none", "--state="+dir, "--listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0", "--receiver-listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", "--console-listen=127.0.0.1:0")
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(filepath.Join(dir, "dev.json"))
		return err == nil && json.Unmarshal(content, &l.info) == nil
	}, time.Minute, 100*time.Millisecond, "tradegrid dev is ready")
	require.Eventually(t, func() bool {
		return strings.Contains(l.scrape(), `tradegrid_delivery_total{attempt="1",result="success"} `)
	},
		30*time.Second, 100*time.Millisecond, "a webhook was delivered")
}

func (l *live) get(address string, into any) error {
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(res.Body).Decode(into)
}

var groupInterval = regexp.MustCompile(`(?m)^ {4}interval: .*\n`)

// startPrometheus scrapes and evaluates every second, so that the test does not wait for half a minute.
func (l *live) startPrometheus() {
	t, dir := l.t, l.t.TempDir()
	files, err := filepath.Glob(filepath.Join(ruleDir, "*.yaml"))
	require.NoError(t, err)
	for _, f := range files {
		content, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(f)), groupInterval.ReplaceAll(content, nil), 0o600))
	}
	target, err := url.Parse(l.info.MetricsURL)
	require.NoError(t, err)
	config := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ['%s/*.yaml']
scrape_configs:
  - job_name: tradegrid
    static_configs: [{targets: ['%s'], labels: {cell: c1, namespace: test, role: dev}}]
`, dir, target.Host)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	address := freeAddress(t)
	l.prometheus = "http://" + address
	l.start("tools/prometheus", "--config.file="+dir+"/prometheus.yml", "--storage.tsdb.path="+dir+"/data", "--web.listen-address="+address)
	require.Eventually(t, func() bool {
		n, err := l.query(`tradegrid:slo_burn:5m{slo="delivery"}`)
		return err == nil && n > 0
	}, time.Minute, 200*time.Millisecond, "rules are evaluated")
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	return ln.Addr().String()
}

// query gives the number of series of a result.
func (l *live) query(q string) (int, error) {
	var answer struct {
		Error string
		Data  struct{ Result []json.RawMessage }
	}
	if err := l.get(l.prometheus+"/api/v1/query?query="+url.QueryEscape(grafana.Replace(q)), &answer); err != nil {
		return 0, err
	}
	if answer.Error != "" {
		return 0, fmt.Errorf("%s: %s", q, answer.Error)
	}
	return len(answer.Data.Result), nil
}

func (l *live) scrape() string {
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, l.info.MetricsURL, nil)
	require.NoError(l.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(l.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(l.t, err)
	return string(text)
}

// labels are the values of each label of a metric.
type labels map[string]map[string]bool

// shown are the labels of every series, by its name, as Prometheus stored them.
func (l *live) shown(t *testing.T) map[string]labels {
	t.Helper()
	var answer struct{ Data []map[string]string }
	require.NoError(t, l.get(l.prometheus+"/api/v1/series?match[]="+url.QueryEscape(`{__name__!=""}`), &answer))
	all := map[string]labels{}
	for _, series := range answer.Data {
		name := series["__name__"]
		if all[name] == nil {
			all[name] = labels{}
		}
		for label, value := range series {
			if all[name][label] == nil {
				all[name][label] = map[string]bool{}
			}
			all[name][label][value] = true
		}
	}
	return all
}

// catalog holds the list of metrics against what a process shows.
func (l *live) catalog(t *testing.T) {
	known, n := catalog(t), 0
	for name, seen := range l.shown(t) {
		if !regexp.MustCompile(`^(tradegrid|http|db|messaging)_`).MatchString(name) {
			continue
		}
		m, err := find(name, known)
		require.NoError(t, err)
		want := append([]string{"__name__", "cell", "instance", "job", "namespace", "role"}, m.Labels...)
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(seen)), name)
		n++
	}
	require.Greater(t, n, 40)
}

// dashboards runs every query. One whose metrics are all there has to give an answer.
func (l *live) dashboards(t *testing.T) {
	shown, answered, silent := l.shown(t), 0, []string{}
	for name, b := range boards(t) {
		for _, p := range b.Panels {
			for _, target := range p.Targets {
				n, err := l.query(target.Expr)
				require.NoError(t, err, "%s: %s", name, p.Title)
				if n > 0 {
					answered++
					continue
				}
				require.False(t, complete(t, target.Expr, shown), "%s: %s has no data: %s", name, p.Title, target.Expr)
				silent = append(silent, name+": "+p.Title)
			}
		}
	}
	slices.Sort(silent)
	t.Logf("%d queries have data; %d ask for what has not happened: %s", answered, len(silent), strings.Join(slices.Compact(silent), "; "))
	require.Greater(t, answered, 80)
}

// complete reports whether there is a series for each thing that a query asks for.
func complete(t *testing.T, query string, shown map[string]labels) bool {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(grafana.Replace(query))
	require.NoError(t, err)
	if b, ok := expr.(*parser.BinaryExpr); ok && b.Op.IsComparisonOperator() {
		return false // it looks for trouble
	}
	all := true
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		s, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		for _, m := range s.LabelMatchers {
			seen := shown[s.Name][m.Name]
			all = all && (m.Matches("") || slices.ContainsFunc(slices.Collect(maps.Keys(seen)), m.Matches))
		}
		return nil
	})
	return all
}

// alerts expects none of a platform that works.
func (l *live) alerts(t *testing.T) {
	var answer struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	require.NoError(t, l.get(l.prometheus+"/api/v1/alerts", &answer))
	for _, a := range answer.Data.Alerts {
		require.NotEqual(t, "firing", a.State, "%v", a.Labels)
	}
}

var sqlForm = regexp.MustCompile("(?s)```sql\n(.*?)```")

// statements lets the database parse and plan what runbooks tell people to send.
func (l *live) statements(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), l.info.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	n := 0
	for name, content := range pages(t) {
		if !strings.HasPrefix(name, "docs/runbooks/") {
			continue
		}
		for _, m := range sqlForm.FindAllStringSubmatch(content, -1) {
			for statement := range strings.SplitSeq(m[1], ";") {
				if statement = strings.TrimSpace(statement); statement == "" {
					continue
				}
				_, err := conn.Prepare(t.Context(), "", statement)
				require.NoError(t, err, "%s: %s", name, statement)
				n++
			}
		}
	}
	require.Greater(t, n, 10)
}
