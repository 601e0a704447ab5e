//go:build unix

package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func passwordFile(dir string) string { return filepath.Join(dir, "password") }

// initialise creates the data folder unless it exists, and returns the superuser's password.
// It creates the folder under a temporary name first, so that an interrupted attempt is never mistaken for data.
func initialise(ctx context.Context, cfg PostgresConfig, prog programs, data, scratch string, acct *account) (password string, err error) {
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return readPassword(cfg.Dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("check the data folder: %w", err)
	}
	password = rand.Text()
	if err := os.WriteFile(passwordFile(cfg.Dir), []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write password: %w", err)
	}
	fresh := data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", fmt.Errorf("remove unfinished data: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return "", fmt.Errorf("create data folder: %w", err)
	}
	if err := acct.chown(fresh); err != nil {
		return "", err
	}
	if err := runInitdb(ctx, cfg, prog, fresh, scratch, password, acct); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, data); err != nil {
		return "", fmt.Errorf("rename data folder: %w", err)
	}
	return password, nil
}

func readPassword(dir string) (string, error) {
	b, err := os.ReadFile(passwordFile(dir))
	if err != nil {
		return "", fmt.Errorf("the data exists but its password file is missing: %w; restore the file or start fresh", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// runInitdb creates a cluster that sorts text by bytes, as CockroachDB does, and classifies letters of all scripts, which
// the trigram index of searches requires.
func runInitdb(ctx context.Context, cfg PostgresConfig, prog programs, data, scratch, password string, acct *account) error {
	pwfile := filepath.Join(scratch, "password")
	if err := os.WriteFile(pwfile, []byte(password+"\n"), 0o600); err != nil {
		return fmt.Errorf("pass password to initdb: %w", err)
	}
	defer os.Remove(pwfile)
	if err := acct.chown(pwfile); err != nil {
		return err
	}
	args := []string{"-D", data, "-U", superuser, "--pwfile=" + pwfile, "--encoding=UTF8", "--locale=C", "--lc-ctype=" + utf8Locale()}
	if cfg.Fast {
		args = append(args, "--auth=md5", "--no-sync") // scram-sha-256 takes a third of the processor time of a connection
	} else {
		args = append(args, "--auth=scram-sha-256")
	}
	if out, err := acct.command(ctx, prog.initdb, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", prog.initdb, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func utf8Locale() string {
	if runtime.GOOS == "darwin" {
		return "UTF-8"
	}
	return "C.UTF-8"
}

// clearStalePid handles the postmaster.pid of a server that was not stopped. This process holds the folder's lock, so
// such a server has lost its parent; clearStalePid stops it and waits. If another process has reused the id, PostgreSQL
// would refuse to start, so clearStalePid deletes the file.
func (p *Postgres) clearStalePid(ctx context.Context) error {
	path := filepath.Join(p.data, "postmaster.pid")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read postmaster.pid: %w", err)
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid := processID(first)
	if pid == 0 {
		return nil // PostgreSQL replaces the file
	}
	if !runsOn(pid, p.data) {
		p.cfg.Log.InfoContext(ctx, "removed postmaster.pid, which names another process", "pid", pid)
		return os.Remove(path)
	}
	p.cfg.Log.InfoContext(ctx, "waiting for an earlier server to stop", "pid", pid)
	return stopOrphan(ctx, pid, p.data, syscall.SIGINT)
}

// stopOrphan stops a server whose parent has died, and waits for its exit.
func stopOrphan(ctx context.Context, pid int, data string, sig syscall.Signal) error {
	_ = syscall.Kill(pid, sig) // it may have exited already
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) && runsOn(pid, data) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("an earlier server (process %d) is still running on %s: stop it first: %w", pid, data, ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// processID parses the id of a running process; it returns 0 for anything else.
func processID(text string) int {
	if pid, err := strconv.Atoi(text); err == nil && pid > 0 && alive(pid) {
		return pid
	}
	return 0
}

func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// runsOn reports whether a process is a server on the data folder, by its command line.
func runsOn(pid int, data string) bool {
	return strings.Contains(commandLine(pid), data)
}
