package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/schemas/sql"
	"github.com/tradegrid/tradegrid/services/roles"
)

// A script tells a schema that is behind from one that is current, and from a database that cannot be asked.
func TestMigrateCheckExitCode(t *testing.T) {
	t.Parallel()
	url := dbtest.NewDatabase(t)
	migrate := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = run(append([]string{"migrate"}, args...), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}

	code, out, errs := migrate("--database-url="+url, "--check")
	require.Zero(t, code, "nothing is pending: %s", errs)
	require.Equal(t, "The schema is that of this release, and nothing is left to contract.\n", out)

	forgetStep(t, url)
	code, out, errs = migrate("--database-url="+url, "--check")
	require.Equal(t, roles.ExitPending, code, errs)
	require.Regexp(t, `^STEP +DOES.*\n003_api.sql, step 1 +create a table +\w+ +- +- +not blocked\n$`, out, "it lists what is pending")
	require.Contains(t, errs, "pending steps: 1")

	code, out, errs = migrate("--database-url="+url, "--plan")
	require.Zero(t, code, errs)
	require.Contains(t, out, "003_api.sql, step 1")

	code, out, errs = migrate("--database-url="+url, "--check", "--plan")
	require.Equal(t, roles.ExitPending, code, "--check decides the exit code: %s", errs)
	require.Contains(t, out, "003_api.sql, step 1")

	code, _, errs = migrate("--database-url=postgres://localhost:1/x?sslmode=disable", "--check")
	require.Equal(t, 1, code, "no answer is not the answer that steps are pending: %s", errs)
	code, _, errs = migrate("--check")
	require.Equal(t, 2, code, "no database is named: %s", errs)

	code, _, errs = migrate("--database-url=" + url)
	require.Zero(t, code, errs)
	code, _, errs = migrate("--database-url="+url, "--check")
	require.Zero(t, code, "migrate has applied it: %s", errs)
}

// forgetStep makes the first step of 003 look as if it had never been applied; steps can be repeated.
func forgetStep(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `DELETE FROM schema_steps WHERE version = '003' AND step = 1`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

// nextFiles are the migrations of the next release: it adds a column with a default, so that binaries of this one can still insert,
// and takes the default away when they are gone.
func nextFiles(t *testing.T) fs.FS {
	t.Helper()
	files := fstest.MapFS{
		"990_next.sql":          {Data: []byte("ALTER TABLE branches ADD COLUMN IF NOT EXISTS rank INT4 NOT NULL DEFAULT 0;")},
		"990_next.contract.sql": {Data: []byte("ALTER TABLE branches ALTER COLUMN rank DROP DEFAULT;")},
	}
	require.NoError(t, fs.WalkDir(sql.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		src, err := fs.ReadFile(sql.Files, name)
		files[name] = &fstest.MapFile{Data: src}
		return err
	}))
	return files
}

// migrateTo runs the command with other migrations than those of this release.
func migrateTo(t *testing.T, address string, files fs.FS, c roles.MigrateCmd) (out string, err error) {
	t.Helper()
	var stdout bytes.Buffer
	c.DatabaseURL = address
	err = c.Migrate(t.Context(), files, slog.New(slog.DiscardHandler), &stdout)
	return stdout.String(), err
}

// emptyDatabase makes a database without any table.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(dbtest.NewDatabase(t))
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), u.String())
	require.NoError(t, err)
	u.Path += "_empty"
	name := pgx.Identifier{u.Path[1:]}.Sanitize()
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), "DROP DATABASE "+name)
		require.NoError(t, errors.Join(err, conn.Close(context.Background())))
	})
	return u.String()
}

// A new installation has no earlier release: it makes the contracting steps at once, and then nothing is left to contract.
func TestNewInstallationLeavesNothingToContract(t *testing.T) {
	t.Parallel()
	files, address := nextFiles(t), emptyDatabase(t)
	plan, err := migrateTo(t, address, files, roles.MigrateCmd{Plan: true})
	require.NoError(t, err)
	require.Contains(t, plan, "990_next.contract.sql, step 1")
	_, err = migrateTo(t, address, files, roles.MigrateCmd{})
	require.NoError(t, err)
	plan, err = migrateTo(t, address, files, roles.MigrateCmd{Plan: true, Contract: true})
	require.NoError(t, err)
	require.Equal(t, "The schema is that of this release, and nothing is left to contract.\n", plan)
}

