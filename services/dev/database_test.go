package dev

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/embedded"
)

// fakeCockroach writes an address, as the real program does once it takes connections, and serves nothing.
const fakeCockroach = `#!/bin/sh
for arg; do
  case $arg in
    --listening-url-file=*) echo 'postgresql://root@127.0.0.1:1/defaultdb?sslmode=disable' > "${arg#*=}" ;;
    --store=*) mkdir -p "${arg#*=}" ;;
  esac
done
trap 'exit 0' TERM INT
while :; do sleep 0.05; done
`

// onPath puts a cockroach on PATH, or takes it away.
func onPath(t *testing.T, there bool) {
	t.Helper()
	dir := t.TempDir()
	if there {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cockroach"), []byte(fakeCockroach), 0o755))
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestDatabaseOfDevIsPicked(t *testing.T) { //nolint:paralleltest // PATH is the process's
	for name, tc := range map[string]struct {
		flag, kept string
		fresh      bool
		onPath     bool
		want, says string
	}{
		"nothing there":                    {flag: "auto", want: "postgres"},
		"cockroach on PATH":                {flag: "auto", onPath: true, want: "cockroach"},
		"kept data go before PATH":         {flag: "auto", kept: "postgres/data", onPath: true, want: "postgres"},
		"kept data that lie elsewhere":     {flag: "auto", kept: "postgres/location", onPath: true, want: "postgres"},
		"fresh forgets what was kept":      {flag: "auto", kept: "postgres/data", fresh: true, onPath: true, want: "cockroach"},
		"kept by cockroach":                {flag: "auto", kept: "cockroach/data", onPath: true, want: "cockroach"},
		"kept by cockroach, which is gone": {flag: "auto", kept: "cockroach/data", says: "no cockroach on PATH"},
		"asked for postgres":               {flag: "postgres", onPath: true, want: "postgres"},
		"asked for cockroach":              {flag: "cockroach", onPath: true, want: "cockroach"},
		"asked for what is not there":      {flag: "cockroach", says: "install CockroachDB"},
		"asked for the other":              {flag: "cockroach", kept: "postgres/data", onPath: true, says: "contains a postgres database"},
		"asked for the other, fresh":       {flag: "cockroach", kept: "postgres/data", fresh: true, onPath: true, want: "cockroach"},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // PATH is the process's
			onPath(t, tc.onPath)
			c := &Cmd{State: t.TempDir(), Database: tc.flag, Fresh: tc.fresh}
			if tc.kept != "" {
				require.NoError(t, os.MkdirAll(filepath.Join(c.State, tc.kept), 0o755))
			}
			kind, program, err := c.pickDatabase()
			if tc.says != "" {
				require.ErrorContains(t, err, tc.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, kind)
			require.Equal(t, tc.onPath, program != "")
		})
	}
}

func TestCockroachOnPathIsTheDatabaseOfDev(t *testing.T) { //nolint:paralleltest // PATH is the process's
	onPath(t, true)
	c := &Cmd{State: t.TempDir(), Database: databaseAuto, KafkaBrokers: []string{"127.0.0.1:1"}, Fresh: true}
	require.NoError(t, os.MkdirAll(filepath.Join(c.State, "postgres", "data"), 0o755))
	b, err := c.startBackends(t.Context(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, "postgresql://root@127.0.0.1:1/defaultdb?sslmode=disable", b.databaseURL)
	require.FileExists(t, b.databaseLog)
	require.IsType(t, &embedded.Cockroach{}, b.database)
	require.NoDirExists(t, filepath.Join(c.State, "postgres"), "fresh leaves no other database")
	require.NoError(t, b.stop())
	<-b.lost()
	require.Equal(t, databaseCockroach, (&Cmd{State: c.State}).keptDatabase())

	given := &Cmd{State: c.State, Database: databaseAuto, KafkaBrokers: c.KafkaBrokers, DatabaseURL: "postgres://elsewhere/x"}
	b, err = given.startBackends(t.Context(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Nil(t, b.database, "a database that was named is used as it is")
	require.Nil(t, b.lost())
	require.NoError(t, b.stop())
}
