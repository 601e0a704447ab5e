package quota_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const limit = 1000

// owners finds nobody, which leaves a notice without an address.
func owners(context.Context, db.Querier, tenant.ID, int) (name string, addresses []string, err error) {
	return "", nil, nil
}

type above struct {
	company tenant.ID
	used    int64
}

func meter(t *testing.T, kind string, calls *[]above) *quota.Meter {
	t.Helper()
	return quota.New(quota.Config{DB: dbtest.Open(t), Kind: kind, Limit: limit, Above: func(_ context.Context, company tenant.ID, used int64) error {
		*calls = append(*calls, above{company, used})
		return nil
	}})
}

// The bytes of all processes count, of one company and one kind, until they expire.
func TestBytesOfAllProcessesCount(t *testing.T) {
	t.Parallel()
	var calls []above
	a, b, other := meter(t, "x", &calls), meter(t, "x", &calls), meter(t, "y", &calls)
	c, neighbour, later := tenant.NewID(), tenant.NewID(), time.Now().Add(time.Hour)
	is := func(m *quota.Meter, company tenant.ID, want int64, above bool) {
		t.Helper()
		used, got := m.Above(company)
		require.Equal(t, want, used)
		require.Equal(t, above, got)
	}
	a.Add(c, 600, later)
	b.Add(c, 300, later)
	other.Add(c, 900, later)
	a.Add(neighbour, 10, later)
	a.Add(c, 50_000, time.Now().Add(-48*time.Hour)) // expired
	is(a, c, 50_600, true)
	for _, m := range []*quota.Meter{a, b, other} {
		require.NoError(t, m.Flush(t.Context()))
	}
	is(b, c, 900, false)
	require.Empty(t, calls)
	b.Add(c, 99, later)
	is(b, c, 999, false)
	b.Add(c, 1, later)
	is(b, c, 1000, true)
	b.Add(c, 1, later)
	require.NoError(t, b.Flush(t.Context()))
	require.Equal(t, []above{{c, 1001}}, calls)
	is(b, c, 1001, true)
	is(b, neighbour, 0, false)

	// What makes room uncounts it, also in processes that store nothing more.
	d := dbtest.Open(t)
	require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		quota.Subtract(tx, c, "x", map[time.Time]int64{later: 200, time.Now().Add(1000 * time.Hour): 5})
		return nil
	}))
	require.NoError(t, b.Flush(t.Context()))
	is(b, c, 801, false)
}

// Many processes that count at once lose nothing.
func TestConcurrentCountsAddUp(t *testing.T) {
	t.Parallel()
	c, later := tenant.NewID(), time.Now().Add(time.Hour)
	var wg sync.WaitGroup
	for range 8 {
		m := quota.New(quota.Config{DB: dbtest.Open(t), Kind: "x", Limit: limit})
		wg.Go(func() {
			for range 10 {
				m.Add(c, 1, later)
				m.Add(tenant.NewID(), 1, later)
				if err := m.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	last := quota.New(quota.Config{DB: dbtest.Open(t), Kind: "x", Limit: limit})
	last.Add(c, 1, later)
	require.NoError(t, last.Flush(t.Context()))
	used, _ := last.Above(c)
	require.EqualValues(t, 81, used)
}

// What could not be written is counted at the next try.
func TestNothingIsLostWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), Inject: func(context.Context, failpoint.Hit) error { return away }})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	m := quota.New(quota.Config{DB: d, Kind: "x", Limit: limit})
	c, later := tenant.NewID(), time.Now().Add(time.Hour)
	m.Add(c, 400, later)
	require.ErrorIs(t, m.Flush(t.Context()), away)
	m.Add(c, 30, later)
	away = nil
	require.NoError(t, m.Flush(t.Context()))
	used, _ := m.Above(c)
	require.EqualValues(t, 430, used)
}

func TestNoQuotaCountsNothing(t *testing.T) {
	t.Parallel()
	for _, m := range []*quota.Meter{nil, quota.New(quota.Config{})} {
		m.Add(tenant.NewID(), 1, time.Now())
		_, above := m.Above(tenant.NewID())
		require.False(t, above)
	}
}

// Owners are told once a month, by whichever process sees it first, and not before 80 %.
func TestOwnersLearnThatAQuotaIsNear(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	d := dbtest.Open(t).WithClock(func() time.Time { return now })
	made := func() *quota.Meter {
		return quota.New(quota.Config{DB: d, Kind: "answers", Limit: limit, Owners: owners, Beyond: "Nothing more is stored."})
	}
	a, b := made(), made()
	c := tenant.NewID()
	told := func(m *quota.Meter, n int) (months []time.Time) {
		t.Helper()
		m.Add(c, n, now.Add(90*24*time.Hour))
		require.NoError(t, m.Flush(t.Context()))
		rows, err := d.Query(t.Context(), `SELECT since FROM notices WHERE company_id = $1 AND kind = 'quota.answers' ORDER BY since`, c)
		require.NoError(t, err)
		months, err = pgx.CollectRows(rows, pgx.RowTo[time.Time])
		require.NoError(t, err)
		return months
	}
	require.Empty(t, told(a, 799))
	require.Len(t, told(b, 1), 1)
	require.Len(t, told(a, 1), 1)
	require.Len(t, told(b, 500), 1)
	now = now.Add(15 * 24 * time.Hour)
	months := told(b, 1)
	require.Len(t, months, 2)
	require.True(t, months[1].Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)))
	require.Len(t, told(a, 1), 2)

	var text string
	require.NoError(t, d.QueryRow(t.Context(), `SELECT subject || ': ' || body FROM notices WHERE company_id = $1 ORDER BY since LIMIT 1`, c).Scan(&text))
	require.Contains(t, text, "Stored answers have reached 80 % of their quota: The stored answers of the company take 80 % of their quota of 1000 bytes.\n\nNothing more is stored.")
}

// What is taken in a transaction counts exactly, whoever takes at the same time, and stops counting when it is given back.
func TestTakenBytesAreExact(t *testing.T) {
	t.Parallel()
	d, c := dbtest.Open(t), tenant.NewID()
	take := func(n int64) (used int64, ok bool) {
		m := quota.New(quota.Config{DB: d, Kind: "files", Limit: limit, Owners: owners, Beyond: "Nothing more is stored."})
		err := d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
			if used, ok, err = m.Take(ctx, tx, c, n, quota.Never); err == nil && !ok {
				err = errRefused
			}
			return err
		})
		if !errors.Is(err, errRefused) {
			require.NoError(t, err)
		}
		return used, ok
	}
	var wg sync.WaitGroup
	var taken [20]bool
	for i := range taken {
		wg.Go(func() { _, taken[i] = take(100) })
	}
	wg.Wait()
	n := 0
	for _, ok := range taken {
		if ok {
			n++
		}
	}
	require.Equal(t, limit/100, n)
	used, ok := take(1)
	require.EqualValues(t, limit, used)
	require.False(t, ok)
	require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		quota.Subtract(tx, c, "files", map[time.Time]int64{quota.Never: 300})
		return nil
	}))
	used, ok = take(300)
	require.EqualValues(t, limit, used)
	require.True(t, ok)
	var notices int
	require.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE company_id = $1 AND kind = 'quota.files'`, c).Scan(&notices))
	require.Equal(t, 1, notices)
	var none *quota.Meter
	_, ok, err := none.Take(t.Context(), nil, c, 1, quota.Never)
	require.NoError(t, err)
	require.True(t, ok)
}

var errRefused = errors.New("refused")
