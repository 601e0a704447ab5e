package migrate

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

// release is a set of migrations to which a test adds the next one.
var release = map[string]string{
	"001_orders.sql": "CREATE TABLE orders (company_id UUID NOT NULL, id INT8 NOT NULL, total INT8 NOT NULL, CONSTRAINT orders_pkey PRIMARY KEY (company_id, id));",
}

const sqlInsertOrder = `INSERT INTO orders (company_id, id, total) VALUES (gen_random_uuid(), 1, 7)`

// live returns a database with some orders in it, on the first release.
func live(t *testing.T, orders int) *pgxpool.Pool {
	t.Helper()
	pool := database(t)
	_, err := Up(t.Context(), pool, files(release), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO orders (company_id, id, total) SELECT gen_random_uuid(), n, n FROM generate_series(1, $1) AS n`, orders)
	require.NoError(t, err)
	return pool
}

// next is the release after with one more file.
func next(src string) map[string]string {
	all := maps.Clone(release)
	all["002_next.sql"] = src
	return all
}

// migrating applies the next release in the background.
func migrating(ctx context.Context, pool *pgxpool.Pool, src string) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := Up(ctx, pool, files(next(src)), db.PostgreSQL, Expand, nil)
		done <- err
	}()
	return done
}

// begun opens a transaction and runs a statement in it.
func begun(t *testing.T, pool *pgxpool.Pool, stmt string) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), stmt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

func truth(t *testing.T, pool *pgxpool.Pool, query string, args ...any) (yes bool) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), query, args...).Scan(&yes))
	return yes
}

func eventually(t *testing.T, pool *pgxpool.Pool, query string) {
	t.Helper()
	require.Eventually(t, func() bool { return truth(t, pool, query) }, time.Minute, 5*time.Millisecond, query)
}

// order writes an order as a request does, which gives up after a while.
func order(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "SET LOCAL lock_timeout = '10s'"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), sqlInsertOrder)
		return err
	}), "an order is taken")
}

const (
	building = `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE%INDEX CONCURRENTLY%' AND wait_event_type = 'Lock')`
	isValid  = `SELECT EXISTS (SELECT 1 FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relname = 'orders_total_idx' AND i.indisvalid)`
	isBroken = `SELECT EXISTS (SELECT 1 FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relname = 'orders_total_idx' AND NOT i.indisvalid)`

	addIndex = "CREATE INDEX IF NOT EXISTS orders_total_idx ON orders (company_id, total);"
)

func TestIndexesAreBuiltBesideWriters(t *testing.T) {
	t.Parallel()
	pool := live(t, 10)
	open := begun(t, pool, sqlInsertOrder)
	done := migrating(t.Context(), pool, addIndex)
	eventually(t, pool, building)
	order(t, pool) // while the build waits for the open transaction
	require.NoError(t, open.Commit(t.Context()))
	require.NoError(t, <-done)
	require.True(t, truth(t, pool, isValid))
}

// A build that is interrupted leaves an index that is maintained and never used. The next run builds it anew.
func TestInterruptedIndexIsBuiltAnew(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(t *testing.T, pool *pgxpool.Pool, cancel func()){
		"stopped": func(_ *testing.T, _ *pgxpool.Pool, cancel func()) { cancel() },
		"connection lost": func(t *testing.T, pool *pgxpool.Pool, _ func()) {
			require.True(t, truth(t, pool, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE%INDEX CONCURRENTLY%'`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := live(t, 10)
			open := begun(t, pool, sqlInsertOrder)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := migrating(ctx, pool, addIndex)
			eventually(t, pool, building)
			interrupt(t, pool, cancel)
			require.Error(t, <-done)
			eventually(t, pool, isBroken)
			require.NoError(t, open.Commit(t.Context()))
			require.NoError(t, <-migrating(t.Context(), pool, addIndex))
			require.True(t, truth(t, pool, isValid))
		})
	}
}

// A unique index that cannot be built is not left behind, where it would refuse writes.
func TestImpossibleUniqueIndexIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	pool := live(t, 0)
	order(t, pool)
	order(t, pool)
	err := <-migrating(t.Context(), pool, "CREATE UNIQUE INDEX IF NOT EXISTS orders_total_idx ON orders (total);")
	require.ErrorContains(t, err, "002_next.sql, step 1")
	require.ErrorContains(t, err, "could not create unique index")
	require.False(t, truth(t, pool, isBroken))
	order(t, pool)
}

// A change of a table waits for readers; writers do not wait behind it for longer than its own limit.
func TestChangeOfTableGivesWayToWriters(t *testing.T) {
	t.Parallel()
	pool := live(t, 10)
	open := begun(t, pool, `SELECT count(*) FROM orders`)
	done := migrating(t.Context(), pool, "ALTER TABLE orders ADD COLUMN IF NOT EXISTS note TEXT;")
	eventually(t, pool, `SELECT EXISTS (SELECT 1 FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid WHERE a.datname = current_database() AND l.mode = 'AccessExclusiveLock' AND NOT l.granted)`)
	order(t, pool)
	require.NoError(t, open.Commit(t.Context()))
	require.NoError(t, <-done)
}

const (
	addColumn = "ALTER TABLE orders ADD COLUMN IF NOT EXISTS doubled INT8;\n"
	setColumn = "-- Twice the total.\n-- batches\n" +
		"UPDATE orders AS o SET doubled = COALESCE(o.doubled, 0) + 2 * o.total WHERE o.total > 0 OR o.total < 0;"
	addDoubled = addColumn + setColumn
	batches    = `SELECT count(DISTINCT xmin::TEXT) FROM orders`
)

func count(t *testing.T, pool *pgxpool.Pool, query string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), query).Scan(&n))
	return n
}

