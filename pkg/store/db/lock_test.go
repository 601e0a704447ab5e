package db_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const (
	sqlLockKind  = sqlKind + ` FOR UPDATE`
	sqlIsolation = `SELECT current_setting('transaction_isolation')`
)

// increment locks the counter and adds 1, as a change of a record does. read, if set, runs in between.
func increment(company uuid.UUID, read func(context.Context, *db.Tx) error) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		var n int64
		if err := tx.Lock(ctx, sqlLockKind, company, "a").Scan(&n); err != nil {
			return err
		}
		if read != nil {
			if err := read(ctx, tx); err != nil {
				return err
			}
		}
		tx.Queue(counters.Update(`SET n = $3 WHERE company_id = $1 AND kind = $2 AND n = $3 - 1`), company, "a", n+1).Expect(1, db.ErrStale)
		return nil
	}
}

func newCounter(t *testing.T, d *db.DB) (company uuid.UUID) {
	t.Helper()
	company = uuid.New()
	_, err := d.Write(t.Context(), sqlAdd, company, "a", 0)
	require.NoError(t, err)
	return company
}

func counter(t *testing.T, d *db.DB, company uuid.UUID) (n int) {
	t.Helper()
	require.NoError(t, d.QueryRow(t.Context(), sqlKind, company, "a").Scan(&n))
	return n
}

// incrementAtOnce makes 100 changes of one counter, from two pools as from two processes. It returns how often they ran.
func incrementAtOnce(t *testing.T, read func(context.Context, *db.Tx) error) (runs int) {
	t.Helper()
	nodes := []*db.DB{failing(t, nil), failing(t, nil)}
	company := newCounter(t, nodes[0])
	var mu sync.Mutex
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 100 {
		wg.Go(func() {
			change := increment(company, read)
			err := nodes[i%2].RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
				mu.Lock()
				runs++
				mu.Unlock()
				return change(ctx, tx)
			})
			if err != nil {
				t.Errorf("change %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 100, counter(t, nodes[0], company))
	return runs
}

// Changes of one record wait for each other; none is refused and run again.
func TestLockedChangesAreNotRefused(t *testing.T) {
	t.Parallel()
	require.Equal(t, 100, incrementAtOnce(t, nil))
}

// Changes that read other rows run at SERIALIZABLE, where the database refuses those that waited for another process.
// They are run again until they succeed.
func TestLockedChangesThatReadMoreSucceed(t *testing.T) {
	t.Parallel()
	runs := incrementAtOnce(t, func(ctx context.Context, tx *db.Tx) error {
		var known bool
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM companies)`).Scan(&known)
	})
	require.GreaterOrEqual(t, runs, 200, "each starts twice: at READ COMMITTED, then at SERIALIZABLE")
}

func TestIsolationOfLockedChanges(t *testing.T) {
	t.Parallel()
	d := failing(t, nil)
	var isolation string
	read := func(ctx context.Context, tx *db.Tx) error { return tx.QueryRow(ctx, sqlIsolation).Scan(&isolation) }
	lock := func(ctx context.Context, tx *db.Tx) error {
		return tx.Lock(ctx, sqlIsolation+` WHERE $1 = 'key'`, "key").Scan(&isolation)
	}
	readsMore := func(_ context.Context, tx *db.Tx) error { tx.ReadsMore(); return nil }
	for name, tc := range map[string]struct {
		opts []db.Option
		do   []func(context.Context, *db.Tx) error
		want string
		runs int
	}{
		"lock":                   {do: []func(context.Context, *db.Tx) error{lock}, want: "read committed", runs: 1},
		"two locks":              {do: []func(context.Context, *db.Tx) error{lock, lock}, want: "read committed", runs: 1},
		"lock, then read":        {do: []func(context.Context, *db.Tx) error{lock, read}, want: "serializable", runs: 2},
		"read, then lock":        {do: []func(context.Context, *db.Tx) error{read, lock}, want: "serializable", runs: 1},
		"announced read":         {do: []func(context.Context, *db.Tx) error{readsMore, lock, read}, want: "serializable", runs: 1},
		"isolation of an option": {opts: []db.Option{db.ReadCommitted()}, do: []func(context.Context, *db.Tx) error{lock, read}, want: "read committed", runs: 1},
		"error passed over": {do: []func(context.Context, *db.Tx) error{lock, func(ctx context.Context, tx *db.Tx) error {
			_ = read(ctx, tx)
			return nil
		}}, want: "serializable", runs: 2},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				runs++
				for _, do := range tc.do {
					if err := do(ctx, tx); err != nil {
						return err
					}
				}
				return nil
			}, tc.opts...))
			require.Equal(t, tc.want, isolation)
			require.Equal(t, tc.runs, runs)
		})
	}
}

// Whatever a transaction does after Lock besides queued writes, it does at SERIALIZABLE.
func TestEveryStatementAfterLockRaisesTheIsolation(t *testing.T) {
	t.Parallel()
	d := failing(t, nil)
	company := newCounter(t, d)
	for name, do := range map[string]func(context.Context, *db.Tx) error{
		"Query": func(ctx context.Context, tx *db.Tx) error {
			rows, err := tx.Query(ctx, `SELECT 1`)
			if err == nil {
				rows.Close()
			}
			return err
		},
		"QueryRow": func(ctx context.Context, tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT 1`).Scan(new(int)) },
		"Exec": func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		},
		"SendBatch": func(ctx context.Context, tx *db.Tx) error {
			b := &pgx.Batch{}
			b.Queue(`SELECT 1`)
			return tx.SendBatch(ctx, b).Close()
		},
	} {
		var isolation string
		require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			if err := increment(company, do)(ctx, tx); err != nil {
				return err
			}
			return tx.QueryRow(ctx, sqlIsolation).Scan(&isolation)
		}), name)
		require.Equal(t, "serializable", isolation, name)
	}
	require.Equal(t, 4, counter(t, d, company))
}

