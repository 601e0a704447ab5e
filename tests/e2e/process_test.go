package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// patience bounds every wait for something that takes moments.
const patience = 90 * time.Second

// process is a running role.
type process struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	url    string // of the API
	ops    string // of health and metrics
	exited chan struct{}
	state  *os.ProcessState // once exited is closed

	mu  sync.Mutex
	log bytes.Buffer
}

// started are the lines that say that a role is up.
var started = map[string]bool{"api listening": true, "relay running": true, "dispatcher running": true} //nolint:gochecknoglobals // a constant

// failpoint arms a failpoint in the process to be started.
func failpoint(name string) []string { return []string{"TRADEGRID_FAILPOINT=" + name} }

// spawn starts the binary under test. It is killed at the end of the test.
func spawn(t *testing.T, env []string, args ...string) *process {
	return spawnFrom(t, binary, env, args...)
}

// spawnFrom starts another binary in the same way.
func spawnFrom(t *testing.T, binary string, env []string, args ...string) *process {
	t.Helper()
	require.NoError(t, lookAtSources())
	p := &process{t: t, name: strings.Join(args, " "), exited: make(chan struct{})}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the state tells
		p.state = p.cmd.ProcessState
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
		if t.Failed() {
			t.Logf("%s wrote:\n%s", p.name, p.tail())
		}
	})
	return p
}

// Write keeps what the process says.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *process) tail() string {
	text := p.said()
	return text[max(0, len(text)-4000):]
}

// awaitStart waits until the role says that it is up.
func (p *process) awaitStart() {
	p.t.Helper()
	eventually(p.t, func() bool {
		select {
		case <-p.exited:
			require.FailNow(p.t, "the process ended before it was up", "%s: %v\n%s", p.name, p.state, p.tail())
		default:
		}
		lines := bufio.NewScanner(strings.NewReader(p.said()))
		for lines.Scan() {
			var line struct{ Msg, URL, Ops string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && started[line.Msg] {
				p.url, p.ops = line.URL, line.Ops
				return true
			}
		}
		return false
	}, "%s says that it is up", p.name)
}

// killedItself waits until the failpoint has ended the process.
func (p *process) killedItself() {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		require.FailNow(p.t, "the failpoint was not reached", "%s\n%s", p.name, p.tail())
	}
	status, ok := p.state.Sys().(syscall.WaitStatus)
	require.True(p.t, ok)
	require.Equal(p.t, unix.SIGKILL, status.Signal(), "%s: %v\n%s", p.name, p.state, p.tail())
}

// frozen waits until the failpoint has stopped the process.
func (p *process) frozen() {
	p.t.Helper()
	eventually(p.t, func() bool {
		stat, err := os.ReadFile("/proc/" + itoa(p.cmd.Process.Pid) + "/stat")
		require.NoError(p.t, err)
		_, after, _ := bytes.Cut(stat, []byte(") "))
		return bytes.HasPrefix(after, []byte("T"))
	}, "%s is frozen", p.name)
}

// thaw lets a frozen process go on.
func (p *process) thaw() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGCONT))
}

// ended waits for the end of the process and gives its exit code.
func (p *process) ended(within time.Duration) int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		require.FailNow(p.t, "the process did not end", "%s within %s\n%s", p.name, within, p.tail())
	}
	return p.state.ExitCode()
}

// eventually waits for a condition that takes moments.
func eventually(t *testing.T, is func() bool, what string, args ...any) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			require.FailNow(t, "did not happen within "+patience.String(), append([]any{what}, args...)...)
		}
	}
}
