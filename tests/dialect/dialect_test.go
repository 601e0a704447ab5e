package dialect

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const (
	root       = "../.."
	migrations = root + "/schemas/sql"
)

func isPostgres(name string) bool  { return strings.HasSuffix(name, ".pg.sql") }
func isCockroach(name string) bool { return strings.HasSuffix(name, ".crdb.sql") }
func isCommon(name string) bool    { return !isPostgres(name) && !isCockroach(name) }

func load(t *testing.T, match func(string) bool) []Statement {
	t.Helper()
	stmts, err := Migrations(migrations, match)
	require.NoError(t, err)
	require.NotEmpty(t, stmts)
	return stmts
}

func schemaOf(t *testing.T) Schema {
	t.Helper()
	s, err := ReadSchema(load(t, isCommon))
	require.NoError(t, err)
	return s
}

func sources(t *testing.T) []Statement {
	t.Helper()
	stmts, err := SourceStatements(root, false)
	require.NoError(t, err)
	require.NotEmpty(t, stmts)
	return stmts
}

// refuse reports all hits of a statement.
func refuse(t *testing.T, st Statement, hits []Hit) {
	t.Helper()
	for _, hit := range hits {
		t.Errorf("%s: %s\n\t%s", st.Origin, hit, bare(st.SQL))
	}
}

func TestCommonMigrationsRunOnBoth(t *testing.T) {
	t.Parallel()
	for _, st := range load(t, isCommon) {
		refuse(t, st, Check(st, Schema{}))
	}
}

// The schema is read by people: above each table stands what a row is.
func TestEachTableSaysWhatARowIs(t *testing.T) {
	t.Parallel()
	for _, st := range load(t, isCommon) {
		if at := strings.Index(st.SQL, "CREATE TABLE"); at >= 0 {
			require.Regexp(t, `(^|\n)-- [^-\n][^\n]*\n$`, st.SQL[:at], "%s: write what a row is right above the table", st.Origin)
		}
	}
}

func TestCockroachOverlaysParse(t *testing.T) {
	t.Parallel()
	for _, st := range load(t, isCockroach) {
		if _, err := Parse(st.SQL); err != nil {
			t.Errorf("%s: %v\n\t%s", st.Origin, err, bare(st.SQL))
		}
	}
}

// What gives rows their regions is put together by package migrate; its test keeps a sample of it.
func TestRegionStatementsParse(t *testing.T) {
	t.Parallel()
	stmts, err := Migrations(root+"/pkg/store/migrate/testdata", isCockroach)
	require.NoError(t, err)
	require.NotEmpty(t, stmts)
	for _, st := range stmts {
		if _, err := Parse(st.SQL); err != nil {
			t.Errorf("%s: %v\n\t%s", st.Origin, err, bare(st.SQL))
		}
	}
}

var (
	expired  = regexp.MustCompile(`^DELETE FROM (\w+) WHERE .* IN \( ?SELECT .* LIMIT 1000\)$`)
	lifetime = regexp.MustCompile(`^ALTER TABLE (\w+) SET \(ttl_expiration_expression`)
)

// What the cleanup on PostgreSQL deletes, CockroachDB deletes by row-level TTL: no table is forgotten on either.
func TestBothForgetTheSameTables(t *testing.T) {
	t.Parallel()
	var byJob, byTTL []string
	for _, st := range sources(t) {
		if m := expired.FindStringSubmatch(bare(st.SQL)); m != nil {
			byJob = append(byJob, m[1])
		}
	}
	for _, st := range load(t, isCockroach) {
		if m := lifetime.FindStringSubmatch(bare(st.SQL)); m != nil {
			byTTL = append(byTTL, m[1])
		}
	}
	require.NotEmpty(t, byJob)
	require.ElementsMatch(t, byJob, byTTL)
}

func TestSourceRunsOnBoth(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t)
	parts := 0
	for _, st := range sources(t) {
		refuse(t, st, Check(st, schema))
		if !st.Complete {
			parts++
			t.Logf("put together at run time, checked as a whole only in the SQL log: %s: %s", st.Origin, bare(st.SQL))
			continue
		}
		refuse(t, st, CheckTenant(st, schema))
	}
	t.Logf("%d parts", parts)
}

