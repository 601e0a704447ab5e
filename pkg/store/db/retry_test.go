package db_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// script fails chosen points of the tries of one test.
type script func(p failpoint.Point, passed int) error // passed counts earlier visits of the point

func (fail script) injector() failpoint.Injector {
	var mu sync.Mutex
	passed := map[failpoint.Point]int{}
	return func(_ context.Context, h failpoint.Hit) error {
		mu.Lock()
		defer mu.Unlock()
		n := passed[h.Point]
		passed[h.Point]++
		return fail(h.Point, n)
	}
}

// failing opens a pool whose transactions fail as the script says. Without a script they never do, whatever the
// environment asks of other tests.
func failing(t *testing.T, fail script) *db.DB {
	t.Helper()
	cfg := db.Config{URL: dbtest.URL(t), MaxConns: 4}
	if fail != nil {
		cfg.Inject = fail.injector()
	}
	d, err := db.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

func sqlState(code string) error {
	return &pgconn.PgError{Severity: "ERROR", Code: code, Message: "injected"}
}

// firstTimes fails the first n visits of a point.
func firstTimes(n int, at failpoint.Point, err error) script {
	return func(p failpoint.Point, passed int) error {
		if p == at && passed < n {
			return err
		}
		return nil
	}
}

// takeAndCount takes a number in a transaction and tells how often its function ran.
func takeAndCount(ctx context.Context, d *db.DB, company uuid.UUID, opts ...db.Option) (runs int, err error) {
	err = d.RunTx(ctx, "test", func(_ context.Context, tx *db.Tx) error {
		runs++
		tx.Queue(sqlTake, company)
		return nil
	}, opts...)
	return runs, err
}

// What the database asks to be tried again is run again as a whole, in a transaction of its own, and happens once.
func TestRetriesRunInNewTransactions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		at   failpoint.Point
		err  error
		runs int
	}{
		"serialization failure of a statement": {db.AtStatement, sqlState("40001"), 4},
		"serialization failure of the commit":  {db.BeforeCommit, sqlState("40001"), 4},
		"deadlock":                             {db.AtStatement, sqlState("40P01"), 4},
		"lock not available":                   {db.AtStatement, sqlState("55P03"), 4},
		"server is shutting down":              {db.AtStatement, sqlState("57P01"), 4},
		"too many connections":                 {db.AtBegin, sqlState("53300"), 1},
		"connection lost before the commit":    {db.AtStatement, io.ErrUnexpectedEOF, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := failing(t, firstTimes(3, tc.at, tc.err))
			company := uuid.New()
			runs, err := takeAndCount(t.Context(), d, company)
			require.NoError(t, err)
			require.Equal(t, tc.runs, runs)
			require.EqualValues(t, 1, count(t, d, company))
		})
	}
}

// A node that drains goes on answering so: the next try takes another connection, which may lead to another node.
func TestDrainingNodeIsLeft(t *testing.T) {
	t.Parallel()
	for code, next := range map[string]string{"57P01": "tradegrid", "40003": "tradegrid", "40001": "marked"} {
		d, err := db.Open(t.Context(), db.Config{
			URL: dbtest.URL(t), MaxConns: 1,
			Inject: firstTimes(1, db.BeforeCommit, sqlState(code)).injector(),
		})
		require.NoError(t, err)
		_, err = d.Exec(t.Context(), `SET application_name = 'marked'`) // of the only connection
		require.NoError(t, err)
		var names []string
		require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			var name string
			err := tx.QueryRow(ctx, `SELECT current_setting('application_name')`).Scan(&name)
			names = append(names, name)
			return err
		}))
		d.Close()
		require.Equal(t, []string{"marked", next}, names, code)
	}
}

// The tries of one call see each other's work no more than strangers would.
func TestEachTryIsATransactionOfItsOwn(t *testing.T) {
	t.Parallel()
	d := failing(t, firstTimes(2, db.BeforeCommit, sqlState("40001")))
	company := uuid.New()
	var transactions []string
	err := d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		var n int64
		if err := tx.ReturningRow(ctx, sqlTake, company).Scan(&n); err != nil {
			return err
		}
		require.EqualValues(t, 1, n, "an earlier try left its number behind")
		var id string
		err := tx.QueryRow(ctx, `SELECT now()::TEXT`).Scan(&id) // constant within a transaction
		transactions = append(transactions, id)
		return err
	})
	require.NoError(t, err)
	require.Len(t, transactions, 3)
	require.NotEqual(t, transactions[0], transactions[1])
	require.NotEqual(t, transactions[1], transactions[2])
}

