package dbtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// standIn acts like the program of CockroachDB as far as its start goes; the address it gives is another server's.
const standIn = `#!/bin/sh
case "$1" in
version) echo 'Build Tag:        v25.2.0'; exit 0;;
start-single-node) ;;
*) exit 2;;
esac
for arg in "$@"; do
  case "$arg" in --listening-url-file=*) echo '%s' > "${arg#*=}";; esac
done
echo "$@" > '%s'
while :; do read -r line < '%s'; done
`

// The environment decides what is started, so these run alone.
func TestCockroachIsStartedWhereAskedFor(t *testing.T) {
	address := dbtest.NewDatabase(t)
	dir := t.TempDir()
	program, args, never := filepath.Join(dir, "roach"), filepath.Join(dir, "args"), filepath.Join(dir, "never")
	require.NoError(t, syscall.Mkfifo(never, 0o600))
	require.NoError(t, os.WriteFile(program, fmt.Appendf(nil, standIn, address, args, never), 0o755))
	t.Setenv("TRADEGRID_TEST_DATABASE_URL", "")
	t.Setenv("TRADEGRID_TEST_DATABASE", "cockroach")
	t.Setenv("TRADEGRID_COCKROACH", program)
	got, stop, err := dbtest.Serve(t.Context(), true)
	require.NoError(t, err)
	require.Equal(t, address, got)
	conn, err := pgx.Connect(t.Context(), got)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, stop())
	said, err := os.ReadFile(args)
	require.NoError(t, err)
	require.Contains(t, string(said), "--insecure")
	require.Contains(t, string(said), "--host=localhost", "nobody else reaches it")
	require.Contains(t, string(said), "--store=path=", "a durable one keeps its data on disk")
}

func TestCockroachThatIsMissingIsNamed(t *testing.T) {
	t.Setenv("TRADEGRID_TEST_DATABASE_URL", "")
	t.Setenv("TRADEGRID_TEST_DATABASE", "cockroach")
	t.Setenv("TRADEGRID_COCKROACH", "")
	t.Setenv("PATH", t.TempDir())
	_, _, err := dbtest.Serve(t.Context(), false)
	require.EqualError(t, err, "TRADEGRID_TEST_DATABASE=cockroach requires CockroachDB: put its program cockroach on PATH, or set TRADEGRID_COCKROACH to its path")
	t.Setenv("TRADEGRID_COCKROACH", "/nowhere/cockroach")
	_, _, err = dbtest.Serve(t.Context(), false)
	require.ErrorContains(t, err, "TRADEGRID_COCKROACH must be the path of an executable")
	t.Setenv("TRADEGRID_TEST_DATABASE", "oracle")
	_, _, err = dbtest.Serve(t.Context(), false)
	require.EqualError(t, err, `TRADEGRID_TEST_DATABASE must be postgres or cockroach, not "oracle"`)
}

func TestOnlyLeavesOutOnOtherProducts(t *testing.T) {
	t.Parallel()
	here := dbtest.Dialect(t)
	other := map[db.Dialect]db.Dialect{db.PostgreSQL: db.CockroachDB, db.CockroachDB: db.PostgreSQL}[here]
	dbtest.Only(t, here, "it is this one")
	ran := &leftOut{TB: t}
	dbtest.Only(ran, other, "a reason")
	require.Equal(t, fmt.Sprintf("runs on %s only, this is %s: a reason", other, here), ran.why)
}

// leftOut notes a skip in place of making it.
type leftOut struct {
	testing.TB
	why string
}

func (l *leftOut) Skipf(format string, args ...any) { l.why = fmt.Sprintf(format, args...) }
