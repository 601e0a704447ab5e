package db_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// lostAnswer loses the answers of the first n commits.
func lostAnswer(n int) script { return firstTimes(n, db.AfterCommit, io.ErrUnexpectedEOF) }

func counted(company uuid.UUID) db.CommitCheck {
	return func(ctx context.Context, q db.Querier) (found bool, err error) {
		err = q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM counters WHERE company_id = $1)`, company).Scan(&found)
		return found, err
	}
}

// A commit that happened, though its answer was lost, is found by the marker and not made twice.
func TestLostAnswerIsFoundByTheMarker(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(1000))
	company := uuid.New()
	runs, err := takeAndCount(t.Context(), d, company)
	require.NoError(t, err)
	require.Equal(t, 1, runs)
	require.EqualValues(t, 1, count(t, d, company))
}

// A record that the transaction creates proves its commit: tries have the same id for it, so that no two of them can be committed.
func TestLostAnswerIsFoundByTheRecordCreated(t *testing.T) {
	t.Parallel()
	d := failing(t, func(at failpoint.Point, passed int) error {
		if at == db.BeforeCommit && passed < 2 {
			return sqlState("40001")
		}
		return lostAnswer(1000)(at, passed)
	})
	var ids []uuid.UUID
	require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		ids = append(ids, tx.NewID(), tx.NewID())
		id := ids[len(ids)-1]
		tx.ProvedBy(id, counted(id))
		tx.Queue(sqlTake, id)
		return nil
	}))
	require.Len(t, ids, 6)
	require.NotEqual(t, ids[0], ids[1])
	require.Equal(t, ids[:2], ids[2:4])
	require.Equal(t, ids[:2], ids[4:])
	require.EqualValues(t, 1, count(t, d, ids[1]))
}

// An id that is another one in each try proves nothing: two tries could be committed.
func TestOnlyIDsThatTriesShareProveACommit(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(1000))
	runs := 0
	require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		runs++
		tx.ProvedBy(uuid.New(), func(context.Context, db.Querier) (bool, error) { return false, nil })
		return nil
	}))
	require.Equal(t, 1, runs, "the marker was looked for")
}

// A try may be committed after it was looked up: the next one fails then because of what the first one stored, which is found.
func TestTryThatIsCommittedAfterItWasLookedUp(t *testing.T) {
	t.Parallel()
	insert := counters.Insert(`(company_id, kind, n) VALUES ($1, 'test', 1)`)
	run := func(fail func(context.Context, *db.Tx) error) (company uuid.UUID, runs int, err error) {
		company = uuid.New()
		asked := 0
		err = failing(t, lostAnswer(1)).RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			runs++
			tx.Queue(insert, company)
			return fail(ctx, tx)
		}, db.WithCommitCheck(func(ctx context.Context, q db.Querier) (bool, error) {
			if asked++; asked == 1 {
				return false, nil
			}
			return counted(company)(ctx, q)
		}))
		return company, runs, err
	}
	company, runs, err := run(func(context.Context, *db.Tx) error { return nil })
	require.NoError(t, err)
	require.Equal(t, 2, runs)
	require.EqualValues(t, 1, count(t, dbtest.Open(t), company))

	company, runs, err = run(func(ctx context.Context, tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT 1`).Scan(nil) })
	require.ErrorIs(t, err, db.ErrOutcomeUnknown, "the function has no result")
	require.Equal(t, 2, runs)
	require.EqualValues(t, 1, count(t, dbtest.Open(t), company))
}

// A try that would prove its commit by something else than one whose outcome is unknown is not made: both could be committed.
func TestTriesInDoubtHaveOneProof(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(1))
	runs := 0
	var ids []uuid.UUID
	err := d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		runs++
		for range runs {
			ids = append(ids, tx.NewID())
		}
		id := ids[len(ids)-1]
		tx.ProvedBy(id, func(context.Context, db.Querier) (bool, error) { return false, nil }) // it is committed after it was looked up
		tx.Queue(sqlTake, id)
		return nil
	})
	require.ErrorIs(t, err, db.ErrOutcomeUnknown)
	require.Equal(t, 2, runs)
	require.EqualValues(t, 1, count(t, d, ids[0]))
	require.Zero(t, count(t, d, ids[len(ids)-1]))
}

// cutAtCommit is the address of the database behind a proxy that keeps the answers to the first n commits to itself, and closes the
// connection instead.
func cutAtCommit(t *testing.T, n int64) string {
	t.Helper()
	server, err := url.Parse(dbtest.URL(t))
	require.NoError(t, err)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	left := atomic.Int64{}
	left.Store(n)
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Host)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(to, client); _ = to.Close() }()
			go func() {
				defer client.Close()
				buf := make([]byte, 64<<10)
				for {
					n, err := to.Read(buf)
					if err != nil || bytes.Contains(buf[:n], []byte("COMMIT\x00")) && left.Add(-1) >= 0 {
						return
					}
					if _, err := client.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return urlAt(t, ln.Addr().String())
}

// The connection breaks after the server has committed: alone, or together with the writes that COMMIT travels with.
func TestLostConnectionAfterTheCommit(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: cutAtCommit(t, 2), MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	for _, write := range []func(tx *db.Tx, company uuid.UUID){
		func(tx *db.Tx, company uuid.UUID) { tx.Queue(sqlTake, company) },
		func(tx *db.Tx, company uuid.UUID) { tx.Queue(sqlTake, company).Expect(1, nil) },
	} {
		company, runs := uuid.New(), 0
		require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			runs++
			write(tx, company)
			return nil
		}))
		require.Equal(t, 1, runs)
		require.EqualValues(t, 1, count(t, d, company))
	}
}

