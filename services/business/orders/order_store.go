package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const sqlSelectOpenDue = `SELECT COALESCE(sum(total + delivery_cost - returned_amount - prepaid_amount), 0)::BIGINT FROM orders
WHERE company_id = $1 AND customer_id = $2 AND status IN ('confirmed', 'in_progress', 'ready')`

// selectOpenDue returns the sum of the amounts due of the client's open orders.
func selectOpenDue(ctx context.Context, q db.Querier, company tenant.ID, client uuid.UUID) (due money.Amount, err error) {
	if err = q.QueryRow(ctx, sqlSelectOpenDue, company, client).Scan(&due); err != nil {
		return 0, fmt.Errorf("sum open orders of client: %w", err)
	}
	return due, nil
}
