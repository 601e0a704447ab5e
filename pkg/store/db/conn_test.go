package db_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// A company with as much work as it likes leaves connections to others, whatever its work does with them.
func TestOneCompanyDoesNotUseUpThePool(t *testing.T) {
	t.Parallel()
	dbtest.Open(t)
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	busy, quiet := tenant.With(t.Context(), tenant.NewID()), tenant.With(t.Context(), tenant.NewID())
	release, running := make(chan struct{}), new(atomic.Int64)
	hold := func() {
		running.Add(1)
		<-release
	}
	ways := []func() error{
		func() error {
			return d.RunTx(busy, "hold", func(ctx context.Context, tx *db.Tx) error {
				err := tx.QueryRow(ctx, `SELECT 1`).Scan(nil)
				hold()
				// Nobody else of the company can take a connection now, but this transaction holds one already.
				return errors.Join(err, d.QueryRow(ctx, `SELECT 1`).Scan(nil))
			}, db.Repeatable())
		},
		func() error {
			rows, err := d.Query(busy, `SELECT 1`)
			if err != nil {
				return err
			}
			defer rows.Close()
			hold()
			return rows.Err()
		},
		func() error {
			return d.ReadSnapshot(busy, 0, func(db.Querier) error { hold(); return nil })
		},
		func() error {
			b := &pgx.Batch{}
			b.Queue(`SELECT 1`)
			res := d.SendBatch(busy, b)
			hold()
			return res.Close()
		},
	}
	var all sync.WaitGroup
	errs := make([]error, 5*len(ways))
	for i := range errs {
		all.Go(func() { errs[i] = ways[i%len(ways)]() })
	}
	require.Eventually(t, func() bool { return running.Load() == 2 }, time.Minute, time.Millisecond)
	for range 20 {
		require.NoError(t, d.QueryRow(quiet, `SELECT 1`).Scan(nil))
		_, err := d.Exec(quiet, `SELECT 1`)
		require.NoError(t, err)
		require.NoError(t, d.RunTx(quiet, "quick", func(ctx context.Context, tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT 1`).Scan(nil) }, db.Repeatable()))
	}
	require.EqualValues(t, 2, running.Load())
	close(release)
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.EqualValues(t, 0, d.Pool().Stat().AcquiredConns())
}
