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

// initialise makes the data folder unless it exists, and returns the superuser's password.
// The folder is made under another name first, so that an interrupted attempt is never taken for data.
func initialise(ctx context.Context, cfg PostgresConfig, prog programs, data, scratch string, acct *account) (password string, err error) {
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return readPassword(cfg.Dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look at the data: %w", err)
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
		return "", fmt.Errorf("make data folder: %w", err)
	}
	if err := acct.give(fresh); err != nil {
		return "", err
	}
	if err := runInitdb(ctx, cfg, prog, fresh, scratch, password, acct); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, data); err != nil {
		return "", fmt.Errorf("put data in place: %w", err)
	}
	return password, nil
}

func readPassword(dir string) (string, error) {
	b, err := os.ReadFile(passwordFile(dir))
	if err != nil {
		return "", fmt.Errorf("the data exists but not its password: %w; restore the file or start fresh", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// runInitdb orders text by bytes, as CockroachDB does, and knows letters of all scripts, which the trigram
// index of searches needs.
func runInitdb(ctx context.Context, cfg PostgresConfig, prog programs, data, scratch, password string, acct *account) error {
	pwfile := filepath.Join(scratch, "password")
	if err := os.WriteFile(pwfile, []byte(password+"\n"), 0o600); err != nil {
		return fmt.Errorf("hand over password: %w", err)
	}
	defer os.Remove(pwfile)
	if err := acct.give(pwfile); err != nil {
		return err
	}
	args := []string{"-D", data, "-U", superuser, "--pwfile=" + pwfile, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--lc-ctype=" + utf8Locale()}
	if cfg.Fast {
		args = append(args, "--no-sync")
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

// clearStalePid deals with the postmaster.pid of a server that did not end by itself. The folder's lock is ours, so
// such a server has lost its parent and is about to end: it is waited for. A process id that
// has gone to a stranger meanwhile would make PostgreSQL refuse to start: then the file is removed.
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
		p.cfg.Log.InfoContext(ctx, "postmaster.pid names another process, removed", "pid", pid)
		return os.Remove(path)
	}
	p.cfg.Log.InfoContext(ctx, "waiting for an earlier server to end", "pid", pid)
	return endEarlier(ctx, pid, p.data, syscall.SIGINT)
}

// endEarlier ends a server on the data that has lost its parent, and waits for its end.
func endEarlier(ctx context.Context, pid int, data string, sig syscall.Signal) error {
	_ = syscall.Kill(pid, sig) // it may be ending already
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) && runsOn(pid, data) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("an earlier server (process %d) still runs on %s: end it first: %w", pid, data, ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// processID reads the id of a process that is alive; 0 for anything else.
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
