// Package db is the access to the database, CockroachDB or PostgreSQL, with one code base.
// It opens connection pools, runs transactions and retries them as a whole when the database asks for it,
// resolves commits whose outcome is unknown, and sends the writes of a transaction in one round trip.
// The SQL itself is in the services, beside the functions that use it.
//
// Start with [DB.RunTx], which runs a change, and [Table], which makes the statements of one. Reads outside of a change go through
// the [DB] itself: [DB.Query], several on one snapshot through [DB.SendBatch] or [DB.ReadSnapshot]. README.md tells how a transaction
// is written, what is tried again, what is refused, and how tests make it fail.
package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
)

// Dialect is the database product behind the connection.
type Dialect string

// Every statement works on both.
const (
	PostgreSQL  Dialect = "postgresql"
	CockroachDB Dialect = "cockroachdb"
)

// Config says how to connect to the database, and its limits.
type Config struct {
	URL              string        // postgres:// URL, with TLS options if any
	URLFile          string        // file that holds the URL, instead of URL; read again for each connection
	PasswordFile     string        // file that holds the password, instead of one in the URL; read again for each connection
	MaxConns         int32         // pool size; about 4 per database core, summed over all processes
	StatementTimeout time.Duration // of one statement, enforced by the server
	SavepointRetry   bool          // on CockroachDB: retry with cockroach-go's savepoint protocol
	Tracer           trace.TracerProvider
	QueryTracer      pgx.QueryTracer    // replaces the OpenTelemetry tracer, in tests; see [TableAccessOf]
	Inject           failpoint.Injector // makes transactions fail in tests; nil in production
	Now              func() time.Time   // clock behind [DB.Now] and [Tx.Now]; time.Now if nil
	Log              *slog.Logger
}

// lockTimeout is the longest wait for a lock.
const lockTimeout = 10 * time.Second

// Querier runs statements that change no table immediately: a [*DB] outside a transaction, or a [*Tx]. A [Write] has methods of
// its own.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// DB is a pool of connections to one database.
type DB struct {
	pool     *pgxpool.Pool
	shares   *shares // of the pool; shared by the handles of [DB.WithClock]
	dialect  Dialect
	cfg      Config
	log      *slog.Logger
	locks    *keyedMutex // see [Tx.LockInProcess]
	listener *atomic.Pointer[func(key int32)]
	writeLog *WriteLog // shared by the handles of [DB.WithClock]
	creates  *groupcommit.Group[create]
}

// Open connects to the database and detects its dialect.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	url, err := cfg.url()
	if err != nil {
		return nil, err
	}
	pc, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Flag(), withoutURL(err))
	}
	pc.BeforeConnect = cfg.renew
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	pc.ConnConfig.RuntimeParams["application_name"] = "tradegrid"
	dialect, lz4, err := detectServer(ctx, pc)
	if err != nil {
		return nil, &notConnected{fmt.Errorf("%s: %w", cfg.Flag(), err)}
	}
	configurePool(pc, cfg, dialect)
	if lz4 {
		// Values of rows above 2 KB, which are mostly compressed already, or JSON: it takes less than half the time of the default.
		pc.ConnConfig.RuntimeParams["default_toast_compression"] = "lz4"
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open database pool: %w", err)
	}
	d := &DB{
		pool: pool, shares: newShares(pool.Config().MaxConns), dialect: dialect, cfg: cfg, log: cfg.Log, locks: &keyedMutex{},
		listener: &atomic.Pointer[func(key int32)]{}, writeLog: &WriteLog{},
	}
	d.creates = d.newCreates(0)
	return d, nil
}

// isolationOfStatements applies outside [DB.RunTx]: reads of one statement or one batch, on one snapshot. PostgreSQL may
// abort serializable reads because of concurrent writes, and nothing retries these; CockroachDB retries them itself.
var isolationOfStatements = map[Dialect]string{
	PostgreSQL:  "repeatable read",
	CockroachDB: "serializable",
}

