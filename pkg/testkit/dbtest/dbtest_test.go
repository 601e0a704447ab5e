package dbtest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

var sqlTake = db.Table("counters").Insert(`(company_id, kind, n) VALUES ($1, $2, 1) ON CONFLICT (company_id, kind) DO UPDATE SET n = counters.n + 1`)

func take(ctx context.Context, d *db.DB, company uuid.UUID) error {
	return d.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Write(ctx, sqlTake, company, "order")
		return err
	})
}

func counter(t *testing.T, d *db.DB, company uuid.UUID) (n int64) {
	t.Helper()
	err := d.QueryRow(t.Context(), `SELECT n FROM counters WHERE company_id = $1 AND kind = $2`, company, "order").Scan(&n)
	require.NoError(t, err)
	return n
}

func TestOpenSharesOneMigratedDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	require.Same(t, d, dbtest.Open(t))
	company := uuid.New()
	require.NoError(t, take(t.Context(), d, company))
	conn, err := pgx.Connect(t.Context(), dbtest.URL(t))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	var n int64
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT n FROM counters WHERE company_id = $1`, company).Scan(&n))
	require.EqualValues(t, 1, n)
}

func TestNewDatabaseIsAlone(t *testing.T) {
	t.Parallel()
	company := uuid.New()
	a, b := dbtest.OpenNew(t), dbtest.OpenNew(t)
	require.NoError(t, take(t.Context(), a, company))
	require.EqualValues(t, 1, counter(t, a, company))
	var rows int
	require.NoError(t, b.QueryRow(t.Context(), `SELECT count(*) FROM counters`).Scan(&rows))
	require.Zero(t, rows)
}

func TestNewDatabaseIsDroppedAtTheEnd(t *testing.T) {
	t.Parallel()
	var url string
	t.Run("test with a database", func(t *testing.T) { //nolint:paralleltest // its end is looked at
		url = dbtest.NewDatabase(t)
	})
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	var left int
	require.NoError(t, dbtest.Open(t).QueryRow(t.Context(), `SELECT count(*) FROM pg_database WHERE datname = $1`, config.Database).Scan(&left))
	require.Zero(t, left)
}

// The environment decides how a pool is opened, so these two run alone.
func TestChaosIsInjected(t *testing.T) {
	t.Setenv("TRADEGRID_TEST_CHAOS", "0.2")
	d := dbtest.OpenNew(t)
	company, tries := uuid.New(), 0
	for range 50 {
		require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			tries++
			_, err := tx.Write(ctx, sqlTake, company, "order")
			return err
		}))
	}
	require.EqualValues(t, 50, counter(t, d, company), "each took one number")
	require.Greater(t, tries, 50, "some had to be tried again")

	t.Setenv("TRADEGRID_TEST_CHAOS", "1")
	require.NoError(t, take(t.Context(), dbtest.OpenNew(t), company), "the last tries are left alone")
}

func TestSQLIsLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sql.log")
	t.Setenv("TRADEGRID_SQL_LOG", path)
	d := dbtest.OpenNew(t)
	for range 3 {
		require.NoError(t, take(t.Context(), d, uuid.New()))
	}
	log, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(log), `{"sql":"`+sqlTake.SQL()+`","declared":{"changes":["counters"],"reads":null}}`+"\n")
	require.Contains(t, string(log), `{"sql":"INSERT INTO tx_markers`, "statements of batches belong to it")
}

func TestBrokerHasTheTopics(t *testing.T) {
	t.Parallel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(dbtest.Broker(t)...))
	require.NoError(t, err)
	defer cl.Close()
	for _, topic := range topics.Local() {
		require.NoError(t, cl.ProduceSync(t.Context(), &kgo.Record{Topic: topic.Name, Key: []byte("k"), Value: []byte("v")}).FirstErr())
	}
}
