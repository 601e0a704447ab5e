package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

var (
	sqlInsertInput   = db.Table("job_inputs").InsertRow("company_id", "job_id", "n", "body", "expires_at")
	sqlInsertCounter = counters.InsertRow("company_id", "kind", "n")

	errTaken = errors.New("taken")
	errUndo  = errors.New("undo")
)

const sqlSelectCounter = `SELECT EXISTS (SELECT 1 FROM counters WHERE company_id = $1 AND kind = $2)`

// newRow inserts a row for a record of the company, and says that it proves the commit.
func newRow(tx *db.Tx, company tenant.ID, text string) string {
	id := tx.NewID()
	kind := id.String() + text
	tx.ProvedBy(id, func(ctx context.Context, q db.Querier) (found bool, err error) {
		err = q.QueryRow(ctx, sqlSelectCounter, company, kind).Scan(&found)
		return found, err
	})
	tx.QueueRow(sqlInsertCounter, company, kind, 1).OnConstraint("counters_pkey", errTaken)
	return kind
}

// createOf creates a row in a transaction of the company.
func createOf(ctx context.Context, d *db.DB, company tenant.ID, more func(*db.Tx)) (kind string, err error) {
	err = d.RunTx(tenant.With(ctx, company), "test", func(_ context.Context, tx *db.Tx) error {
		kind = newRow(tx, company, "")
		if more != nil {
			more(tx)
		}
		return nil
	})
	return kind, err
}