func TestGivesUpAsBusyAfterTwelveTries(t *testing.T) {
	t.Parallel()
	d := failing(t, firstTimes(1000, db.BeforeCommit, sqlState("40001")))
	company := uuid.New()
	runs, err := takeAndCount(t.Context(), d, company)
	require.ErrorIs(t, err, db.ErrBusy)
	require.Equal(t, 12, runs)
	f, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, http.StatusServiceUnavailable, f.Status)
	require.Equal(t, "SERVICE_UNAVAILABLE", f.Code)
	require.Equal(t, apierr.Serialization, f.Reason())
	require.Positive(t, f.RetryAfter)
	require.ErrorContains(t, err, "40001", "the log has to say what the database said")
	require.Zero(t, count(t, d, company))
}

// Once the deadline is over there is no further try, and the error is the deadline's, not "busy".
func TestStopsAtTheDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	d := failing(t, func(p failpoint.Point, passed int) error {
		if p != db.BeforeCommit {
			return nil
		}
		if passed == 1 {
			cancel(context.DeadlineExceeded)
		}
		return sqlState("40001")
	})
	company := uuid.New()
	runs, err := takeAndCount(ctx, d, company)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "test ran out of time after 2 tries", "the wait between tries ends with the deadline")
	require.ErrorContains(t, err, "40001")
	require.NotErrorIs(t, err, db.ErrBusy)
	require.Equal(t, 2, runs)
	require.Zero(t, count(t, d, company))

	late, end := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer end()
	runs, err = takeAndCount(late, failing(t, nil), company)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, db.ErrBusy)
	require.Zero(t, runs)
}

// A deadline that passes while a statement runs cuts it: the caller does not wait for the database.
func TestDeadlineCutsAStatement(t *testing.T) {
	t.Parallel()
	d := failing(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	runs := 0
	err := d.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
		runs++
		_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
		return err
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, db.ErrBusy)
	require.Equal(t, 1, runs)
}

func TestFaultsAndOtherErrorsAreFinal(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{
		"fault":          apierr.StateConflict("ORDER_CLOSED", "the order is closed"),
		"fault, wrapped": errors.Join(errors.New("while checking"), apierr.NotFound("ORDER", "1"), sqlState("40001")),
		"plain error":    errors.New("plain"),
		"SQL mistake":    sqlState("42601"),
		"constraint":     sqlState("23505"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := failing(t, nil)
			company := uuid.New()
			runs := 0
			err := d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				runs++
				if _, err := tx.Write(ctx, sqlTake, company); err != nil {
					return err
				}
				return want
			})
			require.ErrorIs(t, err, want)
			require.Equal(t, 1, runs)
			require.Zero(t, count(t, d, company))
		})
	}
}

// A record that changed under a conditional write is read and judged anew.
func TestStaleIsRunAgain(t *testing.T) {
	t.Parallel()
	d := failing(t, nil)
	company := uuid.New()
	_, err := takeAndCount(t.Context(), d, company)
	require.NoError(t, err)
	runs := 0
	err = d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		runs++
		var n int64
		if err := tx.QueryRow(ctx, sqlCount, company).Scan(&n); err != nil {
			return err
		}
		if runs == 1 {
			n = 41 // what another node has changed meanwhile
		}
		tx.Queue(counters.Update(`SET n = $2 + 10 WHERE company_id = $1 AND kind = 'test' AND n = $2`), company, n).Expect(1, db.ErrStale)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, runs)
	require.EqualValues(t, 11, count(t, d, company))

	err = d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(counters.Update(`SET n = 1 WHERE company_id = $1 AND n = -1`), company).Expect(1, db.ErrStale)
		return nil
	})
	require.ErrorIs(t, err, db.ErrBusy, "a record that always changes is a busy one")
}
