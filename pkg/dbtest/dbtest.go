// Package dbtest gives tests a real database with the current schema, and a real broker with the topics.
// Each test process has one embedded server of its own, PostgreSQL unless CockroachDB is asked for, started at the first need; tests keep
// apart from each other by using companies of their own, or take a database for themselves.
//
// A test package that uses it has
//
//	func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }
//
// Environment:
//   - TRADEGRID_TEST_DATABASE: postgres (the default) or cockroach, the server to embed; the latter needs CockroachDB's
//     program on PATH, or named in TRADEGRID_COCKROACH.
//   - TRADEGRID_TEST_DATABASE_URL: use this server, PostgreSQL or CockroachDB, in place of an embedded one;
//     databases of the tests' own are made on it and dropped.
//   - TRADEGRID_TEST_KAFKA_BROKERS: use this cluster, as a list with commas, in place of a broker in the process;
//     all that it holds is deleted.
//   - TRADEGRID_TEST_CHAOS: probability (0..1) with which each point of a transaction fails.
//   - TRADEGRID_SQL_LOG: file that gets the text of every statement, one JSON string per line.
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

	"github.com/tradegrid/tradegrid/pkg/db"
)

const (
	envURL   = "TRADEGRID_TEST_DATABASE_URL"
	envKafka = "TRADEGRID_TEST_KAFKA_BROKERS"
	envChaos = "TRADEGRID_TEST_CHAOS"
	envLog   = "TRADEGRID_SQL_LOG"
)

// setUpTimeout bounds starting a server and migrating it. Schema changes on CockroachDB take their time.
const setUpTimeout = 5 * time.Minute

// sharedMaxConns is the size of the pool that all tests of a process share.
const sharedMaxConns = 20

// process is what the tests of one process share.
type process struct {
	mu      sync.Mutex
	inMain  bool
	server  *server
	err     error // why there is no server; not tried again
	shared  *db.DB
	started bool
}

var current process //nolint:gochecknoglobals // tests of one process share one server

// Main runs the tests and then stops what they started. It returns the exit code.
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

// Open gives the pool that all tests of the process share, on a database with the current schema.
// Tests isolate themselves by companies of their own. The pool is closed by [Main].
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

// URL is the address of the database that [Open] gives.
func URL(t testing.TB) string {
	t.Helper()
	current.mu.Lock()
	defer current.mu.Unlock()
	s := current.need(t)
	return s.url(s.shared)
}

// NewDatabase makes a database with the current schema for one test and gives its address.
// It is dropped at the end of the test.
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

// OpenNew is a pool on a database that the test has for itself; see [NewDatabase].
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

// Chaotic reports whether the transactions of the pools that this package opens fail at random.
func Chaotic() bool { return os.Getenv(envChaos) != "" }

// chaoticChecks is how many cases a property test makes up where each of its transactions is run several times.
const chaoticChecks = "20"

// calmRapid gives property tests fewer cases under injected faults. The flag of the command line goes before.
func calmRapid() {
	if f := flag.Lookup("rapid.checks"); f != nil && Chaotic() {
		if err := f.Value.Set(chaoticChecks); err != nil {
			panic(err)
		}
	}
}

// chaoticTries leaves a transaction its last tries: what happens without them has tests of its own, with pools of their
// own, and every other test would fail by chance.
const chaoticTries = 9

func chaos(t testing.TB) db.Injector {
	t.Helper()
	text := os.Getenv(envChaos)
	if text == "" {
		return nil
	}
	p, err := strconv.ParseFloat(text, 64)
	require.NoErrorf(t, err, "%s is a number from 0 to 1", envChaos)
	require.Truef(t, p >= 0 && p <= 1, "%s is a number from 0 to 1, not %s", envChaos, text)
	return db.Chaos{Probability: p, Tries: chaoticTries}
}

// need starts the server at the first call. The caller holds the lock.
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
