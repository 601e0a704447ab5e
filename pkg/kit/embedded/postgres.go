//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// superuser is the superuser role of an embedded server.
const superuser = "tradegrid"

const (
	startTimeout = 60 * time.Second // allows for crash recovery
	startTries   = 5                // another process may take the free port before the server binds it
)

// Postgres is a running server.
type Postgres struct {
	cfg      PostgresConfig
	port     int
	password string
	data     string // data folder, usually Dir/data
	sockets  string
	lock     *folderLock
	proc     *process
}

// StartPostgres starts a server on the data in cfg.Dir, which it creates at the first start, and waits until it
// accepts connections. The server listens on the loopback address only and requires a password. If the process runs as
// root, the server runs as the user postgres or nobody, because PostgreSQL refuses to run as root. The programs are
// found on the machine or downloaded; if neither works, the error says what to install.
// If another process uses Dir, the error wraps [ErrInUse].
func StartPostgres(ctx context.Context, cfg PostgresConfig) (_ *Postgres, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, fmt.Errorf("resolve database folder: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	acct, err := serverAccount()
	if err != nil {
		return nil, err
	}
	if err := makeOwnFolder(cfg.Dir, acct); err != nil {
		return nil, err
	}
	p := &Postgres{cfg: cfg}
	if p.lock, err = lockFolder(cfg.Dir); err != nil {
		return nil, err
	}
	if err := p.start(ctx, acct); err != nil {
		p.cleanUp()
		return nil, fmt.Errorf("start PostgreSQL in %s: %w", cfg.Dir, err)
	}
	cfg.Log.InfoContext(ctx, "postgres started", "port", p.port, "pid", p.PID(), "data", p.data)
	return p, nil
}

func (p *Postgres) start(ctx context.Context, acct *account) (err error) {
	if p.cfg.Fresh {
		if err := removeData(p.cfg.Dir); err != nil {
			return err
		}
	}
	place, err := placeData(ctx, p.cfg, acct)
	if err != nil {
		return err
	}
	p.data = filepath.Join(place, "data")
	acct.useDataOwner(p.data)
	progs, err := findPrograms(ctx, p.cfg, place, acct)
	if err != nil {
		return err
	}
	if progs, err = progs.matching(p.data); err != nil {
		return err
	}
	if p.sockets, err = makeSocketFolder(ctx, p.cfg.Dir, place, acct); err != nil {
		return err
	}
	if p.password, err = initialise(ctx, p.cfg, progs.best(), p.data, p.sockets, acct); err != nil {
		return err
	}
	if err := p.clearStalePid(ctx); err != nil {
		return err
	}
	if err := p.launch(ctx, progs.best(), acct); err != nil {
		return err
	}
	return p.CreateDatabase(ctx, DefaultDatabase)
}

// launch starts the server process and waits until it is ready; it tries another port if the free one was taken meanwhile.
func (p *Postgres) launch(ctx context.Context, prog programs, acct *account) error {
	for try := 1; ; try++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		p.port = port
		offset, err := p.spawn(ctx, prog, acct)
		if err != nil {
			return err
		}
		err = p.waitReady(ctx)
		if err == nil {
			return nil
		}
		p.proc.kill()
		said := logSince(p.logFile(), offset)
		switch {
		case try < startTries && portTaken(said):
			continue
		case strings.Contains(said, "pre-existing shared memory block") && pause(ctx, 100*time.Millisecond):
			continue // the last children of a killed server are still exiting
		}
		return fmt.Errorf("%w; server log: %s", err, said)
	}
}

func (p *Postgres) spawn(ctx context.Context, prog programs, acct *account) (logOffset int64, err error) {
	log, err := openLog(p.logFile())
	if err != nil {
		return 0, err
	}
	defer log.Close()
	if logOffset, err = log.Seek(0, 2); err != nil {
		return 0, fmt.Errorf("open %s: %w", p.logFile(), err)
	}
	// The server outlives the context of its start.
	cmd := acct.command(context.WithoutCancel(ctx), prog.postgres, serverArgs(p.data, p.sockets, p.port, p.cfg.Fast)...)
	cmd.Dir = p.data
	cmd.Stdout, cmd.Stderr = log, log
	if p.proc, err = startProcess(cmd); err != nil {
		return 0, fmt.Errorf("run %s: %w", prog.postgres, err)
	}
	return logOffset, nil
}

func serverArgs(data, sockets string, port int, fast bool) []string {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(port),
		"unix_socket_directories=" + sockets,
		"unix_socket_permissions=0700",
		"max_connections=500",
		"shared_buffers=256MB",
		"timezone=UTC", "log_timezone=UTC",
		// Statements are short, so JIT compilation costs more than it gains.
		"jit=off",
		// Commits that nobody waits for reach the disk a second later; the process that writes them wakes less often.
		"wal_writer_delay=1s",
	}
	if fast {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	}
	args := []string{"-D", data}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// waitReady waits until the server accepts a connection, or has exited.
func (p *Postgres) waitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := p.connect(ctx, "postgres")
		if err == nil {
			return conn.Close(ctx)
		}
		// Until it is ready, the server refuses connections (08), is starting up (57), or has not bound the port yet.
		if pe := new(pgconn.PgError); errors.As(err, &pe) && pe.Code[:2] == "28" {
			return fmt.Errorf("log in: %w (the password file %s does not belong to this data; restore it or start fresh)", err, passwordFile(p.cfg.Dir))
		}
		select {
		case <-p.proc.done:
			return fmt.Errorf("the server exited: %w", p.proc.err)
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w (%w)", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// pause waits for d; it reports false if ctx is done first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (p *Postgres) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return pgx.Connect(ctx, p.URL(database))
}

// CreateDatabase creates a database unless it exists.
func (p *Postgres) CreateDatabase(ctx context.Context, name string) error {
	conn, err := p.connect(ctx, "postgres")
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	const duplicateDatabase = "42P04"
	if pe := new(pgconn.PgError); errors.As(err, &pe) && pe.Code == duplicateDatabase {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// URL returns the URL of a database of the server, including the password; an empty name means [DefaultDatabase].
// The default database exists; [Postgres.CreateDatabase] creates others.
func (p *Postgres) URL(database string) string {
	if database == "" {
		database = DefaultDatabase
	}
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, p.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port returns the loopback TCP port of the server.
func (p *Postgres) Port() int { return p.port }

// PID returns the process id of the server.
func (p *Postgres) PID() int { return p.proc.pid }

// Done is closed when the server has exited, by [Postgres.Stop] or by itself.
func (p *Postgres) Done() <-chan struct{} { return p.proc.done }

// Stop closes all sessions, writes the data and stops the server. If ctx is done first, it kills the server, which
// recovers at its next start, and returns the error of ctx. Stop may be called more than once.
func (p *Postgres) Stop(ctx context.Context) error {
	defer p.cleanUp()
	p.proc.signal(syscall.SIGINT)
	select {
	case <-p.proc.done:
		return nil
	case <-ctx.Done():
		p.proc.kill()
		return fmt.Errorf("PostgreSQL did not stop in time and was killed: %w", ctx.Err())
	}
}

// cleanUp kills the server if it still runs, deletes its socket folder and releases the data folder.
func (p *Postgres) cleanUp() {
	if p.proc != nil {
		p.proc.kill()
	}
	if p.sockets != "" {
		if err := os.RemoveAll(p.sockets); err != nil {
			p.cfg.Log.Warn("socket folder not removed", "path", p.sockets, "error", err)
		}
	}
	p.lock.release()
}

func (p *Postgres) logFile() string { return filepath.Join(p.cfg.Dir, "postgres.log") }
