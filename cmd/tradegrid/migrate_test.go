package main

import (
	"bytes"
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
	require.Equal(t, "004_limits.sql, step 1\n", out, "it lists what is pending")
	require.Contains(t, errs, "pending steps: 1")

	code, out, errs = migrate("--database-url="+url, "--dry-run")
	require.Zero(t, code, errs)
	require.Equal(t, "004_limits.sql, step 1\n", out)

	code, out, errs = migrate("--database-url="+url, "--check", "--dry-run")
	require.Equal(t, exitPending, code, "--check decides the exit code: %s", errs)
	require.Equal(t, "004_limits.sql, step 1\n", out)

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
