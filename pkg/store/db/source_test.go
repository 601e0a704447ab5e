package db_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// A changed password and a changed URL count from the next connection on; connections that exist live on.
func TestSecretsAreReadForEachConnection(t *testing.T) {
	t.Parallel()
	dbtest.Only(t, db.PostgreSQL, "the node of CockroachDB that tests start is without encryption and knows no passwords")
	admin := dbtest.Open(t)
	role := "rotate_" + uuid.NewString()[:8]
	exec := func(sql string) {
		t.Helper()
		_, err := admin.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`CREATE ROLE ` + role + ` LOGIN PASSWORD 'first'`)
	t.Cleanup(func() {
		_, err := admin.Exec(context.WithoutCancel(t.Context()), `DROP ROLE `+role)
		require.NoError(t, err)
	})
	address, err := url.Parse(dbtest.URL(t))
	require.NoError(t, err)
	address.User = url.User(role)
	dir := t.TempDir()
	urlFile, passwordFile := filepath.Join(dir, "url"), filepath.Join(dir, "password")
	write(t, urlFile, address.String()+"\n")
	write(t, passwordFile, "first\n")
	d, err := db.Open(t.Context(), db.Config{URLFile: urlFile, PasswordFile: passwordFile, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	kept, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer kept.Release()

	exec(`ALTER ROLE ` + role + ` PASSWORD 'second'`)
	_, err = d.Pool().Acquire(t.Context())
	require.ErrorContains(t, err, "password authentication failed")
	write(t, passwordFile, "second")
	query := address.Query()
	query.Set("sslmode", "prefer")
	address.RawQuery = query.Encode()
	write(t, urlFile, address.String())
	next, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer next.Release()
	require.NotEmpty(t, next.Conn().Config().Fallbacks, "sslmode=prefer tries twice")

	write(t, passwordFile, "\n")
	_, err = d.Pool().Acquire(t.Context())
	require.EqualError(t, err, "--database-password-file: "+passwordFile+" is empty; write the secret into it")
	require.NoError(t, os.Remove(urlFile))
	_, err = d.Pool().Acquire(t.Context())
	require.ErrorContains(t, err, "--database-url-file: open "+urlFile)
	var one int
	require.NoError(t, kept.QueryRow(t.Context(), `SELECT 1`).Scan(&one))
}

func TestWrongSourcesAreNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "url")
	write(t, file, "postgres://u:s3cret@h:port/x")
	for name, row := range map[string]struct {
		cfg  db.Config
		want []string
	}{
		"none":        {db.Config{}, []string{"--database-url or --database-url-file is required"}},
		"both":        {db.Config{URL: "postgres://h/x", URLFile: file}, []string{"--database-url and --database-url-file are mutually exclusive"}},
		"not a URL":   {db.Config{URL: "h:5432"}, []string{"--database-url: is not a database URL"}},
		"malformed":   {db.Config{URL: "postgres://u:s3cret@h:port/x"}, []string{"--database-url: cannot parse"}},
		"in the file": {db.Config{URLFile: file}, []string{"--database-url-file: cannot parse"}},
		"no ca":       {db.Config{URL: "postgres://u:s3cret@h/x?sslmode=verify-full&sslrootcert=/nowhere"}, []string{"--database-url: cannot parse", "/nowhere"}},
		"all at once": {db.Config{PasswordFile: "/nowhere", MaxConns: -1}, []string{"--database-url or --database-url-file is required", "--database-password-file: open /nowhere", "--database-conns -1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := db.Open(t.Context(), row.cfg)
			for _, want := range row.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}
