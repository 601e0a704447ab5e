package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/dbtest"
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
	require.Empty(t, out)

	forgetStep(t, url)
	code, out, errs = migrate("--database-url="+url, "--check")
	require.Equal(t, exitPending, code, errs)
	require.Regexp(t, `^STEP +DOES.*\n004_limits.sql, step 1 +create a table +\w+ +- +- +not blocked\n$`, out, "it lists what is pending")
	require.Contains(t, errs, "pending steps: 1")

	code, out, errs = migrate("--database-url="+url, "--plan")
	require.Zero(t, code, errs)
	require.Contains(t, out, "004_limits.sql, step 1")

	code, out, errs = migrate("--database-url="+url, "--check", "--plan")
	require.Equal(t, exitPending, code, "--check decides the exit code: %s", errs)
	require.Contains(t, out, "004_limits.sql, step 1")

	code, _, errs = migrate("--database-url=postgres://localhost:1/x?sslmode=disable", "--check")
	require.Equal(t, 1, code, "no answer is not the answer that steps are pending: %s", errs)
	code, _, errs = migrate("--check")
	require.Equal(t, 2, code, "no database is named: %s", errs)

	code, _, errs = migrate("--database-url=" + url)
	require.Zero(t, code, errs)
	code, _, errs = migrate("--database-url="+url, "--check")
	require.Zero(t, code, "migrate has applied it: %s", errs)
}

// forgetStep makes the first step of 004 look as if it had never been applied; steps can be repeated.
func forgetStep(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `DELETE FROM schema_steps WHERE version = '004' AND step = 1`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

// The schema is not contracted under a process that needs what would be removed, unless that is wanted.
func TestContractWaitsForEarlierReleases(t *testing.T) {
	t.Parallel()
	url := dbtest.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	exec := func(sql string) {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	command := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = run(append(args, "--database-url="+url), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	pending := func() bool {
		var applied int
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM schema_steps WHERE version = '193.contract'`).Scan(&applied))
		return applied == 0
	}
	forget := func() { exec(`DELETE FROM schema_steps WHERE version = '193.contract'`) }
	announce := func(role, contracts string) {
		exec(`INSERT INTO processes (id, node, role, release, contracts, started_at, expires_at)
VALUES (gen_random_uuid(), 'web-1-77', '` + role + `', '0.9', '{` + contracts + `}', now(), now() + INTERVAL '1 minute')`)
	}
	announce("api", "")
	announce("console", "193.contract,196.contract")

	code, out, errs := command("admin", "processes")
	require.Zero(t, code, errs)
	require.Regexp(t, `(?m)^api +web-1-77 +0\.9 +20`, out)

	code, _, errs = command("migrate", "--contract")
	require.Zero(t, code, "nothing is pending: %s", errs)
	forget()
	code, _, errs = command("migrate", "--contract")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "api on web-1-77 (release 0.9); stop")
	require.NotContains(t, errs, "console")
	require.True(t, pending())
	code, out, errs = command("migrate", "--contract", "--plan")
	require.Zero(t, code, errs)
	require.Contains(t, out, "193_")
	code, _, errs = command("migrate")
	require.Zero(t, code, errs)
	require.True(t, pending())
	code, _, errs = command("migrate", "--force")
	require.Equal(t, 2, code, errs)
	require.Contains(t, errs, "--contract")

	code, _, errs = command("migrate", "--contract", "--force")
	require.Zero(t, code, errs)
	require.False(t, pending())
	forget()
	exec(`DELETE FROM processes WHERE role = 'api'`)
	code, _, errs = command("migrate", "--contract")
	require.Zero(t, code, errs)
	require.False(t, pending())
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
