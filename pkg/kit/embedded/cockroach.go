//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cockroachProgram is the name of CockroachDB's program on PATH.
const cockroachProgram = "cockroach"

// Cockroach is a running single-node cluster.
type Cockroach struct {
	cfg  CockroachConfig
	url  string
	lock *folderLock
	proc *process
}

// FindCockroach looks for the program on PATH; ok reports whether it was found.
func FindCockroach() (path string, ok bool) {
	path, err := exec.LookPath(cockroachProgram)
	if err != nil {
		return "", false
	}
	path, err = filepath.Abs(path)
	return path, err == nil
}

// StartCockroach starts a node on the data in cfg.Dir, which it creates at the first start, and waits until the node
// accepts connections. The node listens on free ports of the loopback address and requires no password; it is meant for
// a developer's machine. It runs as the user of this process and ends with it.
// If another process uses Dir, the error wraps [ErrInUse].
func StartCockroach(ctx context.Context, cfg CockroachConfig) (_ *Cockroach, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, fmt.Errorf("resolve database folder: %w", err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create database folder: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c := &Cockroach{cfg: cfg}
	if c.lock, err = lockFolder(cfg.Dir); err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		c.cleanUp()
		return nil, fmt.Errorf("start CockroachDB in %s: %w", cfg.Dir, err)
	}
	cfg.Log.InfoContext(ctx, "cockroach started", "pid", c.PID(), "data", c.data())
	return c, nil
}

func (c *Cockroach) start(ctx context.Context) error {
	if err := c.stopOrphan(ctx); err != nil {
		return err
	}
	if c.cfg.Fresh {
		if err := os.RemoveAll(c.data()); err != nil {
			return fmt.Errorf("remove earlier data: %w", err)
		}
	}
	if err := os.Remove(c.urlFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove earlier address: %w", err)
	}
	offset, err := c.spawn(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.pidFile(), []byte(strconv.Itoa(c.PID())+"\n"), 0o600); err != nil {
		return fmt.Errorf("write process id: %w", err)
	}
	if err := c.waitReady(ctx); err != nil {
		return fmt.Errorf("%w; server log: %s", err, logSince(c.LogFile(), offset))
	}
	return nil
}

// stopOrphan stops a node whose parent was killed and waits for it. This process holds the lock, so nobody else uses the node.
func (c *Cockroach) stopOrphan(ctx context.Context) error {
	b, err := os.ReadFile(c.pidFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read process id: %w", err)
	}
	pid := processID(strings.TrimSpace(string(b)))
	if pid == 0 || !runsOn(pid, c.data()) {
		return nil // it has ended, or its id was reused by another process
	}
	c.cfg.Log.InfoContext(ctx, "waiting for an earlier server to stop", "pid", pid)
	return stopOrphan(ctx, pid, c.data(), syscall.SIGTERM)
}

func (c *Cockroach) spawn(ctx context.Context) (logOffset int64, err error) {
	log, err := openLog(c.LogFile())
	if err != nil {
		return 0, err
	}
	defer log.Close()
	if logOffset, err = log.Seek(0, 2); err != nil {
		return 0, fmt.Errorf("open %s: %w", c.LogFile(), err)
	}
	// The node outlives the context of its start.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.cfg.Program, cockroachArgs(c.data(), c.urlFile())...) //nolint:gosec // the caller's program
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "COCKROACH_") || strings.HasPrefix(kv, "PG") })
	cmd.Env = append(cmd.Env, "COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true") // no telemetry from a developer's machine
	cmd.Dir = c.cfg.Dir
	cmd.Stdout, cmd.Stderr = log, log
	if c.proc, err = startProcess(cmd); err != nil {
		return 0, fmt.Errorf("run %s: %w", c.cfg.Program, err)
	}
	return logOffset, nil
}

func cockroachArgs(data, urlFile string) []string {
	return []string{
		"start-single-node", "--insecure",
		"--listen-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0",
		"--store=" + data, "--listening-url-file=" + urlFile,
	}
}

// waitReady waits until the node has written its address, which it does once it accepts connections, or has exited.
func (c *Cockroach) waitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(c.urlFile())
		if text := strings.TrimSpace(string(b)); err == nil && text != "" {
			u, err := url.Parse(text)
			if err != nil || u.Port() == "" {
				return fmt.Errorf("%s contains %q, which is not a URL with a port", c.urlFile(), text)
			}
			c.url = text
			return nil
		}
		select {
		case <-c.proc.done:
			return fmt.Errorf("the server exited: %w", ended(c.proc.err))
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// ended returns why a process exited unexpectedly.
func ended(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}

// URL returns the URL of the node's default database.
func (c *Cockroach) URL() string { return c.url }

// PID returns the process id of the node.
func (c *Cockroach) PID() int { return c.proc.pid }

// Done is closed when the node has exited, by [Cockroach.Stop] or by itself.
func (c *Cockroach) Done() <-chan struct{} { return c.proc.done }

// LogFile returns the file with the node's output; its own logs are in the data folder.
func (c *Cockroach) LogFile() string { return filepath.Join(c.cfg.Dir, "cockroach.log") }

// Stop drains and stops the node. If ctx is done first, it kills the node, which recovers at its next start, and
// returns the error of ctx. Stop may be called more than once.
func (c *Cockroach) Stop(ctx context.Context) error {
	defer c.cleanUp()
	c.proc.signal(syscall.SIGTERM)
	select {
	case <-c.proc.done:
		return nil
	case <-ctx.Done():
		c.proc.signal(syscall.SIGKILL)
		<-c.proc.done
		return fmt.Errorf("CockroachDB did not stop in time and was killed: %w", ctx.Err())
	}
}

// cleanUp kills the node if it still runs and releases the folder.
func (c *Cockroach) cleanUp() {
	if c.proc != nil {
		c.proc.signal(syscall.SIGKILL)
		<-c.proc.done
	}
	c.lock.release()
}

func (c *Cockroach) data() string    { return filepath.Join(c.cfg.Dir, "data") }
func (c *Cockroach) urlFile() string { return filepath.Join(c.cfg.Dir, "listening-url") }
func (c *Cockroach) pidFile() string { return filepath.Join(c.cfg.Dir, "pid") }
