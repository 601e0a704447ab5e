package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// helperEnv makes the test binary start a server in the folder it names, print where it is, and wait.
const helperEnv = "TRADEGRID_EMBEDDED_HELPER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperEnv); dir != "" {
		os.Exit(serveForParent(dir))
	}
	os.Exit(m.Run())
}

type helperReport struct {
	PID, UID int
	URL      string
}

func serveForParent(dir string) int {
	p, err := StartPostgres(context.Background(), PostgresConfig{Dir: dir, Fast: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out, _ := json.Marshal(helperReport{PID: p.PID(), UID: os.Geteuid(), URL: p.URL("")})
	fmt.Println(string(out))
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := p.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// folder is a folder that every user may pass through, unlike that of t.TempDir.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tradegrid-embedded-test-") //nolint:usetesting // t.TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return filepath.Join(dir, "postgres")
}

func start(t *testing.T, cfg PostgresConfig) *Postgres {
	t.Helper()
	p, err := StartPostgres(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.Background())) })
	return p
}

func exec1(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func count(t *testing.T, url, table string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&n))
	return n
}

func TestPostgresKeepsDataOverRestart(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	p := start(t, PostgresConfig{Dir: dir})
	exec1(t, p.URL(""), "CREATE TABLE kept AS SELECT 1 AS a")
	sockets := p.sockets
	require.NoError(t, p.Stop(t.Context()))
	require.NoDirExists(t, sockets)
	select {
	case <-p.Done():
	default:
		t.Fatal("Done is open after Stop")
	}
	again := start(t, PostgresConfig{Dir: dir})
	require.Equal(t, 1, count(t, again.URL(""), "kept"))
	require.NoError(t, again.Stop(t.Context()))

	fresh := start(t, PostgresConfig{Dir: dir, Fresh: true})
	conn, err := pgx.Connect(t.Context(), fresh.URL(""))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), "SELECT a FROM kept")
	require.ErrorContains(t, err, "does not exist")
}

func TestPostgresSettingsAndPassword(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	p := start(t, PostgresConfig{Dir: dir, Fast: true})
	conn, err := pgx.Connect(t.Context(), p.URL(""))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	for setting, want := range map[string]string{
		"max_connections": "500", "listen_addresses": "127.0.0.1", "fsync": "off", "full_page_writes": "off", "lc_collate": "C", "lc_ctype": utf8Locale(),
	} {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&got))
		require.Equal(t, want, got, setting)
	}
	_, err = pgx.Connect(t.Context(), strings.Replace(p.URL(""), p.password, "wrong", 1))
	require.ErrorContains(t, err, "password authentication failed")
	info, err := os.Stat(passwordFile(dir))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestPostgresSecondStartIsRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	start(t, PostgresConfig{Dir: dir, Fast: true})
	_, err := StartPostgres(t.Context(), PostgresConfig{Dir: dir, Fast: true})
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, fmt.Sprintf("process %d", os.Getpid()))
}

func TestPostgresRecoversFromKill(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	p := start(t, PostgresConfig{Dir: dir})
	exec1(t, p.URL(""), "CREATE TABLE kept AS SELECT 1 AS a")
	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGKILL))
	<-p.Done()
	require.NoError(t, p.Stop(t.Context()))
	require.FileExists(t, filepath.Join(p.data, "postmaster.pid"))
	again := start(t, PostgresConfig{Dir: dir})
	require.Equal(t, 1, count(t, again.URL(""), "kept"))
}

func TestPostgresRemovesPidFileOfStranger(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	p := start(t, PostgresConfig{Dir: dir, Fast: true})
	require.NoError(t, p.Stop(t.Context()))
	stranger := acctCommand(t, "sleep", "60")
	path := filepath.Join(p.data, "postmaster.pid")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "%d\n%s\n0\n5432\n\n\n\n", stranger.Process.Pid, p.data), 0o600))
	start(t, PostgresConfig{Dir: dir, Fast: true})
}