// The schema is not contracted under a process that needs what would be removed, unless that is wanted.
func TestContractWaitsForEarlierReleases(t *testing.T) {
	t.Parallel()
	url, files := dbtest.NewDatabase(t), nextFiles(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	exec := func(sql string) {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	pending := func() bool {
		var applied int
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM schema_steps WHERE version = '990.contract'`).Scan(&applied))
		return applied == 0
	}
	announce := func(role, contracts string) {
		exec(`INSERT INTO processes (id, node, role, release, contracts, started_at, expires_at)
VALUES (gen_random_uuid(), 'web-1-77', '` + role + `', '0.9', '{` + contracts + `}', now(), now() + INTERVAL '1 minute')`)
	}
	announce("api", "")
	announce("console", "990.contract,991.contract")

	var listed, errs bytes.Buffer
	require.Zero(t, run([]string{"admin", "processes", "--database-url=" + url}, &listed, &errs), &errs)
	require.Regexp(t, `(?m)^api +web-1-77 +0\.9 +20`, listed.String())
	require.Equal(t, 2, run([]string{"migrate", "--force", "--database-url=" + url}, &listed, &errs))
	require.Contains(t, errs.String(), "--contract")

	_, err = migrateTo(t, url, sql.Files, roles.MigrateCmd{Contract: true})
	require.NoError(t, err, "nothing is pending")
	_, err = migrateTo(t, url, files, roles.MigrateCmd{Contract: true})
	require.ErrorContains(t, err, "api on web-1-77 (release 0.9); stop")
	require.NotContains(t, err.Error(), "console")
	require.True(t, pending())
	_, err = migrateTo(t, url, files, roles.MigrateCmd{})
	require.NoError(t, err)
	require.True(t, pending())
	plan, err := migrateTo(t, url, files, roles.MigrateCmd{Plan: true})
	require.NoError(t, err)
	require.Equal(t, "The schema is that of this release. Steps left to contract: 1; --contract --plan lists them.\n", plan)
	plan, err = migrateTo(t, url, files, roles.MigrateCmd{Plan: true, Contract: true})
	require.NoError(t, err)
	require.Contains(t, plan, "990_next.contract.sql, step 1")

	_, err = migrateTo(t, url, files, roles.MigrateCmd{Contract: true, Force: true})
	require.NoError(t, err)
	require.False(t, pending())
	exec(`DELETE FROM schema_steps WHERE version = '990.contract'`)
	exec(`DELETE FROM processes WHERE role = 'api'`)
	_, err = migrateTo(t, url, files, roles.MigrateCmd{Contract: true})
	require.NoError(t, err)
	require.False(t, pending())
}

// A database from before the first release is neither migrated nor served, and the reason says what to do.
func TestDatabaseOfBeforeTheFirstReleaseIsRefused(t *testing.T) {
	t.Parallel()
	url := dbtest.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(t.Context(), `INSERT INTO schema_steps (version, step, checksum, applied_at) VALUES ('010', 1, 'x', now())`)
	require.NoError(t, err)
	for _, args := range [][]string{{"migrate"}, {"migrate", "--plan"}, {"migrate", "--check"}, {"relay", "--ops-listen=127.0.0.1:0", "--kafka-brokers=127.0.0.1:1"}} {
		var stdout, stderr bytes.Buffer
		code := run(append(args, "--database-url="+url), &stdout, &stderr)
		require.Equal(t, 1, code, "%v: %s", args, stderr.String())
		require.Contains(t, stderr.String(), "from before release 0.1.0, the first one, and cannot be upgraded: start with a new, empty database", args)
	}
}

// After a contraction, a release that does not know it neither migrates nor serves: it would misread what is written now.
func TestEarlierReleaseRefusesContractedSchema(t *testing.T) {
	t.Parallel()
	url := dbtest.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(t.Context(), `INSERT INTO schema_steps (version, step, checksum, applied_at) VALUES ('999.contract', 1, 'x', now())`)
	require.NoError(t, err)
	for _, args := range [][]string{{"migrate"}, {"migrate", "--check"}, {"relay", "--ops-listen=127.0.0.1:0", "--kafka-brokers=127.0.0.1:1"}} {
		var stdout, stderr bytes.Buffer
		code := run(append(args, "--database-url="+url), &stdout, &stderr)
		require.Equal(t, 1, code, "%v: %s", args, stderr.String())
		require.Contains(t, stderr.String(), "migration 999.contract has removed what this release may need", args)
	}
}