func configurePool(pc *pgxpool.Config, cfg Config, dialect Dialect) {
	if cfg.MaxConns > 0 {
		pc.MaxConns = cfg.MaxConns
	}
	// Connections reach new or restarted nodes only if they are replaced from time to time.
	pc.MaxConnLifetime, pc.MaxConnLifetimeJitter = 15*time.Minute, 5*time.Minute
	params := pc.ConnConfig.RuntimeParams
	params["default_transaction_isolation"] = isolationOfStatements[dialect]
	params["idle_in_transaction_session_timeout"] = "60000"
	params["statement_timeout"] = fmt.Sprint(cmp.Or(cfg.StatementTimeout, 30*time.Second).Milliseconds())
	params["lock_timeout"] = fmt.Sprint(lockTimeout.Milliseconds())
	if dialect == PostgreSQL {
		// A table that was empty at its last VACUUM counts as empty until the next one, and cached plans that scan it whole
		// remain while it grows. Every statement has an index to use, so none gains by such a plan.
		params["enable_seqscan"] = "off"
		// The cost that this setting adds where nothing but a scan is possible would start the JIT compiler.
		params["jit"] = "off"
		// Statements are written so that any values have the same plan; those of lists, which are not, are planned for theirs (see [Plan]).
		// The server's own choice plans each statement five times on each connection, and for ever those that unnest arrays
		// (BenchmarkCost: a sixth of the database's processor at a low rate).
		params["plan_cache_mode"] = "force_generic_plan"
		// One request takes one processor of the database; others belong to other companies.
		params["max_parallel_workers_per_gather"] = "0"
	}
	dial := pc.ConnConfig.DialFunc
	pc.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		return waitingConn{c}, err
	}
	m := newMeasure(dialect)
	switch {
	case cfg.QueryTracer != nil:
		pc.ConnConfig.Tracer = cfg.QueryTracer
	case cfg.Tracer != nil:
		pc.ConnConfig.Tracer = m.with(cfg.Tracer)
	default:
		pc.ConnConfig.Tracer = m
	}
	pc.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		registerUUID(c.TypeMap())
		return nil
	}
}

const sqlHasLZ4 = `SELECT EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals))`

// detectServer tells the product, and whether it is a PostgreSQL that was built with LZ4. It uses a separate connection, because the
// settings of the pool depend on it.
func detectServer(ctx context.Context, pc *pgxpool.Config) (product Dialect, lz4 bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	to := pc.ConnConfig.Copy()
	if err := pc.BeforeConnect(ctx, to); err != nil {
		return "", false, err
	}
	conn, err := pgx.ConnectConfig(ctx, to)
	if err != nil {
		return "", false, fmt.Errorf("connect to the database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var version string
	if err := conn.QueryRow(ctx, `SELECT version()`).Scan(&version); err != nil {
		return "", false, fmt.Errorf("read the database version: %w", err)
	}
	if strings.Contains(version, "CockroachDB") {
		return CockroachDB, false, nil
	}
	if err := conn.QueryRow(ctx, sqlHasLZ4).Scan(&lz4); err != nil {
		return "", false, fmt.Errorf("read how the database compresses: %w", err)
	}
	return PostgreSQL, lz4, nil
}

// Listen makes d call fn with the keys of [Tx.Signal] after each transaction, committed or not. fn must not wait.
func (d *DB) Listen(fn func(key int32)) { d.listener.Store(&fn) }

// Dialect is the detected database product.
func (d *DB) Dialect() Dialect { return d.dialect }

// WithClock returns a handle on the same pool whose [DB.Now] and [Tx.Now] read another clock: for tests, and for demo data of
// the past. A relay that runs already finds messages with an earlier time only by its next scan of whole buckets.
func (d *DB) WithClock(now func() time.Time) *DB {
	c := *d
	c.cfg.Now = now
	return &c
}

// Now is the current time in UTC, as precise as the database stores it (microseconds).
// Inside a transaction use [Tx.Now].
func (d *DB) Now() time.Time { return d.cfg.Now().UTC().Truncate(time.Microsecond) }

// Pool is the underlying pool, for single-statement reads and statistics.
func (d *DB) Pool() *pgxpool.Pool { return d.pool }

// Close closes all connections.
func (d *DB) Close() { d.pool.Close() }

// ErrStale is the error of a conditional write to a record that was changed concurrently. [DB.RunTx] retries.
var ErrStale = errors.New("the record was changed concurrently")

// IsNoRows reports whether a query for one row found none.
func IsNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// RowTo scans a row into a record; targets returns the scan destinations in column order.
func RowTo[T any](targets func(*T) []any) pgx.RowToFunc[T] {
	return func(row pgx.CollectableRow) (v T, err error) {
		err = row.Scan(targets(&v)...)
		return v, err
	}
}

// Collect reads all rows of a query, each by scan; the slice is never nil, so that its JSON is []. what names the read in errors, such
// as "select categories".
func Collect[T any](ctx context.Context, q Querier, what string, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	all, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return all, nil
}

// Map reads rows of two columns, a key and its value, into a map. what names the read in errors, as for [Collect].
func Map[K comparable, V any](ctx context.Context, q Querier, what, sql string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	_, err := Collect(ctx, q, what, func(row pgx.CollectableRow) (struct{}, error) {
		var key K
		var value V
		err := row.Scan(&key, &value)
		all[key] = value
		return struct{}{}, err
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}
