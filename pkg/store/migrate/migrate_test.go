package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

var server *embedded.Postgres

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tradegrid-migrate-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server, err = embedded.StartPostgres(context.Background(), embedded.PostgresConfig{Dir: filepath.Join(dir, "postgres"), Fast: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer server.Stop(context.Background())
	return m.Run()
}

var databases atomic.Int64

func database(t *testing.T) *pgxpool.Pool {
	t.Helper()
	name := fmt.Sprintf("migrate%d", databases.Add(1))
	require.NoError(t, server.CreateDatabase(t.Context(), name))
	pool, err := pgxpool.New(t.Context(), server.URL(name))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func files(contents map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, src := range contents {
		m[name] = &fstest.MapFile{Data: []byte(src)}
	}
	return m
}

// sample has steps that are not idempotent, to find out whether any of them runs twice.
var sample = map[string]string{
	"001_base.sql":    "CREATE TABLE runs (n BIGINT NOT NULL);\n-- a comment; with a semicolon\nINSERT INTO runs (n) VALUES (1);",
	"001_base.pg.sql": "INSERT INTO runs (n) VALUES (2);",
	"001_base.crdb.sql": `SELECT crdb_internal.node_id();
`,
	"002_more.sql": "INSERT INTO runs (n) VALUES (3);\nCREATE TABLE texts (a TEXT NOT NULL DEFAULT 'x; -- y');",
}

func ns(t *testing.T, pool *pgxpool.Pool) []int64 {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT n FROM runs ORDER BY n")
	require.NoError(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return got
}

func TestUpAppliesEachStepOnce(t *testing.T) {
	t.Parallel()
	pool := database(t)
	steps, err := Pending(t.Context(), pool, files(sample), db.PostgreSQL, Expand)
	require.NoError(t, err)
	require.Len(t, steps, 5)
	applied, err := Up(t.Context(), pool, files(sample), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	require.Equal(t, 5, applied)
	require.Equal(t, []int64{1, 2, 3}, ns(t, pool))
	applied, err = Up(t.Context(), pool, files(sample), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	require.Zero(t, applied)
	steps, err = Pending(t.Context(), pool, files(sample), db.PostgreSQL, Expand)
	require.NoError(t, err)
	require.Empty(t, steps)
}

func TestSixRunnersAtOnce(t *testing.T) {
	t.Parallel()
	pool := database(t)
	var total atomic.Int64
	g, ctx := errgroup.WithContext(t.Context())
	for range 6 {
		g.Go(func() error {
			own, err := pgxpool.New(ctx, pool.Config().ConnString())
			if err != nil {
				return err
			}
			defer own.Close()
			n, err := Up(ctx, own, files(sample), db.PostgreSQL, Expand, nil)
			total.Add(int64(n))
			return err
		})
	}
	require.NoError(t, g.Wait())
	require.EqualValues(t, 5, total.Load())
	require.Equal(t, []int64{1, 2, 3}, ns(t, pool))
}

func TestUpGoesOnAfterFailure(t *testing.T) {
	t.Parallel()
	pool := database(t)
	broken := map[string]string{"001_base.sql": sample["001_base.sql"], "001_base.pg.sql": "INSERT INTO absent (n) VALUES (2);"}
	applied, err := Up(t.Context(), pool, files(broken), db.PostgreSQL, Expand, nil)
	require.ErrorContains(t, err, "001_base.pg.sql, step 1")
	require.Equal(t, 2, applied)
	// The failed step was never recorded, so it may be mended.
	applied, err = Up(t.Context(), pool, files(sample), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	require.Equal(t, 3, applied)
	require.Equal(t, []int64{1, 2, 3}, ns(t, pool))
}

// TestUpGoesOnAfterDeadHolder takes over from a process that died while it held the lock.
func TestUpGoesOnAfterDeadHolder(t *testing.T) {
	t.Parallel()
	pool := database(t)
	dead := newRunner(pool, nil)
	dead.ttl = 300 * time.Millisecond
	require.NoError(t, dead.bootstrap(t.Context()))
	died, die := context.WithCancel(t.Context())
	_, err := dead.take(died)
	require.NoError(t, err)
	die()
	began := time.Now()
	applied, err := Up(t.Context(), pool, files(sample), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	require.Equal(t, 5, applied)
	require.Less(t, time.Since(began), 5*time.Second)
}

func TestLockIsRenewedAndItsLossEndsTheRun(t *testing.T) {
	t.Parallel()
	pool := database(t)
	r := newRunner(pool, nil)
	r.ttl = 3 * time.Second // renewed every second; a busy machine may pause for longer than the rest of a shorter one
	require.NoError(t, r.bootstrap(t.Context()))
	lock, err := r.take(t.Context())
	require.NoError(t, err)
	for range 2 {
		var before time.Time
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT expires_at FROM schema_lock").Scan(&before))
		require.Eventually(t, func() bool {
			var at time.Time
			err := pool.QueryRow(t.Context(), "SELECT expires_at FROM schema_lock").Scan(&at)
			return err == nil && at.After(before)
		}, time.Minute, 10*time.Millisecond, "renewed again and again")
	}
	other := newRunner(pool, nil)
	other.ttl = r.ttl
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = other.take(short)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, r.owner)
	require.NoError(t, lock.ctx.Err())

	_, err = pool.Exec(t.Context(), "UPDATE schema_lock SET epoch = epoch + 1")
	require.NoError(t, err)
	<-lock.ctx.Done()
	require.ErrorIs(t, context.Cause(lock.ctx), errLockLost)
	require.ErrorIs(t, r.record(t.Context(), Step{Version: "001", Number: 1}, lock.epoch), errLockLost)
	lock.release(t.Context())
}

func TestChangedStepIsRefused(t *testing.T) {
	t.Parallel()
	pool := database(t)
	_, err := Up(t.Context(), pool, files(sample), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	with := func(name, src string) fs.FS {
		changed := map[string]string{}
		for n, s := range sample {
			changed[n] = s
		}
		changed[name] = src
		return files(changed)
	}
	_, err = Up(t.Context(), pool, with("001_base.pg.sql", "INSERT INTO runs (n) VALUES (20);"), db.PostgreSQL, Expand, nil)
	require.ErrorIs(t, err, ErrChanged)
	require.ErrorContains(t, err, "001_base.pg.sql, step 1")
	_, err = Pending(t.Context(), pool, with("002_more.sql", "INSERT INTO runs (n) VALUES (3);"), db.PostgreSQL, Expand)
	require.ErrorIs(t, err, ErrChanged)
	// Layout and comments are free, and so are steps at the end.
	applied, err := Up(t.Context(), pool, with("001_base.pg.sql", "/* two */ INSERT  INTO runs (n)\n VALUES (2) ;\nINSERT INTO runs (n) VALUES (4);"), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	require.Equal(t, 1, applied)
}

func TestStepsOfNewerBinaryAreLeftAlone(t *testing.T) {
	t.Parallel()
	pool := database(t)
	_, err := Up(t.Context(), pool, files(sample), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	older := files(map[string]string{"001_base.sql": sample["001_base.sql"]})
	applied, err := Up(t.Context(), pool, older, db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	require.Zero(t, applied)

	_, err = pool.Exec(t.Context(), "INSERT INTO schema_steps (version, step, checksum, applied_at) VALUES ('003.contract', 1, 'x', now())")
	require.NoError(t, err)
	_, err = Up(t.Context(), pool, older, db.PostgreSQL, Expand, nil)
	require.ErrorIs(t, err, ErrContracted, "a step that takes something away is not left alone")
	require.ErrorIs(t, Usable(t.Context(), pool, older, db.PostgreSQL), ErrContracted)
	newer := maps.Clone(sample)
	newer["003_less.contract.sql"] = "SELECT 1;"
	require.NoError(t, Usable(t.Context(), pool, files(newer), db.PostgreSQL))
}

// A database from before there was a release is left as it is.
func TestDatabaseOfBeforeTheReleaseIsRefused(t *testing.T) {
	t.Parallel()
	pool := database(t)
	require.NoError(t, newRunner(pool, nil).bootstrap(t.Context()))
	_, err := pool.Exec(t.Context(), `INSERT INTO schema_steps (version, step, checksum, applied_at)
VALUES ('001', 1, 'x', now()), ('010', 1, 'y', now()), ('193.contract', 1, 'z', now())`)
	require.NoError(t, err)
	for _, phase := range []Phase{Expand, Contract} {
		_, err = Up(t.Context(), pool, sql.Files, db.PostgreSQL, phase, nil)
		require.ErrorIs(t, err, ErrBeforeRelease)
		_, err = Plan(t.Context(), pool, sql.Files, db.PostgreSQL, phase)
		require.ErrorIs(t, err, ErrBeforeRelease)
	}
	require.ErrorIs(t, Usable(t.Context(), pool, sql.Files, db.PostgreSQL), ErrBeforeRelease)
	require.False(t, truth(t, pool, `SELECT EXISTS (SELECT 1 FROM pg_tables WHERE tablename = 'counters')`))
}

// What older binaries need goes only when it is asked for, and after what is new.
func TestContractComesLastAndOnDemand(t *testing.T) {
	t.Parallel()
	base := map[string]string{"001_base.sql": "CREATE TABLE runs (n BIGINT NOT NULL);"}
	set := files(map[string]string{
		"001_base.sql":             base["001_base.sql"],
		"001_base.contract.sql":    "INSERT INTO runs (n) VALUES (3);",
		"001_base.contract.pg.sql": "INSERT INTO runs (n) VALUES (4);",
		"001_base.contract.crdb.sql": `SELECT crdb_internal.node_id();
`,
		"001_base.pg.sql": "INSERT INTO runs (n) VALUES (2);",
	})
	pool := database(t)
	_, err := Up(t.Context(), pool, files(base), db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	for range 2 {
		_, err := Up(t.Context(), pool, set, db.PostgreSQL, Expand, nil)
		require.NoError(t, err)
		require.Equal(t, []int64{2}, ns(t, pool))
	}
	todo, err := Pending(t.Context(), pool, set, db.PostgreSQL, Expand)
	require.NoError(t, err)
	require.Empty(t, todo)
	todo, err = Pending(t.Context(), pool, set, db.PostgreSQL, Contract)
	require.NoError(t, err)
	require.Len(t, todo, 2)
	applied, err := Up(t.Context(), pool, set, db.PostgreSQL, Contract, nil)
	require.NoError(t, err)
	require.Equal(t, 2, applied)
	require.Equal(t, []int64{2, 3, 4}, ns(t, pool))
	all, err := Load(set, db.PostgreSQL)
	require.NoError(t, err)
	var order []string
	for _, s := range all {
		order = append(order, s.Version)
	}
	require.Equal(t, []string{"001", "001.pg", "001.contract", "001.contract.pg"}, order)
	applied, err = Up(t.Context(), pool, set, db.PostgreSQL, Expand, nil)
	require.NoError(t, err, "an expansion after the contraction finds nothing to do")
	require.Zero(t, applied)
}

// On an empty database, no binaries of an earlier release can run: nothing is left to contract.
func TestEmptyDatabaseIsContractedAtOnce(t *testing.T) {
	t.Parallel()
	set := files(map[string]string{
		"001_base.sql":          "CREATE TABLE runs (n BIGINT NOT NULL DEFAULT 7);",
		"002_next.contract.sql": "ALTER TABLE runs ALTER COLUMN n DROP DEFAULT;",
		"003_next.sql":          "INSERT INTO runs (n) VALUES (1);",
	})
	pool := database(t)
	todo, err := Pending(t.Context(), pool, set, db.PostgreSQL, Expand)
	require.NoError(t, err)
	require.Len(t, todo, 3)
	applied, err := Up(t.Context(), pool, set, db.PostgreSQL, Expand, nil)
	require.NoError(t, err)
	require.Equal(t, 3, applied)
	todo, err = Pending(t.Context(), pool, set, db.PostgreSQL, Contract)
	require.NoError(t, err)
	require.Empty(t, todo)
}

func TestRealMigrationsCanBeRepeated(t *testing.T) {
	t.Parallel()
	pool := database(t)
	applied, err := Up(t.Context(), pool, sql.Files, db.PostgreSQL, Contract, nil)
	require.NoError(t, err)
	require.Positive(t, applied)
	_, err = pool.Exec(t.Context(), "DELETE FROM schema_steps")
	require.NoError(t, err)
	again, err := Up(t.Context(), pool, sql.Files, db.PostgreSQL, Contract, nil)
	require.NoError(t, err, "every step must be idempotent")
	require.Equal(t, applied, again)
	_, err = Load(sql.Files, db.CockroachDB)
	require.NoError(t, err)
}

func TestLoadRefusesBadSets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"name":      {map[string]string{"1_x.sql": ""}, "the name must look like"},
		"number":    {map[string]string{"001_x.sql": "", "001_y.sql": ""}, "have the same number"},
		"taken":     {map[string]string{"001_x.sql": "", "010_y.sql": ""}, "before release 0.1.0 have a migration of this number"},
		"semicolon": {map[string]string{"001_x.sql": "SELECT 1;\nSELECT 2"}, "line 2: the last statement must end with a semicolon"},
		"quote":     {map[string]string{"001_x.sql": "\nSELECT 'a;\n"}, "line 2: unterminated quote"},
		"comment":   {map[string]string{"001_x.sql": "/* a"}, "unterminated comment"},
		"dollar":    {map[string]string{"001_x.sql": "DO $$ BEGIN END $$;"}, "dollar quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(files(tc.files), db.PostgreSQL)
			require.ErrorContains(t, err, tc.want)
		})
	}
	_, err := Load(files(nil), "oracle")
	require.ErrorContains(t, err, "no migrations for dialect")
}

func TestSplit(t *testing.T) {
	t.Parallel()
	got, inBatches, err := split(strings.Join([]string{
		"-- head; of file", "  -- batches ", "CREATE TABLE a (", "  x TEXT DEFAULT 'it''s; -- here', -- note; here", `  "odd;name" INT4`, ");",
		`INSERT INTO a VALUES (E'\';', 'a\'); SELECT 1 ;`, ";",
	}, "\n"))
	require.NoError(t, err)
	require.Equal(t, []string{
		`CREATE TABLE a ( x TEXT DEFAULT 'it''s; -- here', "odd;name" INT4 )`, `INSERT INTO a VALUES (E'\';', 'a\')`, "SELECT 1",
	}, got)
	require.Equal(t, map[int]bool{0: true}, inBatches)
}

func FuzzSplit(f *testing.F) {
	f.Add("SELECT 'a;b'; -- c\nSELECT 2;")
	f.Fuzz(func(t *testing.T, src string) {
		stmts, _, err := split(src)
		if err != nil {
			return
		}
		// Splitting what was split changes nothing.
		again, _, err := split(strings.Join(stmts, ";\n") + ";")
		require.NoError(t, err)
		require.Equal(t, stmts, again)
	})
}