func rowsOf(t *testing.T, d *db.DB, company tenant.ID) (n int) {
	t.Helper()
	require.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM counters WHERE company_id = $1`, company).Scan(&n))
	return n
}

// heldUp opens the database such that the first four transactions, which are all that run at the same time, wait for release before
// they commit. It returns when they do.
func heldUp(t *testing.T, watch *statements, patience time.Duration, fail script) (d *db.DB, release func()) {
	t.Helper()
	gate, waiting := make(chan struct{}), atomic.Int64{}
	then := func(context.Context, failpoint.Hit) error { return nil }
	if fail != nil {
		then = fail.injector()
	}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 12, QueryTracer: watch, Inject: func(ctx context.Context, h failpoint.Hit) error {
		if h.Point == db.BeforeCommit && waiting.Add(1) <= 4 {
			<-gate
			return nil
		}
		return then(ctx, h)
	}})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	db.SetPatience(d, patience)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("companies do not share transactions on this database")
	}
	var wg sync.WaitGroup
	for range 4 {
		company := tenant.NewID()
		wg.Go(func() {
			if _, err := createOf(context.Background(), d, company, nil); err != nil {
				t.Error(err)
			}
		})
	}
	require.Eventually(t, func() bool { return waiting.Load() == 4 }, time.Minute, time.Millisecond)
	return d, func() { close(gate); wg.Wait() }
}

// inBackground starts fn, and waits until it waits for others.
func inBackground(t *testing.T, d *db.DB, company tenant.ID, fn func() error) <-chan error {
	t.Helper()
	before := max(0, db.WaitingCreates(d, company))
	done := make(chan error, 1)
	go func() { done <- fn() }()
	require.Eventually(t, func() bool { return db.WaitingCreates(d, company) == before+1 || len(done) > 0 }, time.Minute, time.Millisecond)
	return done
}

// New rows of several companies that come while four transactions are in flight are one transaction, and one statement.
func TestCreatesShareATransaction(t *testing.T) {
	t.Parallel()
	watch := &statements{}
	d, release := heldUp(t, watch, time.Hour, nil)
	companies := []tenant.ID{tenant.NewID(), tenant.NewID(), tenant.NewID()}
	var all []<-chan error
	for i := range 8 {
		company := companies[i%3]
		all = append(all, inBackground(t, d, company, func() error { _, err := createOf(t.Context(), d, company, nil); return err }))
	}
	watch.take()
	release()
	for _, done := range all {
		require.NoError(t, <-done)
	}
	var shapes []string
	for _, trip := range watch.take() {
		shapes = append(shapes, fmt.Sprintf("%d: %d rows", len(trip), strings.Count(strings.Join(trip, ""), "($")))
	}
	require.ElementsMatch(t, []string{"3: 1 rows", "3: 1 rows", "3: 1 rows", "3: 1 rows", "4: 8 rows"}, shapes)
	require.Equal(t, 3, rowsOf(t, d, companies[0]))
}

// One that breaks a constraint fails alone; those that read, change a row or are large do not wait for others.
func TestCreatesDoNotDependOnOthers(t *testing.T) {
	t.Parallel()
	d, release := heldUp(t, &statements{}, time.Hour, nil)
	bad, good := tenant.NewID(), tenant.NewID()
	alone := func(more func(*db.Tx)) string {
		kind, err := createOf(t.Context(), d, good, more)
		require.NoError(t, err)
		return kind
	}
	alone(func(tx *db.Tx) { tx.QueueRead(`SELECT 1`) })
	alone(func(tx *db.Tx) { tx.Queue(sqlTake, good) })
	taken := alone(func(tx *db.Tx) {
		tx.QueueRow(sqlInsertInput, good, uuid.New(), 1, make([]byte, 65<<10), time.Now())
	})
	failed := inBackground(t, d, bad, func() error {
		_, err := createOf(t.Context(), d, bad, func(tx *db.Tx) { tx.QueueRow(sqlInsertCounter, good, taken, 1).OnConstraint("counters_pkey", errTaken) })
		return err
	})
	var others []<-chan error
	for range 5 {
		others = append(others, inBackground(t, d, good, func() error { _, err := createOf(t.Context(), d, good, nil); return err }))
	}
	release()
	require.ErrorIs(t, <-failed, errTaken)
	for _, done := range others {
		require.NoError(t, <-done)
	}
	require.Zero(t, rowsOf(t, d, bad))
	require.Equal(t, 4+5, rowsOf(t, d, good))
}

// A row that a transaction elsewhere keeps locked holds up its company only.
func TestLockedCreateLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	d, release := heldUp(t, &statements{}, 300*time.Millisecond, nil)
	locked, other, kind := tenant.NewID(), tenant.NewID(), uuid.NewString()
	var once sync.Once
	held, unlock, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- d.RunTx(context.Background(), "hold", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Write(ctx, sqlInsertCounter, locked, kind, 1)
			once.Do(func() { close(held) })
			<-unlock
			return errors.Join(err, errUndo)
		})
	}()
	<-held
	waits := make(chan error, 1)
	go func() {
		_, err := createOf(t.Context(), d, locked, func(tx *db.Tx) { tx.QueueRow(sqlInsertCounter, locked, kind, 1) })
		waits <- err
	}()
	require.Eventually(t, func() bool { return db.WaitingCreates(d, locked) >= 0 }, time.Minute, time.Millisecond, "it waits, or for the lock")
	done := inBackground(t, d, other, func() error { _, err := createOf(t.Context(), d, other, nil); return err })
	release()
	require.NoError(t, <-done)
	require.Empty(t, waits)
	close(unlock)
	require.ErrorIs(t, <-ended, errUndo)
	require.NoError(t, <-waits)
	require.Equal(t, 2, rowsOf(t, d, locked))
}

// A lost answer to a shared commit is looked up once for all.
func TestLostAnswerOfASharedCommit(t *testing.T) {
	t.Parallel()
	d, release := heldUp(t, &statements{}, time.Hour, lostAnswer(1000))
	company := tenant.NewID()
	runs := atomic.Int64{}
	var all []<-chan error
	for range 5 {
		all = append(all, inBackground(t, d, company, func() error {
			_, err := createOf(t.Context(), d, company, func(*db.Tx) { runs.Add(1) })
			return err
		}))
	}
	release()
	for _, done := range all {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 5, runs.Load())
	require.Equal(t, 5, rowsOf(t, d, company))
}

// Whatever fails on the way, a create that was successful is stored once, and no other is.
func TestChaosCreatesExactlyOnce(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 12, Inject: db.Chaos(0.2, 0)})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	companies := []tenant.ID{tenant.NewID(), tenant.NewID(), tenant.NewID()}
	stored := make([]atomic.Int64, len(companies))
	twins := make([]atomic.Int64, len(companies))
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 25 {
				c := (w + i) % len(companies)
				_, err := createOf(t.Context(), d, companies[c], func(tx *db.Tx) {
					if i%8 == 7 {
						tx.QueueRow(sqlInsertCounter, companies[c], "the same", 1).OnConstraint("counters_pkey", errTaken)
					}
				})
				switch {
				case err == nil && i%8 == 7:
					twins[c].Add(1)
					stored[c].Add(2)
				case err == nil:
					stored[c].Add(1)
				case !errors.Is(err, db.ErrBusy) && (i%8 != 7 || !errors.Is(err, errTaken)):
					t.Errorf("unexpected: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for c, company := range companies {
		require.EqualValues(t, stored[c].Load(), rowsOf(t, d, company))
		require.LessOrEqual(t, twins[c].Load(), int64(1))
		require.Positive(t, stored[c].Load())
	}
}
