package db_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Tables make the statements that change them, once, when the program starts.
const orders = db.Table("orders")

const sqlLockOrder = `SELECT status FROM orders WHERE company_id = $1 AND id = $2 FOR UPDATE`

var sqlCancelOrder = orders.Update(`SET status = 'cancelled', updated_at = $3 WHERE company_id = $1 AND id = $2`)

var errCompleted = apierr.New(http.StatusConflict, "ORDER_COMPLETED", "the order is completed and cannot be cancelled any more")

// A change: the record is locked, a rule decides, and the write travels with the COMMIT. The function may run several times, so it
// touches the transaction only.
func ExampleDB_RunTx() {
	cancelOrder := func(ctx context.Context, d *db.DB, company tenant.ID, id uuid.UUID) error {
		return d.RunTx(ctx, "orders.cancel", func(ctx context.Context, tx *db.Tx) error {
			var status string
			err := tx.Lock(ctx, sqlLockOrder, company, id).Scan(&status)
			switch {
			case db.IsNoRows(err):
				return apierr.NotFound("ORDER", id.String())
			case err != nil:
				return fmt.Errorf("lock order: %w", err)
			case status == "completed":
				return errCompleted // nothing is stored
			}
			tx.Queue(sqlCancelOrder, company, id, tx.Now())
			return nil
		})
	}
	_ = cancelOrder
}
