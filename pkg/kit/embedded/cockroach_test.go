package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeCockroach stands in for the real program, which these tests do not need: it notes how it was called, writes its
// address as the real one does, and notes the signal that ends it. It serves nothing.
const fakeCockroach = `#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$@" > "$here/args"
env > "$here/env"
for arg; do
  case $arg in
    --listening-url-file=*) url=${arg#*=} ;;
    --store=*) mkdir -p "${arg#*=}" ;;
  esac
done
trap 'echo TERM >> "$here/signals"; exit 0' TERM
trap 'echo INT >> "$here/signals"; exit 0' INT
echo "a line for the log"
BEHAVIOUR
while :; do sleep 0.05; done
`

const announce = `printf 'postgresql://root@127.0.0.1:26257/defaultdb?sslmode=disable\n' > "$url"`

// fake installs a program of the given behaviour and returns its path.
func fake(t *testing.T, behaviour string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), cockroachProgram)
	writeProgram(t, program, []byte(strings.Replace(fakeCockroach, "BEHAVIOUR", behaviour, 1)))
	return program
}

func beside(t *testing.T, program, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(program), name))
	require.NoError(t, err)
	return string(b)
}

func startFake(t *testing.T, cfg CockroachConfig) *Cockroach {
	t.Helper()
	c, err := StartCockroach(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop(context.Background())) })
	return c
}

func TestCockroachStartsAndStops(t *testing.T) {
	t.Parallel()
	program, dir := fake(t, announce), filepath.Join(t.TempDir(), "cockroach")
	c := startFake(t, CockroachConfig{Program: program, Dir: dir})
	require.Equal(t, "postgresql://root@127.0.0.1:26257/defaultdb?sslmode=disable", c.URL())
	require.Equal(t, []string{
		"start-single-node", "--insecure", "--listen-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0",
		"--store=" + dir + "/data", "--listening-url-file=" + dir + "/listening-url",
	}, strings.Fields(beside(t, program, "args")))
	require.Contains(t, beside(t, program, "env"), "COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true")
	require.True(t, runsOn(c.PID(), dir))
	log, err := os.ReadFile(c.LogFile())
	require.NoError(t, err)
	require.Contains(t, string(log), "a line for the log")

	require.NoError(t, c.Stop(t.Context()))
	require.Equal(t, "TERM\n", beside(t, program, "signals"))
	<-c.Done()
	require.False(t, alive(c.PID()))
	require.NoError(t, c.Stop(t.Context()), "a second Stop does nothing")
}

func TestCockroachKeepsDataUnlessFresh(t *testing.T) {
	t.Parallel()
	cfg := CockroachConfig{Program: fake(t, announce), Dir: filepath.Join(t.TempDir(), "cockroach")}
	require.NoError(t, startFake(t, cfg).Stop(t.Context()))
	kept := filepath.Join(cfg.Dir, "data", "kept")
	require.NoError(t, os.WriteFile(kept, nil, 0o600))
	require.NoError(t, startFake(t, cfg).Stop(t.Context()))
	require.FileExists(t, kept)
	cfg.Fresh = true
	require.NoError(t, startFake(t, cfg).Stop(t.Context()))
	require.NoFileExists(t, kept)
}

func TestCockroachSecondStartIsRefused(t *testing.T) {
	t.Parallel()
	cfg := CockroachConfig{Program: fake(t, announce), Dir: filepath.Join(t.TempDir(), "cockroach")}
	startFake(t, cfg)
	_, err := StartCockroach(t.Context(), cfg)
	require.ErrorIs(t, err, ErrInUse)
}

func TestCockroachThatEndsByItselfIsNoticed(t *testing.T) {
	t.Parallel()
	c := startFake(t, CockroachConfig{Program: fake(t, announce), Dir: t.TempDir()})
	require.NoError(t, syscall.Kill(c.PID(), syscall.SIGKILL))
	<-c.Done()
}

// What goes wrong at the start is told with what the program said, and leaves neither process nor lock.
func TestCockroachStartFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ behaviour, says string }{
		"ends at once":    {"echo no space left >&2; exit 3", "no space left"},
		"ends silently":   {"exit 0", "without an error"},
		"strange address": {`echo nonsense > "$url"`, `"nonsense", which is not a URL`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := StartCockroach(t.Context(), CockroachConfig{Program: fake(t, tc.behaviour), Dir: dir})
			require.ErrorContains(t, err, tc.says)
			startFake(t, CockroachConfig{Program: fake(t, announce), Dir: dir})
		})
	}
	_, err := StartCockroach(t.Context(), CockroachConfig{Program: filepath.Join(t.TempDir(), "none"), Dir: t.TempDir()})
	require.ErrorContains(t, err, "no such file")
}

func TestCockroachThatNeverAnswersIsGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	program, dir := fake(t, `echo ready > "$here/running"`), t.TempDir()
	done := make(chan error, 1)
	go func() {
		_, err := StartCockroach(ctx, CockroachConfig{Program: program, Dir: dir})
		done <- err
	}()
	running := filepath.Join(filepath.Dir(program), "running")
	require.Eventually(t, func() bool { _, err := os.Stat(running); return err == nil }, time.Minute, 5*time.Millisecond)
	cancel(errors.New("enough"))
	require.ErrorIs(t, <-done, context.Canceled)
}

// A node that does not follow SIGTERM is ended when the time is over.
func TestCockroachThatDoesNotStopIsEnded(t *testing.T) {
	t.Parallel()
	c, err := StartCockroach(t.Context(), CockroachConfig{Program: fake(t, "trap '' TERM\n"+announce), Dir: t.TempDir()})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Stop(ctx), context.DeadlineExceeded)
	require.False(t, alive(c.PID()))
}

// A node whose parent was killed holds the data for a moment: the next start waits for its end.
func TestCockroachWaitsForAnEarlierNode(t *testing.T) {
	t.Parallel()
	cfg := CockroachConfig{Program: fake(t, announce), Dir: t.TempDir()}
	earlier := exec.Command(cfg.Program, cockroachArgs(filepath.Join(cfg.Dir, "data"), filepath.Join(cfg.Dir, "listening-url"))...)
	require.NoError(t, earlier.Start())
	ended := make(chan error, 1)
	go func() { ended <- earlier.Wait() }()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(cfg.Dir, "listening-url"))
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(cfg.Dir, "pid"), fmt.Appendln(nil, earlier.Process.Pid), 0o600))
	c := startFake(t, cfg)
	require.NoError(t, <-ended)
	require.NotEqual(t, earlier.Process.Pid, c.PID())
}

// A process id that has gone to a stranger stops nobody.
func TestCockroachLeavesStrangersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stranger := exec.Command("sleep", "60")
	require.NoError(t, stranger.Start())
	defer func() {
		require.NoError(t, stranger.Process.Kill(), "the stranger was ended")
		_ = stranger.Wait()
	}()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pid"), fmt.Appendln(nil, stranger.Process.Pid), 0o600))
	startFake(t, CockroachConfig{Program: fake(t, announce), Dir: dir})
	require.True(t, alive(stranger.Process.Pid))
}

func TestFindCockroach(t *testing.T) { //nolint:paralleltest // PATH is the process's
	program := fake(t, announce)
	t.Setenv("PATH", filepath.Dir(program))
	got, ok := FindCockroach()
	require.True(t, ok)
	require.Equal(t, program, got)
	t.Setenv("PATH", t.TempDir())
	_, ok = FindCockroach()
	require.False(t, ok)
}
