//go:build kafka

package kafka

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait for something that takes moments. Brokers that come back want some of it.
const patience = 60 * time.Second

// process is a running role.
type process struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	url    string // of the API
	ops    string // of health and metrics
	exited chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

// started are the lines that say that a role is up.
var started = map[string]bool{"api listening": true, "relay running": true, "dispatcher running": true} //nolint:gochecknoglobals // a constant

// spawn starts the binary. It is killed at the end of the test.
func spawn(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: strings.Join(args, " "), exited: make(chan struct{})}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // it is killed
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", p.name, p.tail())
		}
	})
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.exited
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
			require.FailNow(p.t, "the process ended before it was up", "%s\n%s", p.name, p.tail())
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

// ask reads a page of the process for operators.
func (p *process) ask(path string) (status int, body string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.ops+path, nil)
	require.NoError(p.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return res.StatusCode, string(raw)
}

// run runs a command of the binary to its end.
func run(t *testing.T, env []string, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), env...)
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}

// eventually waits for a condition that takes moments.
func eventually(t *testing.T, is func() bool, what string, args ...any) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			require.FailNow(t, "did not happen within "+patience.String(), append([]any{what}, args...)...)
		}
	}
}