func TestBackfillRunsInBatches(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, batchRows - 1, batchRows, batchRows + 1, 3*batchRows + 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			pool := live(t, n)
			require.NoError(t, <-migrating(t.Context(), pool, addDoubled))
			require.Zero(t, count(t, pool, `SELECT count(*) FROM orders WHERE doubled IS DISTINCT FROM 2 * total`))
			require.Equal(t, (n+batchRows-1)/batchRows, count(t, pool, batches))
			require.Zero(t, count(t, pool, `SELECT count(*) FROM schema_progress`))
		})
	}
}

// A stopped backfill goes on behind its last batch, and a row is changed once.
func TestBackfillGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	pool := live(t, 4*batchRows)
	_, err := pool.Exec(t.Context(), addColumn)
	require.NoError(t, err)
	var company string
	require.NoError(t, pool.QueryRow(t.Context(), fmt.Sprintf(`SELECT company_id::TEXT FROM orders ORDER BY company_id, id OFFSET %d LIMIT 1`, 2*batchRows)).Scan(&company))
	open := begun(t, pool, `UPDATE orders SET total = total WHERE company_id = '`+company+`'`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := migrating(ctx, pool, setColumn)
	eventually(t, pool, `SELECT to_regclass('schema_progress') IS NOT NULL`)
	eventually(t, pool, fmt.Sprintf(`SELECT EXISTS (SELECT 1 FROM schema_progress WHERE rows_seen = %d)`, 2*batchRows))
	order(t, pool) // beside the batch that waits; the release before knows nothing of the column
	cancel()
	require.Error(t, <-done)
	require.NoError(t, open.Commit(t.Context()))
	require.Equal(t, 2*batchRows, count(t, pool, `SELECT count(*) FROM orders WHERE doubled IS NOT NULL`))

	require.NoError(t, <-migrating(t.Context(), pool, setColumn))
	require.Zero(t, count(t, pool, `SELECT count(*) FROM orders WHERE doubled IS DISTINCT FROM 2 * total AND NOT (id = 1 AND total = 7)`))
}

