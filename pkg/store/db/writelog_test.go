package db_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Every table that a transaction may have changed is remembered, whichever way the statement was sent, and no other.
func TestWritesAreRemembered(t *testing.T) {
	t.Parallel()
	d, company := watched(t, &statements{}, db.Config{}), tenant.NewID() // a pool of this test only, which others do not write with
	type change struct {
		company tenant.ID
		table   db.Table
	}
	since := func(start time.Time) (seen []change) {
		for _, table := range []db.Table{"counters", "order_lines", "orders", "tx_markers"} {
			switch last := func(c tenant.ID) time.Time { return d.WriteLog().Last(c, []db.Table{table}) }; {
			case !last(tenant.NewID()).Before(start):
				seen = append(seen, change{tenant.ID{}, table})
			case !last(company).Before(start):
				seen = append(seen, change{company, table})
			}
		}
		return seen
	}
	errStop := errors.New("stop")
	for what, row := range map[string]struct {
		run  func(ctx context.Context, tx *db.Tx) error
		want []change
	}{
		"queued": {func(_ context.Context, tx *db.Tx) error {
			tx.Queue(counters.Update(`SET n = n WHERE company_id = $1`), company)
			return nil
		}, []change{{company, "counters"}}},
		"run": {func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Write(ctx, db.Table("order_lines").Delete(`WHERE company_id = $1`), company)
			return err
		}, []change{{company, "order_lines"}}},
		"locked": {func(ctx context.Context, tx *db.Tx) error {
			var n int64
			if err := tx.LockBy(ctx, counters.Update(`SET n = n WHERE company_id = $1 RETURNING n`), company).Scan(&n); !db.IsNoRows(err) {
				return err
			}
			return nil
		}, []change{{company, "counters"}}},
		"returning rows, without a company": {func(ctx context.Context, tx *db.Tx) error {
			rows, err := tx.Returning(ctx, counters.Delete(`WHERE kind = 'none' RETURNING n`))
			if err == nil {
				rows.Close()
			}
			return err
		}, []change{{tenant.ID{}, "counters"}}},
		"by one row, before another write": {func(ctx context.Context, tx *db.Tx) error {
			w := counters.Insert(`(company_id, kind, n) SELECT $1, 'x', 1 FROM gone`).With("gone", db.Table("order_lines").Delete(`WHERE company_id = $1 RETURNING id`))
			if _, err := tx.Write(ctx, w, company); err != nil {
				return err
			}
			var n int64
			if err := tx.ReturningRow(ctx, counters.Update(`SET n = n WHERE company_id = $1 RETURNING n`), company).Scan(&n); !db.IsNoRows(err) {
				return err
			}
			return nil
		}, []change{{company, "counters"}, {company, "order_lines"}}},
		"rolled back": {func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Write(ctx, counters.Insert(`(company_id, kind, n) VALUES ($1, 'x', 1) ON CONFLICT (company_id, kind) DO UPDATE SET n = 1`), company)
			return errors.Join(err, errStop)
		}, []change{{company, "counters"}}},
		"read": {func(ctx context.Context, tx *db.Tx) error {
			rows, err := tx.Query(ctx, `SELECT n FROM counters WHERE company_id = $1 FOR UPDATE`, company)
			if err == nil {
				rows.Close()
			}
			return err
		}, nil},
	} {
		start := time.Now()
		if err := d.WithClock(time.Now).RunTx(t.Context(), "test", row.run, db.Repeatable()); !errors.Is(err, errStop) {
			require.NoError(t, err, what)
		}
		require.ElementsMatch(t, row.want, since(start), what)
	}
}

// What nobody can ask for any more is forgotten, so that memory does not grow with the companies that have ever written.
func TestOldWritesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		writes, old, company := &db.WriteLog{}, tenant.NewID(), tenant.NewID()
		writes.Add(old, counters)
		time.Sleep(db.WritesKept)
		require.NotZero(t, writes.Last(old, []db.Table{"orders", counters}))
		time.Sleep(time.Nanosecond)
		writes.Add(company, counters)
		require.Zero(t, writes.Last(old, []db.Table{counters}))
		require.Equal(t, time.Now(), writes.Last(company, []db.Table{counters}))
	})
}
