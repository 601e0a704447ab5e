package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Listeners learn of every table that a transaction may have changed, whichever way the statement was sent, and of no other.
func TestListenersLearnWhatWasWritten(t *testing.T) {
	t.Parallel()
	d, company := watched(t, &statements{}, db.Config{}), tenant.NewID() // the listener is of this test only
	type change struct {
		company tenant.ID
		table   db.Table
	}
	var seen []change
	d.OnWritten(func(company tenant.ID, table db.Table) { seen = append(seen, change{company, table}) })
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
		seen = nil
		if err := d.RunTx(t.Context(), "test", row.run, db.Repeatable()); !errors.Is(err, errStop) {
			require.NoError(t, err, what)
		}
		require.ElementsMatch(t, row.want, seen, what)
	}
}