func TestOnlyPlainUpdatesRunInBatches(t *testing.T) {
	t.Parallel()
	for _, stmt := range []string{
		"DELETE FROM orders WHERE total = 0;", "UPDATE orders SET total = 0;", "INSERT INTO orders (id) SELECT id FROM others WHERE id > 0;",
		"UPDATE orders SET total = (SELECT 1 WHERE true);",
	} {
		_, err := Load(files(next("-- batches\n"+stmt)), db.PostgreSQL)
		require.ErrorContains(t, err, "002_next.sql, step 1: only a change of the rows of one table", stmt)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	pool := live(t, 30_000)
	_, err := pool.Exec(t.Context(), `ANALYZE orders`)
	require.NoError(t, err)
	src := addDoubled + "\n" + addIndex + "\nCREATE TABLE notes (id INT8 PRIMARY KEY);\nDROP INDEX IF EXISTS orders_total_idx;\nUPDATE orders SET total = 0 WHERE total = 1;"
	plan, err := Plan(t.Context(), pool, files(next(src)), db.PostgreSQL, Expand)
	require.NoError(t, err)
	type row struct {
		does, table string
		rows        int64
		writers     string
		takes       time.Duration
	}
	var got []row
	for _, p := range plan {
		got = append(got, row{p.Does, p.Table, p.Rows, p.Writers, p.Takes})
	}
	require.Equal(t, []row{
		{"add a column", "orders", 30_000, waitForLock, 0},
		{"change rows in batches", "orders", 30_000, waitForRows, 20 * time.Second},
		{"build an index", "orders", 30_000, notBlocked, 0},
		{"create a table", "notes", -1, notBlocked, 0},
		{"drop an index", "", -1, waitForLock, 0},
		{"change rows", "orders", 30_000, waitForAll, 20 * time.Second},
	}, got)
	plan, err = Plan(t.Context(), pool, files(next(addDoubled)), db.CockroachDB, Expand)
	require.NoError(t, err)
	require.Equal(t, online, plan[0].Writers)
}

// holdsUp are statements of which requests notice more than a short wait on PostgreSQL, each with what to write instead.
var holdsUp = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)^(UPDATE|DELETE)\b`), `an UPDATE with "-- batches" before it`},
	{regexp.MustCompile(`(?i)^INSERT INTO \w+ \([^)]*\) SELECT\b.*\bFROM (companies|branches|orders)\b`), "a column with a default, or a backfill in the code"},
	{regexp.MustCompile(`(?i)^CREATE (UNIQUE )?INDEX\b`), "CREATE INDEX IF NOT EXISTS name ON table …, which is then built concurrently"},
	{regexp.MustCompile(`(?i)^ALTER TABLE\b.*\bADD (CONSTRAINT \w+ )?(CHECK|FOREIGN KEY)\b`), "NOT VALID in the .pg.sql overlay, and VALIDATE CONSTRAINT in a step of its own"},
	{regexp.MustCompile(`(?i)^ALTER TABLE\b.*\bADD (CONSTRAINT \w+ )?(UNIQUE|PRIMARY KEY)\b`), "CREATE UNIQUE INDEX IF NOT EXISTS"},
	{regexp.MustCompile(`(?i)^ALTER TABLE\b.*\bSET NOT NULL\b`), "a CHECK that is added as NOT VALID"},
	{regexp.MustCompile(`(?i)^ALTER TABLE\b.*\bDEFAULT (gen_random_uuid|clock_timestamp|random)\b`), "a default that is the same for all rows"},
}

// holdUp finds the steps of which requests notice more than a short wait.
func holdUp(steps []Step) (found []string) {
	for _, step := range Expand.in(steps) {
		if _, concurrent := parseIndex(step.SQL); concurrent || step.Batches {
			continue
		}
		for _, h := range holdsUp {
			if h.pattern.MatchString(step.SQL) && !strings.Contains(step.SQL, " NOT VALID") {
				found = append(found, fmt.Sprintf("%s holds up requests on a large table: %s\nwrite %s", step, step.SQL, h.instead))
			}
		}
	}
	return found
}

func TestExpandingHoldsUpNobody(t *testing.T) {
	t.Parallel()
	steps, err := Load(sql.Files, db.PostgreSQL)
	require.NoError(t, err)
	require.Empty(t, holdUp(steps))
}

// Each form that would hold up requests is found in the next release, and what is to be written instead is not.
func TestWhatHoldsUpRequestsIsFound(t *testing.T) {
	t.Parallel()
	for bad, instead := range map[string]string{
		"UPDATE orders SET total = 0 WHERE total = 1;":                          "-- batches\nUPDATE orders SET total = 0 WHERE total = 1;",
		"DELETE FROM orders WHERE total = 1;":                                   "-- batches\nUPDATE orders SET total = 0 WHERE total = 1;",
		"INSERT INTO notes (company_id, id) SELECT c.id, c.id FROM companies c": "INSERT INTO notes (company_id, id) SELECT n, n FROM generate_series(0, 9) AS n",
		"CREATE INDEX orders_total_idx ON orders (total);":                      addIndex,
		"ALTER TABLE orders ADD CONSTRAINT total_chk CHECK (total > 0);":        "ALTER TABLE orders ADD CONSTRAINT total_chk CHECK (total > 0) NOT VALID;",
		"ALTER TABLE orders ADD CONSTRAINT total_key UNIQUE (total);":           "CREATE UNIQUE INDEX IF NOT EXISTS total_key ON orders (total);",
		"ALTER TABLE orders ALTER COLUMN total SET NOT NULL;":                   "ALTER TABLE orders ADD CONSTRAINT total_chk CHECK (total IS NOT NULL) NOT VALID;",
		"ALTER TABLE orders ADD COLUMN x UUID DEFAULT gen_random_uuid();":       addColumn,
	} {
		for src, want := range map[string]int{bad: 1, instead: 0} {
			steps, err := Load(files(next(strings.TrimSuffix(src, ";")+";")), db.PostgreSQL)
			require.NoError(t, err)
			require.Len(t, holdUp(steps), want, src)
		}
	}
}
