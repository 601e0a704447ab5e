package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestFetchedProgramsRunAServer downloads PostgreSQL, so it runs only when asked for.
func TestFetchedProgramsRunAServer(t *testing.T) {
	t.Parallel()
	if os.Getenv("TRADEGRID_TEST_FETCH") == "" {
		t.Skip("set TRADEGRID_TEST_FETCH=1 to download PostgreSQL and run it")
	}
	acct, err := serverAccount()
	require.NoError(t, err)
	dir := folder(t)
	require.NoError(t, makeOwnFolder(dir, acct))
	prog, err := fetchPrograms(t.Context(), dir, acct)
	require.NoError(t, err)
	again, err := fetchPrograms(t.Context(), dir, acct)
	require.NoError(t, err)
	require.Equal(t, prog, again)

	p := &Postgres{cfg: PostgresConfig{Dir: dir, Fast: true}, data: filepath.Join(dir, "data")}
	p.sockets, err = makeSocketFolder(t.Context(), dir, dir, acct)
	require.NoError(t, err)
	p.password, err = initialise(t.Context(), p.cfg, prog, p.data, p.sockets, acct)
	require.NoError(t, err)
	require.NoError(t, p.launch(t.Context(), prog, acct))
	require.NoError(t, p.CreateDatabase(t.Context(), DefaultDatabase))
	conn, err := pgx.Connect(t.Context(), p.URL(DefaultDatabase))
	require.NoError(t, err)
	// What the migrations need beyond plain SQL: the build must have ICU and the contributed extensions.
	_, err = conn.Exec(t.Context(), "CREATE COLLATION und (provider = icu, locale = 'und'); CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, p.Stop(t.Context()))
}