// A rule over several rows holds although each transaction locks only its own: two at once do not both pass.
func TestLockDoesNotAllowWriteSkew(t *testing.T) {
	t.Parallel()
	left, _ := withdrawAfter(t, func(ctx context.Context, tx *db.Tx, company uuid.UUID, kind string) error {
		return tx.Lock(ctx, sqlLockKind, company, kind).Scan(new(int64))
	})
	require.EqualValues(t, 2, left)
}

// Changes that wait for a record hold no connection: others go on, however many wait.
func TestWaitingForARecordTakesNoConnection(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	company := newCounter(t, d)
	locked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := d.RunTx(t.Context(), "test", increment(company, func(context.Context, *db.Tx) error {
				once.Do(func() {
					close(locked)
					<-release
				})
				return nil
			}))
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-locked
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	other := newCounter(t, d)
	for range 50 { // each would have to wait if one of the 19 had the other connection
		require.NoError(t, d.RunTx(ctx, "test", increment(other, nil)))
	}
	close(release)
	wg.Wait()
	require.Equal(t, 20, counter(t, d, company))
}

// The key is held through all tries, and released however the transaction ends.
func TestKeyIsHeldUntilTheEnd(t *testing.T) {
	t.Parallel()
	d := failing(t, firstTimes(3, db.BeforeCommit, sqlState("40001")))
	free := func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := false
		_ = d.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
			cancel() // a key that is held is not waited for
			got = tx.LockInProcess(ctx, "key") == nil
			return io.EOF
		})
		return got
	}
	tries := 0
	require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		tries++
		require.NoError(t, tx.LockInProcess(ctx, "key"))
		require.NoError(t, tx.LockInProcess(ctx, "key"), "the second time is nothing")
		require.False(t, free())
		tx.Queue(sqlTake, uuid.New())
		return nil
	}))
	require.Equal(t, 4, tries)
	require.True(t, free())
	require.Panics(t, func() {
		_ = d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			require.NoError(t, tx.LockInProcess(ctx, "key"))
			panic("test")
		})
	})
	require.True(t, free())
}

// After its first statement a transaction may hold locks that the holder of the key wants: it does not wait.
func TestKeyIsNotWaitedForAfterAStatement(t *testing.T) {
	t.Parallel()
	d := failing(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, d.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
		require.NoError(t, tx.LockInProcess(ctx, "key"))
		return d.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
			require.NoError(t, tx.QueryRow(ctx, `SELECT 1`).Scan(new(int)))
			return tx.LockInProcess(ctx, "key")
		})
	}))
}

func TestWaitForAKeyEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	d := failing(t, nil)
	require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		require.NoError(t, tx.LockInProcess(ctx, "key"))
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		err := d.RunTx(short, "test", func(ctx context.Context, tx *db.Tx) error { return tx.LockInProcess(ctx, "key") })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		return nil
	}))
}

// Who holds a key is refused rarely and holds others up: it goes on until its deadline.
func TestHolderOfAKeyTriesUntilItsDeadline(t *testing.T) {
	t.Parallel()
	take := func(ctx context.Context, d *db.DB, company uuid.UUID) error {
		return d.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
			tx.Queue(sqlTake, company)
			return tx.LockInProcess(ctx, company.String())
		})
	}
	for _, code := range []string{"40001", "40P01", "CR000"} {
		company := uuid.New()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		require.NoError(t, take(ctx, failing(t, firstTimes(50, db.BeforeCommit, sqlState(code))), company), code)
		cancel()
		require.EqualValues(t, 1, count(t, dbtest.Open(t), company))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := take(ctx, failing(t, firstTimes(50, db.BeforeCommit, sqlState("57P01"))), uuid.New())
	require.ErrorIs(t, err, db.ErrBusy, "a database that is away is no rival")
	f, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, apierr.DatabaseUnavailable, f.Reason())
	require.ErrorIs(t, take(t.Context(), failing(t, firstTimes(50, db.BeforeCommit, sqlState("40001"))), uuid.New()), db.ErrBusy, "without a deadline")
}

// Who waits for a record has a later time than everybody who had it before, in this process and in others.
func TestTimeBehindALock(t *testing.T) {
	t.Parallel()
	nodes := []*db.DB{failing(t, nil), failing(t, nil)}
	company := newCounter(t, nodes[0])
	var mu sync.Mutex
	times := map[int]time.Time{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			var n int
			var at time.Time
			err := nodes[i%2].RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				if err := tx.Lock(ctx, sqlLockKind, company, "a").Scan(&n); err != nil {
					return err
				}
				tx.Queue(counters.Update(`SET n = $3 WHERE company_id = $1 AND kind = $2`), company, "a", n+1)
				at = tx.Now()
				return nil
			})
			if err != nil {
				t.Errorf("change %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			times[n] = at
		})
	}
	wg.Wait()
	for n := 1; n < 40; n++ {
		require.False(t, times[n].Before(times[n-1]), "change %d at %s, the one before at %s", n, times[n], times[n-1])
	}
}
