package db_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

const sqlSum = `SELECT sum(n)::BIGINT FROM counters WHERE company_id = $1`

// withdraw runs two transactions at once that each take 8 from an account of their own if both accounts together
// hold at least 10. Each has read before the other writes. It returns what is left of 10.
func withdraw(t *testing.T, opts ...db.Option) (left int64, runs int) {
	t.Helper()
	return withdrawAfter(t, func(context.Context, *db.Tx, uuid.UUID, string) error { return nil }, opts...)
}

// withdrawAfter is [withdraw] with a statement of its own in front of each transaction.
func withdrawAfter(t *testing.T, start func(ctx context.Context, tx *db.Tx, company uuid.UUID, kind string) error, opts ...db.Option) (left int64, runs int) {
	t.Helper()
	d := failing(t, nil)
	company := uuid.New()
	for _, kind := range []string{"a", "b"} {
		_, err := d.Write(t.Context(), sqlAdd, company, kind, 5)
		require.NoError(t, err)
	}
	var mu sync.Mutex
	var both, done sync.WaitGroup
	both.Add(2)
	for _, kind := range []string{"a", "b"} {
		done.Go(func() {
			first := true
			err := d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				mu.Lock()
				runs++
				mu.Unlock()
				if err := start(ctx, tx, company, kind); err != nil {
					return err
				}
				var sum int64
				err := tx.QueryRow(ctx, sqlSum, company).Scan(&sum)
				if first && err == nil {
					first = false
					both.Done()
					both.Wait()
				}
				if err != nil || sum < 10 {
					return err
				}
				tx.Queue(counters.Update(`SET n = n - 8 WHERE company_id = $1 AND kind = $2`), company, kind).Expect(1, nil)
				return nil
			}, opts...)
			if err != nil {
				t.Errorf("withdraw from %s: %v", kind, err)
			}
		})
	}
	done.Wait()
	require.NoError(t, d.QueryRow(t.Context(), sqlSum, company).Scan(&left))
	return left, runs
}

// A read alone is never refused for what others write; a transaction always says what it needs.
func TestIsolationOfStatementsAndTransactions(t *testing.T) {
	t.Parallel()
	d := failing(t, nil)
	var got string
	require.NoError(t, d.QueryRow(t.Context(), sqlIsolation).Scan(&got))
	require.Equal(t, map[db.Dialect]string{db.PostgreSQL: "repeatable read", db.CockroachDB: "serializable"}[d.Dialect()], got)
	require.NoError(t, d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, sqlIsolation).Scan(&got)
	}))
	require.Equal(t, "serializable", got)
}

// Two transactions that are right alone are right together: one of them is run again and sees what the other did.
func TestSerializablePreventsWriteSkew(t *testing.T) {
	t.Parallel()
	left, runs := withdraw(t)
	require.EqualValues(t, 2, left)
	require.GreaterOrEqual(t, runs, 3)
}

// The option does lower the isolation: the same two transactions overdraw the accounts.
func TestReadCommittedAllowsWriteSkew(t *testing.T) {
	t.Parallel()
	left, runs := withdraw(t, db.ReadCommitted())
	require.EqualValues(t, -6, left)
	require.Equal(t, 2, runs)
}

// On PostgreSQL the savepoint protocol would drop the error of COMMIT: it is not used there, even when asked for.
func TestSavepointProtocolIsNotForPostgreSQL(t *testing.T) {
	t.Parallel()
	watch := &statements{}
	dbtest.Only(t, db.PostgreSQL, "on CockroachDB the protocol is right")
	d := watched(t, watch, db.Config{SavepointRetry: true})
	company := uuid.New()
	runs, err := takeAndCount(t.Context(), d, company)
	require.NoError(t, err)
	require.Equal(t, 1, runs)
	require.EqualValues(t, 1, count(t, d, company))
	require.Contains(t, watch.text(), "commit")
	require.NotContains(t, watch.text(), "savepoint")

	// The commit is the transaction's own, so a refusal of it is seen: a deferred constraint fails only there.
	err = d.RunTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `CREATE TEMPORARY TABLE late (n INT4 UNIQUE DEFERRABLE INITIALLY DEFERRED) ON COMMIT DROP`); err != nil {
			return err
		}
		_, err := tx.Write(ctx, db.Table("late").Insert(`(n) VALUES (1), (1)`))
		return err
	})
	require.ErrorContains(t, err, "late_n_key")
}