// acctCommand runs a program as the server's user until the end of the test.
func acctCommand(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	acct, err := serverAccount()
	require.NoError(t, err)
	path, err := exec.LookPath(name)
	require.NoError(t, err)
	cmd := acct.command(context.WithoutCancel(t.Context()), path, args...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func TestPostgresMovesDataThatItsUserCannotReach(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root's server runs as another user")
	}
	open := filepath.Dir(folder(t))
	closed := t.TempDir()
	require.NoError(t, os.Chmod(closed, 0o700))
	dir := filepath.Join(closed, "postgres")
	cfg := PostgresConfig{Dir: dir, Fast: true, relocateRoot: open}
	p := start(t, cfg)
	require.True(t, strings.HasPrefix(p.data, open), p.data)
	exec1(t, p.URL(""), "CREATE TABLE kept AS SELECT 1 AS a")
	require.NoError(t, p.Stop(t.Context()))
	again := start(t, cfg)
	require.Equal(t, p.data, again.data)
	require.Equal(t, 1, count(t, again.URL(""), "kept"))
	require.ErrorIs(t, Remove(dir), ErrInUse)
	require.NoError(t, again.Stop(t.Context()))
	require.NoError(t, Remove(dir))
	require.NoDirExists(t, filepath.Dir(p.data))
	require.NoDirExists(t, dir)
}

// TestPostgresEndsWithItsParent kills a process that runs a server, and starts another one on its data.
func TestPostgresEndsWithItsParent(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	parent, report := startHelper(t, dir, nil)
	exec1(t, report.URL, "CREATE TABLE kept AS SELECT 1 AS a")
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	again := start(t, PostgresConfig{Dir: dir, Fast: true})
	require.NotEqual(t, report.PID, again.PID())
	require.Equal(t, 1, count(t, again.URL(""), "kept"))
	require.Eventually(t, func() bool { return !runsOn(report.PID, again.data) }, time.Minute, 20*time.Millisecond)
}

func TestPostgresRunsAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	acct, err := serverAccount()
	require.NoError(t, err)
	dir := folder(t)
	require.NoError(t, acct.chown(filepath.Dir(dir)))
	parent, report := startHelper(t, dir, acct)
	require.Equal(t, acct.uid, report.UID)
	exec1(t, report.URL, "CREATE TABLE kept AS SELECT 1 AS a")
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	// Root goes on with the data of the ordinary user.
	again := start(t, PostgresConfig{Dir: dir, Fast: true})
	require.Equal(t, 1, count(t, again.URL(""), "kept"))
}

// writeProgram writes a file to be run. A process that is forked meanwhile would keep it open for writing, so that it
// could not be run.
func writeProgram(t *testing.T, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, content, 0o755))
}

// startHelper runs a copy of this test binary that starts a server, as another user if acct is given.
func startHelper(t *testing.T, dir string, acct *account) (*exec.Cmd, helperReport) {
	t.Helper()
	binary, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	self := filepath.Join(filepath.Dir(dir), "helper")
	writeProgram(t, self, binary)
	if acct == nil {
		acct = &account{}
	}
	cmd := acct.command(context.WithoutCancel(t.Context()), self)
	cmd.Env = append(cmd.Env, helperEnv+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var report helperReport
	require.NoError(t, json.Unmarshal(line, &report))
	return cmd, report
}

func TestWatchedProcessEndsWithItsParent(t *testing.T) {
	t.Parallel()
	sleep := exec.Command("sleep", "60")
	release, err := startWatched(sleep)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- sleep.Wait() }()
	release() // a released process lives on
	require.NoError(t, sleep.Process.Signal(syscall.Signal(0)))
	require.NoError(t, sleep.Process.Kill())
	require.Error(t, <-ended)

	// The watcher's pipe closes when its parent dies: a shell in the parent's place does the same here.
	orphan := exec.Command("sleep", "60")
	require.NoError(t, orphan.Start())
	watch := exec.Command("/bin/sh", "-c", watchScript, "sh", fmt.Sprint(orphan.Process.Pid))
	require.NoError(t, watch.Run()) // no standard input: it has ended already
	require.ErrorContains(t, orphan.Wait(), "interrupt")
}

func TestMissingProgramsAreFoundOut(t *testing.T) {
	t.Parallel()
	acct, err := serverAccount()
	require.NoError(t, err)
	empty := t.TempDir()
	require.Empty(t, installed(t.Context(), acct, []string{empty, ""}, []string{filepath.Join(empty, "*")}))
	for out, want := range map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-1)": 15, "postgres (PostgreSQL) 17.2": 17, "postgres (PostgreSQL) 18beta1": 18, "something else": 0,
	} {
		require.Equal(t, want, majorVersion(out), out)
	}
}

func TestDataOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	list := programsList{{major: 17}, {major: 15}}
	kept, err := list.matching(data)
	require.NoError(t, err)
	require.Equal(t, list, kept)
	require.NoError(t, os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("15\n"), 0o600))
	kept, err = list.matching(data)
	require.NoError(t, err)
	require.Equal(t, programsList{{major: 15}}, kept)
	_, err = programsList{{major: 17}}.matching(data)
	require.ErrorContains(t, err, "install version 15 or start fresh")
}

func TestLogIsPutAsideWhenLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "postgres.log")
	require.NoError(t, os.WriteFile(path, make([]byte, maxLog+1), 0o600))
	f, err := openLog(path)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.FileExists(t, path+".1")
}