// A transaction that reads only has a marker too: it is sure of its end.
func TestLostAnswerOfAReadIsFoundByTheMarker(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(1000))
	runs := 0
	require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		runs++
		var one int
		return tx.QueryRow(ctx, `SELECT 1`).Scan(&one)
	}))
	require.Equal(t, 1, runs)
}

func TestLostAnswerIsFoundByTheCommitCheck(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(1000))
	company := uuid.New()
	runs, err := takeAndCount(t.Context(), d, company, db.WithCommitCheck(counted(company)))
	require.NoError(t, err)
	require.Equal(t, 1, runs)
	require.EqualValues(t, 1, count(t, d, company))
}

// Where the commit check says that nothing happened the transaction is run again.
func TestFactThatIsAbsentMeansAnotherTry(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(2))
	company := uuid.New()
	asked := 0
	runs, err := takeAndCount(t.Context(), d, company, db.WithCommitCheck(func(context.Context, db.Querier) (bool, error) {
		asked++
		return false, nil
	}))
	require.NoError(t, err)
	require.Equal(t, 2, asked)
	require.Equal(t, 3, runs)
	require.EqualValues(t, 3, count(t, d, company), "the commit check is believed even if it is wrong")
}

func TestRepeatableIsRunAgainWithoutLooking(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(2))
	company := uuid.New()
	runs, err := takeAndCount(t.Context(), d, company, db.Repeatable())
	require.NoError(t, err)
	require.Equal(t, 3, runs)
	require.EqualValues(t, 3, count(t, d, company))
}

// A look-up that fails now and then is patient; one that fails always ends in an error that claims neither outcome.
func TestFailingLookUpSaysThatTheOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(1000))
	company := uuid.New()
	down := errors.New("no route to the database")
	asked := 0
	runs, err := takeAndCount(t.Context(), d, company, db.WithCommitCheck(func(ctx context.Context, q db.Querier) (bool, error) {
		if asked++; asked < 4 {
			return false, down
		}
		return counted(company)(ctx, q)
	}))
	require.NoError(t, err)
	require.Equal(t, 4, asked)
	require.Equal(t, 1, runs)

	runs, err = takeAndCount(t.Context(), d, company, db.WithCommitCheck(func(context.Context, db.Querier) (bool, error) { return false, down }))
	require.ErrorContains(t, err, "unknown outcome")
	require.ErrorIs(t, err, down)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, db.ErrBusy, "busy would promise that nothing was stored")
	require.Equal(t, 1, runs)
}

// The look-up does not go on past the caller's deadline.
func TestLookUpStopsAtTheDeadline(t *testing.T) {
	t.Parallel()
	d := failing(t, lostAnswer(1000))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := 0
	_, err := takeAndCount(ctx, d, uuid.New(), db.WithCommitCheck(func(context.Context, db.Querier) (bool, error) {
		if asked++; asked == 2 {
			cancel()
		}
		return false, errors.New("down")
	}))
	require.ErrorContains(t, err, "unknown outcome")
	require.Equal(t, 2, asked)
}

// Exactly once under chaos: each successful call counts one, each failed one none, whatever went wrong on the way.
func TestChaosCountsExactlyOnce(t *testing.T) {
	t.Parallel()
	cfg := db.Config{URL: dbtest.URL(t), MaxConns: 8, Inject: db.Chaos(0.2, 0)}
	d, err := db.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	undo := errors.New("undo")
	const workers, each = 6, 40
	companies := make([]uuid.UUID, 3)
	for i := range companies {
		companies[i] = uuid.New()
	}
	var mu sync.Mutex
	model := map[uuid.UUID]int64{}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				company := companies[(w+i)%len(companies)]
				err := d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
					var n int64
					if err := tx.ReturningRow(ctx, sqlTake, company).Scan(&n); err != nil {
						return err
					}
					if i%5 == 4 {
						return undo
					}
					tx.Queue(sqlTake, company)
					return nil
				})
				mu.Lock()
				switch {
				case err == nil:
					model[company] += 2
				case !errors.Is(err, undo) && !errors.Is(err, db.ErrBusy):
					t.Errorf("unexpected: %v", err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	var total int64
	for _, company := range companies {
		require.Equal(t, model[company], count(t, d, company))
		total += model[company]
	}
	require.Positive(t, total)
}
