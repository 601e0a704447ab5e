package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
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
		table   string
	}
	var seen []change
	d.OnWritten(func(company tenant.ID, table string) { seen = append(seen, change{company, table}) })
	errStop := errors.New("stop")
	for what, row := range map[string]struct {
		run  func(ctx context.Context, tx *db.Tx) error
		want []change
	}{
		"queued": {func(_ context.Context, tx *db.Tx) error {
			tx.Queue(`UPDATE counters SET n = n WHERE company_id = $1`, company)
			return nil
		}, []change{{company, "counters"}}},
		"run": {func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM order_lines WHERE company_id = $1`, company)
			return err
		}, []change{{company, "order_lines"}}},
		"locked": {func(ctx context.Context, tx *db.Tx) error {
			var n int64
			if err := tx.Lock(ctx, `UPDATE counters SET n = n WHERE company_id = $1 RETURNING n`, company).Scan(&n); !db.IsNoRows(err) {
				return err
			}
			return nil
		}, []change{{company, "counters"}}},
		"in a batch, within a query, without a company": {func(ctx context.Context, tx *db.Tx) error {
			b := &pgx.Batch{}
			b.Queue(`WITH gone AS (DELETE FROM counters WHERE kind = 'none' RETURNING n) SELECT n FROM gone`)
			return tx.SendBatch(ctx, b).Close()
		}, []change{{tenant.ID{}, "counters"}}},
		"rolled back": {func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO counters (company_id, kind, n) VALUES ($1, 'x', 1) ON CONFLICT (company_id, kind) DO UPDATE SET n = 1`, company)
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
		require.Equal(t, row.want, seen, what)
	}
}
