package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/role"
)

// devState is the folder of `tradegrid dev`.
type devState struct {
	t   *testing.T
	dir string
}

// devRun is what dev.json says.
type devRun struct{ BaseURL, CompanyID, Token, DatabaseURL string }

func (s devState) spawn(args ...string) *role.Process {
	s.t.Helper()
	all := []string{"dev", "--state=" + s.dir, "--listen=127.0.0.1:0", "--receiver-listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", "--console-listen=127.0.0.1:0"}
	return spawn(s.t, nil, append(all, args...)...)
}

// demo runs `tradegrid dev --demo` to its end.
func (s devState) demo(args ...string) {
	s.t.Helper()
	p := s.spawn(append([]string{"--demo"}, args...)...)
	var servers []int
	role.Eventually(s.t, func() bool {
		servers = postgres(s.t, p.PID())
		return len(servers) > 0
	}, "the database's server runs")
	require.Zero(s.t, p.AwaitEnd(time.Minute), p.Tail())
	require.Contains(s.t, p.Said(), "arrived and verified")
	s.gone(servers)
}

// gone checks that nothing is left of a run.
func (s devState) gone(servers []int) {
	s.t.Helper()
	for _, pid := range servers {
		require.NoDirExists(s.t, "/proc/"+strconv.Itoa(pid), "a process of the database is left")
	}
	require.NoFileExists(s.t, filepath.Join(s.dir, "dev.json"))
}

// company reads which company the folder keeps.
func (s devState) company() string {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "demo.json"))
	require.NoError(s.t, err)
	var kept devRun
	require.NoError(s.t, json.Unmarshal(raw, &kept))
	require.NotEmpty(s.t, kept.CompanyID)
	return kept.CompanyID
}

// postgres lists the servers that a process has started.
func postgres(t *testing.T, parent int) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		before, after, _ := strings.Cut(string(raw), ") ") // behind the name: state and parent
		if !strings.HasSuffix(before, "(postgres") {
			continue
		}
		if f := strings.Fields(after); len(f) > 1 && f[1] == strconv.Itoa(parent) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			require.NoError(t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}

var commandsForm = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// quickStart runs the commands of docs/quick-start.md line by line in one shell, beside the folder of the platform that runs.
func (s devState) quickStart(t *testing.T) {
	for _, program := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the commands of docs/quick-start.md are not run: %s is not on PATH", program)
		}
	}
	page, err := os.ReadFile("../../docs/quick-start.md")
	require.NoError(t, err)
	var script strings.Builder
	for _, commands := range commandsForm.FindAllStringSubmatch(string(page), -1) {
		script.WriteString(commands[1])
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-eux", "-c", script.String())
	cmd.Dir = filepath.Dir(s.dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // the page sets all variables that it uses
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"currency"`, "the first call")
	require.Contains(t, string(out), `"verified": true`, "the first webhook: %s", out)
}

func TestDev(t *testing.T) {
	t.Parallel()
	s := devState{t: t, dir: filepath.Join(t.TempDir(), ".tradegrid")}
	s.demo("--demo-data=none") // what is made once is not made by the later starts
	first := s.company()

	p := s.spawn()
	var run devRun
	role.Eventually(t, func() bool {
		raw, err := os.ReadFile(filepath.Join(s.dir, "dev.json"))
		return err == nil && json.Unmarshal(raw, &run) == nil
	}, "dev.json is there")
	require.Equal(t, first, run.CompanyID, "the same company as before")
	api := &client{r: &kit{t: t, token: run.Token}, base: run.BaseURL}
	require.Equal(t, gapless(2), api.numbers(), "the order of the first run is still there")
	servers := postgres(t, p.PID())
	require.NotEmpty(t, servers)
	t.Run("quick start", s.quickStart)

	require.NoError(t, p.Signal(syscall.SIGINT))
	require.Zero(t, p.AwaitEnd(10*time.Second), p.Tail())
	s.gone(servers)
	_, err := pgx.Connect(t.Context(), run.DatabaseURL)
	require.Error(t, err, "the database does not answer any more")

	s.demo("--fresh") // with the usual data
	require.NotEqual(t, first, s.company(), fmt.Sprintf("--fresh starts over in %s", s.dir))
}
