// Package dbtest provides tests with a real database with the current schema, and a real broker with the topics.
// Each test process starts one embedded server when it is first needed, PostgreSQL unless CockroachDB is requested. Tests
// isolate themselves by using their own companies, or their own database. PostgreSQL's data is in /dev/shm where that has 4 GiB
// free, else in the folder of temporary files.
//
// A test package that uses it needs
//
//	func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }
//
// Environment:
//   - TRADEGRID_TEST_DATABASE: the server to embed, postgres (the default) or cockroach; the latter requires CockroachDB's
//     program on PATH, or its path in TRADEGRID_COCKROACH.
//   - TRADEGRID_TEST_DATABASE_URL: use this PostgreSQL or CockroachDB server instead of an embedded one;
//     the tests create and drop their own databases on it.
//   - TRADEGRID_TEST_KAFKA_BROKERS: use this cluster, as a comma-separated list, instead of a broker in the process;
//     everything on it is deleted.
//   - TRADEGRID_TEST_CHAOS: probability (0..1) with which each point of a transaction fails.
//   - TRADEGRID_SQL_LOG: file to which the text of every statement is written, one JSON object per line.
package dbtest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const (
	envURL   = "TRADEGRID_TEST_DATABASE_URL"
	envKafka = "TRADEGRID_TEST_KAFKA_BROKERS"
	envChaos = "TRADEGRID_TEST_CHAOS"
	envLog   = "TRADEGRID_SQL_LOG"
)

// setUpTimeout limits starting and migrating a server. Schema changes are slow on CockroachDB.
const setUpTimeout = 5 * time.Minute

// sharedMaxConns is the size of the pool shared by all tests of a process.
const sharedMaxConns = 20

// process is the state shared by the tests of a process.
type process struct {
	mu      sync.Mutex
	inMain  bool
	server  *server
	err     error // why the server could not be started; it is not retried
	shared  *db.DB
	started bool
}

var current process //nolint:gochecknoglobals // tests of one process share one server

// Main runs the tests, stops the servers that they started, and returns the exit code.
func Main(m *testing.M) int {
	calmRapid()
	current.mu.Lock()
	current.inMain = true
	current.mu.Unlock()
	defer func() {
		if err := current.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "dbtest:", err)
		}
	}()
	return m.Run()
}

// Open returns the pool shared by all tests of the process, on a database with the current schema.
// Tests isolate themselves by using their own companies. [Main] closes the pool.
func Open(t testing.TB) *db.DB {
	t.Helper()
	current.mu.Lock()
	defer current.mu.Unlock()
	s := current.need(t)
	if current.shared == nil {
		current.shared = connect(t, s.url(s.shared), sharedMaxConns)
	}
	return current.shared
}

// URL returns the URL of the database of [Open].
func URL(t testing.TB) string {
	t.Helper()
	current.mu.Lock()
	defer current.mu.Unlock()
	s := current.need(t)
	return s.url(s.shared)
}

// NewDatabase creates a database with the current schema for one test and returns its URL.
// The database is dropped at the end of the test.
func NewDatabase(t testing.TB) string {
	t.Helper()
	current.mu.Lock()
	s := current.need(t)
	current.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	name, err := s.create(ctx)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
		defer cancel()
		require.NoError(t, s.drop(ctx, name))
	})
	return s.url(name)
}

// OpenNew returns a pool on a new database for the exclusive use of the test; see [NewDatabase].
func OpenNew(t testing.TB) *db.DB {
	t.Helper()
	url := NewDatabase(t)
	d := connect(t, url, 8)
	t.Cleanup(d.Close)
	return d
}

func connect(t testing.TB, url string, conns int32) *db.DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	cfg := db.Config{URL: url, MaxConns: conns, Inject: chaos(t)}
	log, err := openSQLLog(os.Getenv(envLog))
	require.NoError(t, err)
	if log != nil {
		cfg.QueryTracer = log
	}
	d, err := db.Open(ctx, cfg)
	require.NoError(t, err)
	return d
}

// Chaotic reports whether faults are injected at random into the transactions of this package's pools.
func Chaotic() bool { return os.Getenv(envChaos) != "" }

// chaoticChecks is the number of cases of a property test under injected faults, where each transaction runs several times.
const chaoticChecks = "20"

// calmRapid reduces the number of cases of property tests under injected faults, unless the flag is given.
func calmRapid() {
	if f := flag.Lookup("rapid.checks"); f != nil && Chaotic() {
		if err := f.Value.Set(chaoticChecks); err != nil {
			panic(err)
		}
	}
}

// chaoticTries exempts the last tries of a transaction from faults, because tests would otherwise fail at random. Separate
// tests with their own pools cover transactions whose tries are exhausted.
const chaoticTries = 9

func chaos(t testing.TB) failpoint.Injector {
	t.Helper()
	text := os.Getenv(envChaos)
	if text == "" {
		return nil
	}
	p, err := strconv.ParseFloat(text, 64)
	require.NoErrorf(t, err, "%s must be a number from 0 to 1", envChaos)
	require.Truef(t, p >= 0 && p <= 1, "%s must be a number from 0 to 1, not %s", envChaos, text)
	return db.Chaos(p, chaoticTries)
}

// need starts the server on the first call. The caller holds the lock.
func (p *process) need(t testing.TB) *server {
	t.Helper()
	require.True(t, p.inMain, "this test package needs: func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }")
	if !p.started {
		p.started = true
		ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
		defer cancel()
		p.server, p.err = startServer(ctx, os.Getenv(envURL))
	}
	require.NoError(t, p.err)
	return p.server
}

func (p *process) stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared != nil {
		p.shared.Close()
	}
	if p.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	return p.server.stop(ctx)
}
