package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const sqlInsertPayment = `INSERT INTO order_payments (company_id, order_id, id, delta, created_by_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)`

func insertPayment(tx *db.Tx, o *Order, by access.Caller, delta money.Amount, at jsontype.Time) {
	tx.QueueRow(sqlInsertPayment, o.CompanyID, o.ID, record.NewID(), delta, actor(by), at)
}

const sqlSelectOpenDue = `SELECT COALESCE(sum(total + delivery_cost - prepaid_amount), 0)::BIGINT FROM orders
WHERE company_id = $1 AND customer_id = $2 AND status IN ('confirmed', 'in_progress', 'ready')`

// selectOpenDue returns the sum of the amounts due of the client's open orders.
func selectOpenDue(ctx context.Context, q db.Querier, company tenant.ID, client uuid.UUID) (due money.Amount, err error) {
	if err = q.QueryRow(ctx, sqlSelectOpenDue, company, client).Scan(&due); err != nil {
		return 0, fmt.Errorf("sum open orders of client: %w", err)
	}
	return due, nil
}
