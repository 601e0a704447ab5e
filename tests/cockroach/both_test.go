package cockroach_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// User input is escaped by backslashes, without a clause: both databases have to read it so.
func TestBackslashEscapesInLike(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for text, like := range map[string]bool{"100% wool": true, "100 wool": false, `100\% wool`: false} {
		var got bool
		require.NoError(t, d.QueryRow(t.Context(), `SELECT $1::TEXT LIKE $2`, text, `%100\% w%`).Scan(&got))
		require.Equal(t, like, got, text)
	}
	for text, like := range map[string]bool{"a_b": true, "axb": false} {
		var got bool
		require.NoError(t, d.QueryRow(t.Context(), `SELECT $1::TEXT LIKE $2`, text, `a\_b`).Scan(&got))
		require.Equal(t, like, got, text)
	}
	var got bool
	require.NoError(t, d.QueryRow(t.Context(), `SELECT $1::TEXT LIKE $2`, `a\b`, `a\\b`).Scan(&got))
	require.True(t, got)
}

// What is sent in one round trip without BEGIN happens as a whole or not at all.
func TestBatchIsOneTransaction(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	company := uuid.New()
	const insert = `INSERT INTO counters (company_id, kind, n) VALUES ($1, $2, 1)`
	b := &pgx.Batch{}
	b.Queue(insert, company, "first")
	b.Queue(insert, company, "second")
	b.Queue(insert, company, "first")
	require.ErrorContains(t, d.SendBatch(t.Context(), b).Close(), "23505")
	var left int
	require.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM counters WHERE company_id = $1`, company).Scan(&left))
	require.Zero(t, left)
}

// Several rows are written by one statement from arrays, each with its own values.
func TestUpdateFromArrays(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	company := uuid.New()
	_, err := d.Exec(t.Context(), `INSERT INTO counters (company_id, kind, n) SELECT $1, u.k, u.n FROM unnest($2::TEXT[], $3::BIGINT[]) AS u(k, n)`,
		company, []string{"a", "b", "c"}, []int64{1, 2, 3})
	require.NoError(t, err)
	tag, err := d.Exec(t.Context(), `UPDATE counters SET n = counters.n + u.n FROM unnest($2::TEXT[], $3::BIGINT[]) AS u(k, n) WHERE counters.company_id = $1 AND counters.kind = u.k`,
		company, []string{"c", "a"}, []int64{30, 10})
	require.NoError(t, err)
	require.EqualValues(t, 2, tag.RowsAffected())
	rows, err := d.Query(t.Context(), `SELECT n FROM counters WHERE company_id = $1 ORDER BY kind`, company)
	require.NoError(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	require.Equal(t, []int64{11, 2, 33}, got)
}

// endOfDeliveries computes what row-level TTL is to compute for each delivery.
const endOfDeliveries = `SELECT CASE WHEN state >= 2 THEN ((created_at AT TIME ZONE 'UTC') + INTERVAL '30 days') AT TIME ZONE 'UTC' END FROM deliveries WHERE company_id = $1 ORDER BY state`

// The expression that row-level TTL gets for deliveries keeps those that are open; it can be computed on both.
func TestOpenDeliveriesNeverExpire(t *testing.T) {
	t.Parallel()
	file, err := fs.ReadFile(sql.Files, "004_delivery.crdb.sql")
	require.NoError(t, err)
	expression, _, _ := strings.Cut(strings.TrimPrefix(endOfDeliveries, "SELECT "), " FROM ")
	require.Contains(t, string(file), "ALTER TABLE deliveries SET (ttl_expiration_expression = '"+strings.ReplaceAll(expression, "'", "''")+"'")
	d := dbtest.Open(t)
	created := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC) // a change of clocks lies within
	company := uuid.New()
	for state := range 4 {
		_, err := d.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
			VALUES ($1, $1, $2, $2, 'x', $3, 1, $4, false, $4, $4)`, company, uuid.New(), state, created)
		require.NoError(t, err)
	}
	rows, err := d.Query(t.Context(), endOfDeliveries, company)
	require.NoError(t, err)
	ends, err := pgx.CollectRows(rows, pgx.RowTo[*time.Time])
	require.NoError(t, err)
	require.Len(t, ends, 4)
	require.Nil(t, ends[0], "pending")
	require.Nil(t, ends[1], "delivering")
	for _, end := range ends[2:] {
		require.NotNil(t, end)
		require.True(t, created.Add(30*24*time.Hour).Equal(*end), "%s", end)
	}
}
