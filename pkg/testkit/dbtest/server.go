package dbtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/cockroach-go/v2/testserver"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sys/unix"

	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

const folderPrefix = "tradegrid-dbtest-"

// abandonedAfter is the age at which the folder of a killed test process is removed.
const abandonedAfter = time.Hour

// server creates databases by copying one that was migrated once.
type server struct {
	base     *url.URL // URL of an existing database
	postgres *embedded.Postgres
	node     testserver.TestServer // this or postgres is set if the server is embedded
	dir      string                // folder of the embedded PostgreSQL
	admin    *pgxpool.Pool
	dialect  db.Dialect
	prefix   string // name prefix of all databases of this process
	template string // "" on CockroachDB, which cannot copy databases
	shared   string
	made     atomic.Int64

	sharesTemplate bool // with other processes; see [Serve]
}

// startServer connects to the server at a URL, or starts an embedded one if the URL is empty.
func startServer(ctx context.Context, address string) (s *server, err error) {
	s = &server{prefix: "tradegrid_test_" + strings.ToLower(rand.Text()[:8])}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(ctx))
			s = nil
		}
	}()
	if address == "" {
		if address, err = s.startEmbedded(ctx, false); err != nil {
			return s, err
		}
	}
	if err = s.connect(ctx, address); err != nil {
		return s, err
	}
	return s, s.prepare(ctx)
}

// connect connects to a server and finds out what it is.
func (s *server) connect(ctx context.Context, address string) (err error) {
	if s.base, err = url.Parse(address); err != nil {
		return fmt.Errorf("%s must be a postgres:// address: %w", envURL, err)
	}
	if s.admin, err = pgxpool.New(ctx, address); err != nil {
		return fmt.Errorf("connect to the test database: %w", err)
	}
	var version string
	if err := s.admin.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return fmt.Errorf("query the version of the test database: %w", err)
	}
	s.dialect = db.PostgreSQL
	if strings.Contains(version, "CockroachDB") {
		s.dialect = db.CockroachDB
	}
	return nil
}

func (s *server) startEmbedded(ctx context.Context, durable bool) (address string, err error) {
	kind, err := product()
	if err != nil {
		return "", err
	}
	if kind == productCockroach {
		if s.node, err = startCockroach(ctx, durable); err != nil {
			return "", err
		}
		return s.node.PGURL().String(), nil
	}
	parent := os.TempDir()
	if !durable {
		parent = inMemory(parent)
	}
	removeAbandoned(parent, os.TempDir())
	if s.dir, err = os.MkdirTemp(parent, folderPrefix); err != nil {
		return "", fmt.Errorf("create test folder: %w", err)
	}
	// The server runs as another user if the tests run as root.
	if err := os.Chmod(s.dir, 0o711); err != nil {
		return "", fmt.Errorf("open test folder: %w", err)
	}
	if s.postgres, err = embedded.StartPostgres(ctx, embedded.PostgresConfig{Dir: s.dir, Fast: !durable}); err != nil {
		return "", err
	}
	return s.postgres.URL("postgres"), nil
}

// inMemory returns a folder that is kept in memory and has enough space, or else the given one. Tests create and drop hundreds of
// databases of 700 files each, and ext4 spends a fifth of the processor time of all tests on finding inodes that were not freed
// in the last minutes.
func inMemory(otherwise string) string {
	const folder, enough = "/dev/shm", 4 << 30
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < enough {
		return otherwise
	}
	return folder
}

// removeAbandoned deletes the folders of killed test processes, unless they are in use.
func removeAbandoned(parents ...string) {
	var all []string
	for _, parent := range parents {
		dirs, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*")) // the pattern is well-formed
		all = append(all, dirs...)
	}
	for _, dir := range all {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = embedded.Remove(dir) // another process may delete it first or own it
		}
	}
}

// prepare creates the migrated template and the shared database.
func (s *server) prepare(ctx context.Context) error {
	err := s.prepareTemplate(ctx, sharedTemplate())
	if err == nil {
		s.shared, err = s.create(ctx)
	}
	return err
}

const sqlDatabaseExists = `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`