// logged returns the statements that the tests of the packages sent.
func logged(t *testing.T) []Statement {
	t.Helper()
	path := os.Getenv("TRADEGRID_SQL_LOG")
	if path == "" {
		needed(t, "TRADEGRID_SQL_LOG names the file that the tests of the packages wrote")
	}
	stmts, err := LoggedStatements(path)
	require.NoError(t, err)
	return stmts
}

func TestLoggedStatementsRunOnBoth(t *testing.T) {
	t.Parallel()
	stmts := logged(t)
	schema := schemaOf(t)
	own, err := SourceStatements(root, true)
	require.NoError(t, err)
	ofTests := map[string]bool{}
	for _, st := range own {
		ofTests[st.SQL] = true
	}
	for _, st := range stmts {
		if ofTests[st.SQL] {
			continue // what tests look at is free, as long as it runs
		}
		refuse(t, st, append(Check(st, schema), CheckTenant(st, schema)...))
	}
	t.Logf("%d statements", len(stmts))
}

// needed ends a test that lacks its input: with -short it is left out, else that is a failure.
func needed(t *testing.T, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: " + what)
	}
	t.Fatal("missing: " + what + "; -short leaves this test out")
}

// TestSourcePrepares lets the database resolve every complete statement against the migrated schema.
func TestSourcePrepares(t *testing.T) {
	t.Parallel()
	address := os.Getenv("TRADEGRID_TEST_DATABASE_URL")
	if address == "" {
		needed(t, "TRADEGRID_TEST_DATABASE_URL is the address of a server where a database may be made")
	}
	conn := migrated(t, address)
	onCockroach := isCockroachDB(t, conn)
	for i, st := range sources(t) {
		postgres, cockroach := Product(st)
		if !st.Complete || (onCockroach && !cockroach) || (!onCockroach && !postgres) {
			continue
		}
		if _, err := conn.Prepare(t.Context(), fmt.Sprintf("s%d", i), st.SQL); err != nil {
			t.Errorf("%s: %v\n\t%s", st.Origin, err, bare(st.SQL))
		}
	}
}

// migrated is a connection to a new database with the schema of its product.
func migrated(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	cockroach := isCockroachDB(t, admin)
	leftOut, drop := isCockroach, " WITH (FORCE)"
	if cockroach {
		leftOut, drop = isPostgres, " CASCADE"
	}
	name := "tradegrid_dialect_" + strings.ToLower(rand.Text()[:8])
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec(context.Background(), "DROP DATABASE "+name+drop)
		require.NoError(t, err)
		require.NoError(t, admin.Close(context.Background()))
	})
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Path = "/" + name
	conn, err := pgx.Connect(t.Context(), u.String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	if cockroach {
		// Newer releases lock the schema of new tables; older ones do not know the setting.
		_, _ = conn.Exec(t.Context(), "SET create_table_with_schema_locked = off")
	}
	// The tables of the migrations themselves are made by package migrate.
	own := []Statement{
		{SQL: "CREATE TABLE schema_steps (version TEXT NOT NULL, step INT4 NOT NULL, checksum TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL, PRIMARY KEY (version, step))"},
		{SQL: "CREATE TABLE schema_progress (version TEXT NOT NULL, step INT4 NOT NULL, checksum TEXT NOT NULL, last_key TEXT[] NOT NULL, rows_seen BIGINT NOT NULL, updated_at TIMESTAMPTZ NOT NULL, PRIMARY KEY (version, step, checksum))"},
		{SQL: "CREATE TABLE schema_lock (id INT4 PRIMARY KEY, owner TEXT NOT NULL, epoch BIGINT NOT NULL, expires_at TIMESTAMPTZ NOT NULL)"},
	}
	for _, st := range append(own, load(t, func(name string) bool { return !leftOut(name) })...) {
		_, err := conn.Exec(t.Context(), st.SQL)
		require.NoErrorf(t, err, "%s: %s", st.Origin, st.SQL)
	}
	return conn
}
