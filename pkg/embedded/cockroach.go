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

// cockroachProgram is the name under which a CockroachDB is looked for on PATH.
const cockroachProgram = "cockroach"

// CockroachConfig says where a CockroachDB node lives.
type CockroachConfig struct {
	Program string       // path of the program; see [FindCockroach]
	Dir     string       // holds data and log; made when absent
	Fresh   bool         // throw away earlier data
	Log     *slog.Logger // nil: no messages
}

// Cockroach is a running cluster of one node.
type Cockroach struct {
	cfg  CockroachConfig
	url  string
	lock *folderLock
	proc *process
}

// FindCockroach looks for the program on PATH; ok tells whether it is there.
func FindCockroach() (path string, ok bool) {
	path, err := exec.LookPath(cockroachProgram)
	if err != nil {
		return "", false
	}
	path, err = filepath.Abs(path)
	return path, err == nil
}

// StartCockroach starts a node on the data in cfg.Dir, which it makes at the first start, and waits until it takes
// connections. The node listens on the loopback address only, on free ports, and asks nobody for a password: it is
// for one developer's machine. It runs as the user of this process and ends with it.
// A Dir that another process uses gives [ErrInUse].
func StartCockroach(ctx context.Context, cfg CockroachConfig) (_ *Cockroach, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, fmt.Errorf("resolve database folder: %w", err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make database folder: %w", err)
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
	if err := c.endEarlier(ctx); err != nil {
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
		return fmt.Errorf("note process id: %w", err)
	}
	if err := c.waitReady(ctx); err != nil {
		return fmt.Errorf("%w; the server said: %s", err, logSince(c.LogFile(), offset))
	}
	return nil
}

// endEarlier deals with a node whose parent was killed: the lock is ours, so it is on its way out.
func (c *Cockroach) endEarlier(ctx context.Context) error {
	b, err := os.ReadFile(c.pidFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read process id: %w", err)
	}
	pid := processID(strings.TrimSpace(string(b)))
	if pid == 0 || !runsOn(pid, c.data()) {
		return nil // it has ended, or its id has gone to a stranger
	}
	c.cfg.Log.InfoContext(ctx, "waiting for an earlier server to end", "pid", pid)
	return endEarlier(ctx, pid, c.data(), syscall.SIGTERM)
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
	// The node lives until it is stopped, longer than the context of its start.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.cfg.Program, cockroachArgs(c.data(), c.urlFile())...) //nolint:gosec // the caller's program
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "COCKROACH_") || strings.HasPrefix(kv, "PG") })
	cmd.Env = append(cmd.Env, "COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true") // a developer's node tells nobody of itself
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

// waitReady waits until the node has written its address, which it does once it takes connections, or has ended.
func (c *Cockroach) waitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(c.urlFile())
		if text := strings.TrimSpace(string(b)); err == nil && text != "" {
			u, err := url.Parse(text)
			if err != nil || u.Port() == "" {
				return fmt.Errorf("%s holds %q, which is no address", c.urlFile(), text)
			}
			c.url = text
			return nil
		}
		select {
		case <-c.proc.done:
			return fmt.Errorf("the server ended: %w", ended(c.proc.err))
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// ended says how a process ended that should not have.
func ended(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}

// URL is the address of the node's default database.
func (c *Cockroach) URL() string { return c.url }

// PID is the process id of the node.
func (c *Cockroach) PID() int { return c.proc.pid }

// Done is closed when the node has ended, by [Cockroach.Stop] or by itself.
func (c *Cockroach) Done() <-chan struct{} { return c.proc.done }

// LogFile is where the node's output goes; its own logs lie below the data.
func (c *Cockroach) LogFile() string { return filepath.Join(c.cfg.Dir, "cockroach.log") }

// Stop lets the node drain and end. When ctx ends first, the node is ended hard and recovers at its next start;
// Stop then returns the error of ctx. Stop may be called again.
func (c *Cockroach) Stop(ctx context.Context) error {
	defer c.cleanUp()
	c.proc.signal(syscall.SIGTERM)
	select {
	case <-c.proc.done:
		return nil
	case <-ctx.Done():
		c.proc.signal(syscall.SIGKILL)
		<-c.proc.done
		return fmt.Errorf("stop CockroachDB in time, ended it hard: %w", ctx.Err())
	}
}

// cleanUp gives back what a node without a process must not hold.
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