// prepareTemplate finds the template that processes share, or creates one for this process. CockroachDB has none.
func (s *server) prepareTemplate(ctx context.Context, shared string) error {
	if s.dialect != db.PostgreSQL {
		return nil
	}
	if err := s.admin.QueryRow(ctx, sqlDatabaseExists, shared).Scan(&s.sharesTemplate); err != nil {
		return fmt.Errorf("look for the template of the test databases: %w", err)
	}
	if s.sharesTemplate {
		s.template = shared
		return nil
	}
	s.template = s.prefix + "_template"
	return s.createMigrated(ctx, s.template)
}

// sharedTemplate is the name of the template that [Serve] creates, which has the schema of this program.
func sharedTemplate() string {
	sum := sha256.New()
	entries, err := sql.Files.ReadDir(".")
	for _, e := range entries {
		content, readErr := sql.Files.ReadFile(e.Name())
		err = errors.Join(err, readErr)
		fmt.Fprintf(sum, "%s %d\n%s", e.Name(), len(content), content)
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return fmt.Sprintf("tradegrid_template_%x", sum.Sum(nil)[:8])
}

// create creates a database with the current schema.
func (s *server) create(ctx context.Context) (name string, err error) {
	name = fmt.Sprintf("%s_%d", s.prefix, s.made.Add(1))
	if s.template == "" {
		return name, s.createMigrated(ctx, name)
	}
	// Copying files costs half the processor time of copying pages through the log, which is the default.
	stmt := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize() + " TEMPLATE " + pgx.Identifier{s.template}.Sanitize() + " STRATEGY FILE_COPY"
	if _, err := s.admin.Exec(ctx, stmt); err != nil {
		return "", fmt.Errorf("copy test database: %w", err)
	}
	return name, nil
}

func (s *server) createMigrated(ctx context.Context, name string) error {
	if _, err := s.admin.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("create test database: %w", err)
	}
	pool, err := pgxpool.New(ctx, s.url(name))
	if err != nil {
		return fmt.Errorf("connect to the test database: %w", err)
	}
	defer pool.Close()
	if _, err := migrate.Up(ctx, pool, sql.Files, s.dialect, migrate.Contract, nil); err != nil {
		return fmt.Errorf("migrate test database: %w", err)
	}
	return nil
}

func (s *server) drop(ctx context.Context, name string) error {
	stmt := "DROP DATABASE IF EXISTS " + pgx.Identifier{name}.Sanitize()
	if s.dialect == db.CockroachDB {
		stmt += " CASCADE"
	} else {
		stmt += " WITH (FORCE)"
	}
	if _, err := s.admin.Exec(ctx, stmt); err != nil {
		return fmt.Errorf("drop test database: %w", err)
	}
	return nil
}

func (s *server) url(name string) string {
	u := *s.base
	u.Path = "/" + name
	return u.String()
}

// stop stops an embedded server, or drops this process's databases on an external one.
func (s *server) stop(ctx context.Context) error {
	var err error
	if s.admin != nil && s.postgres == nil && s.node == nil {
		if s.shared != "" {
			err = s.drop(ctx, s.shared)
		}
		if s.template != "" && !s.sharesTemplate {
			err = errors.Join(err, s.drop(ctx, s.template))
		}
	}
	if s.admin != nil {
		s.admin.Close()
	}
	if s.postgres != nil {
		err = errors.Join(err, s.postgres.Stop(ctx))
	}
	if s.node != nil {
		s.node.Stop()
	}
	if s.dir != "" {
		err = errors.Join(err, embedded.Remove(s.dir), os.RemoveAll(s.dir))
	}
	return err
}

// Serve starts an embedded server for several test processes, with a migrated database that they copy, and returns the URL to
// pass to them in TRADEGRID_TEST_DATABASE_URL; stop stops it. A durable server syncs to disk at each commit, as in production;
// others lose data if the machine crashes. If the variable is already set, Serve uses its server.
func Serve(ctx context.Context, durable bool) (address string, stop func() error, err error) {
	if address = os.Getenv(envURL); address != "" {
		return address, func() error { return nil }, nil
	}
	s := &server{}
	stop = func() error { //nolint:contextcheck // ctx may be done when the tests have ended
		ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
		defer cancel()
		return s.stop(ctx)
	}
	if address, err = s.startEmbedded(ctx, durable); err == nil && s.postgres != nil {
		err = s.share(ctx, address, sharedTemplate())
	}
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return address, stop, nil
}

// share creates the template for the processes that use the server at the address.
func (s *server) share(ctx context.Context, address, template string) error {
	if err := s.connect(ctx, address); err != nil {
		return err
	}
	return s.createMigrated(ctx, template)
}
