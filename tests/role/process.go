// Package role starts the roles of the platform as separate processes for end-to-end tests.
package role

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
)

// Patience is the timeout of waits for conditions that normally hold within moments. Restarting brokers take longest.
const Patience = 90 * time.Second

// Process is a running role.
type Process struct {
	Name   string
	URL    string        // URL of the API, once it is up
	Ops    string        // URL of health checks and metrics, once it is up
	Exited chan struct{} // closed when the process has exited

	t     testing.TB
	cmd   *exec.Cmd
	state *os.ProcessState // once it has exited

	mu  sync.Mutex
	log bytes.Buffer
}

// isUp are the log messages of a role that is up.
var isUp = map[string]bool{"api listening": true, "relay running": true, "dispatcher running": true} //nolint:gochecknoglobals // a constant

// isWaiting are the log messages of a role that waits for its database.
var isWaiting = map[string]bool{ //nolint:gochecknoglobals // a constant
	"waiting for the database": true, "waiting for the database, which refuses this process": true,
}

// Start starts the binary. It is killed at the end of the test, and its output is logged if the test failed.
func Start(t testing.TB, binary string, env []string, args ...string) *Process {
	t.Helper()
	p := &Process{t: t, Name: strings.Join(args, " "), Exited: make(chan struct{})}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // ProcessState has the result
		p.state = p.cmd.ProcessState
		close(p.Exited)
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", p.Name, p.Tail())
		}
	})
	return p
}

// SecretKeys writes a key file for the processes of a test and returns the environment variable that names it.
func SecretKeys(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret-keys")
	require.NoError(t, os.WriteFile(path, []byte(secret.NewKey("test")+"\n"), 0o600))
	return "TRADEGRID_SECRET_KEYS_FILE=" + path
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill sends SIGKILL, if the process still runs, and waits for its exit.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have exited
	<-p.Exited
}

// Signal sends a signal to the process. It returns an error if the process has exited.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Write implements [io.Writer]; it stores the output of the process.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// Said returns all output so far.
func (p *Process) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// Tail returns the end of the output.
func (p *Process) Tail() string {
	text := p.Said()
	return text[max(0, len(text)-4000):]
}

// String implements [fmt.Stringer], so that test messages show the output at the time of the failure.
func (p *Process) String() string { return p.Name + ":\n" + p.Tail() }

// AwaitStart waits until the role logs that it is up.
func (p *Process) AwaitStart() {
	p.t.Helper()
	p.await(isUp, "up")
}

// AwaitWaiting waits until the role logs that it waits for its database.
func (p *Process) AwaitWaiting() {
	p.t.Helper()
	p.await(isWaiting, "waiting for its database")
}

// await waits for one of the messages, whose attributes contain the addresses of the process.
func (p *Process) await(lineOf map[string]bool, what string) {
	p.t.Helper()
	Eventually(p.t, func() bool {
		select {
		case <-p.Exited:
			require.FailNow(p.t, "the process ended before it was "+what, "%s: %v\n%s", p.Name, p.state, p.Tail())
		default:
		}
		lines := bufio.NewScanner(strings.NewReader(p.Said()))
		for lines.Scan() {
			var line struct{ Msg, URL, Ops string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && lineOf[line.Msg] {
				p.URL, p.Ops = line.URL, line.Ops
				return true
			}
		}
		return false
	}, "%s says that it is %s", p.Name, what)
}

// AwaitFrozen waits until SIGSTOP has stopped the process.
func (p *Process) AwaitFrozen() {
	p.t.Helper()
	Eventually(p.t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/stat")
		require.NoError(p.t, err)
		_, after, _ := bytes.Cut(stat, []byte(") "))
		return bytes.HasPrefix(after, []byte("T"))
	}, "%s is frozen", p.Name)
}

// AwaitEnd waits for the exit of the process and returns its exit code; a negative one means that a signal killed it.
func (p *Process) AwaitEnd(within time.Duration) int {
	p.t.Helper()
	select {
	case <-p.Exited:
	case <-time.After(within):
		require.FailNow(p.t, "the process did not end", "%s within %s\n%s", p.Name, within, p.Tail())
	}
	return p.state.ExitCode()
}

// AwaitSIGKILL waits until the process was killed by SIGKILL.
func (p *Process) AwaitSIGKILL() {
	p.t.Helper()
	p.AwaitEnd(Patience)
	status, ok := p.state.Sys().(syscall.WaitStatus)
	require.True(p.t, ok)
	require.Equal(p.t, syscall.SIGKILL, status.Signal(), "%s: %v\n%s", p.Name, p.state, p.Tail())
}

// Ask gets a path of the process's ops address, such as /readyz.
func (p *Process) Ask(path string) (status int, body string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.Ops+path, nil)
	require.NoError(p.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return res.StatusCode, string(raw)
}

// Eventually waits until a condition holds. The last arguments describe the condition in the failure message.
func Eventually(t testing.TB, is func() bool, what string, args ...any) {
	t.Helper()
	deadline := time.After(Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			require.FailNow(t, "did not happen within "+Patience.String(), append([]any{what}, args...)...)
		}
	}
}
