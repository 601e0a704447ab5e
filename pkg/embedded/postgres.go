// Package embedded runs the database and the Kafka broker that `tradegrid dev` and the tests stand on:
// a private PostgreSQL server with its data in a folder, and a broker inside the process.
// No server outlives the process that started it, however that process ends.
// It leaves schemas to package migrate and topics to package topics.
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

// DefaultDatabase is the database that [StartPostgres] creates.
const DefaultDatabase = "tradegrid"

// superuser is the role that owns an embedded server.
const superuser = "tradegrid"

const (
	startTimeout = 60 * time.Second // recovery of a busy server after a crash takes a while
	startTries   = 5                // a free port may be taken by another process before the server has it
)

// ErrInUse is wrapped by the error of a second start on one folder.
var ErrInUse = errors.New("folder is in use")

// PostgresConfig says where a server lives and how careful it is.
type PostgresConfig struct {
	Dir   string       // holds data, password and log; made when absent
	Port  int          // loopback TCP port; 0 picks a free one
	Fresh bool         // throw away earlier data
	Fast  bool         // tests only: no fsync, so a crash of the machine loses data
	Log   *slog.Logger // nil: no messages

	relocateRoot string // where data goes when the server's user cannot reach Dir; tests set it
}

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

// StartPostgres starts a server on the data in cfg.Dir, which it makes at the first start, and waits until
// it answers. The server listens on the loopback address only and asks for a password. When the process runs as
// root, the server runs as the user postgres or nobody, since PostgreSQL refuses root. The programs are
// found on the machine or fetched; the error says what to install when neither works.
// A Dir that another process uses gives [ErrInUse].
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
	acct.adopt(p.data)
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

// launch starts the server process and waits until it answers; another port is tried when the free one was taken.
func (p *Postgres) launch(ctx context.Context, prog programs, acct *account) error {
	for try := 1; ; try++ {
		if err := p.pickPort(); err != nil {
			return err
		}
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
		case p.cfg.Port == 0 && try < startTries && portTaken(said):
			continue
		case strings.Contains(said, "pre-existing shared memory block") && pause(ctx, 100*time.Millisecond):
			continue // the last children of a killed server are about to notice
		}
		return fmt.Errorf("%w; the server said: %s", err, said)
	}
}

func (p *Postgres) pickPort() (err error) {
	if p.port = p.cfg.Port; p.port != 0 {
		return nil
	}
	p.port, err = freePort()
	return err
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
	// The server lives until it is stopped, longer than the context of its start.
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
		// Statements are short; compiling them costs more than it gains.
		"jit=off",
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

// waitReady waits until the server takes a connection, or has ended.
func (p *Postgres) waitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := p.connect(ctx, "postgres")
		if err == nil {
			return conn.Close(ctx)
		}
		// Before it is ready the server refuses connections (08), starts up (57), or does not know the port yet.
		if pe := new(pgconn.PgError); errors.As(err, &pe) && pe.Code[:2] == "28" {
			return fmt.Errorf("log in: %w (the password file %s does not belong to this data; restore it or start fresh)", err, passwordFile(p.cfg.Dir))
		}
		select {
		case <-p.proc.done:
			return fmt.Errorf("the server ended: %w", p.proc.err)
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w (%w)", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// pause waits, and reports whether ctx still goes on.
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

// CreateDatabase makes a database unless it exists.
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

// URL is the address of a database of the server, with its password; an empty name means [DefaultDatabase].
// The default database exists; others are made by [Postgres.CreateDatabase].
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

// Port is the loopback TCP port of the server.
func (p *Postgres) Port() int { return p.port }

// PID is the process id of the server.
func (p *Postgres) PID() int { return p.proc.pid }

// Done is closed when the server has ended, by [Postgres.Stop] or by itself.
func (p *Postgres) Done() <-chan struct{} { return p.proc.done }

// Stop ends the server: sessions are cut, the data is written. When ctx ends first, the server is ended
// hard and recovers at its next start; Stop then returns the error of ctx. Stop may be called again.
func (p *Postgres) Stop(ctx context.Context) error {
	defer p.cleanUp()
	p.proc.signal(syscall.SIGINT)
	select {
	case <-p.proc.done:
		return nil
	case <-ctx.Done():
		p.proc.kill()
		return fmt.Errorf("stop PostgreSQL in time, ended it hard: %w", ctx.Err())
	}
}

// cleanUp gives back what a server without a process must not hold.
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
