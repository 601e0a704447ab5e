package purchases

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const sqlSelectExpected = `SELECT l.product_id, COALESCE(l.variant_id, '00000000-0000-0000-0000-000000000000'), sum(GREATEST(l.qty - l.received_qty, 0))::DECIMAL(18,3)
FROM purchase_orders AS o JOIN purchase_order_lines AS l ON l.company_id = o.company_id AND l.purchase_order_id = o.id
WHERE o.company_id = $1 AND o.warehouse_id = $2 AND o.status IN ('draft', 'sent', 'partly_received') AND l.product_id = ANY($3::UUID[])
GROUP BY l.product_id, l.variant_id`

// selectExpected returns what open orders, drafts included, will bring to a warehouse.
func selectExpected(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, products []uuid.UUID) (map[trade.StockKey]money.Qty, error) {
	rows, err := q.Query(ctx, sqlSelectExpected, company, warehouse, products)
	if err != nil {
		return nil, fmt.Errorf("select expected goods: %w", err)
	}
	expected := map[trade.StockKey]money.Qty{}
	var k trade.StockKey
	var qty money.Qty
	if _, err := pgx.ForEachRow(rows, []any{&k.Product, &k.Variant, &qty}, func() error { expected[k] = qty; return nil }); err != nil {
		return nil, fmt.Errorf("read expected goods: %w", err)
	}
	return expected, nil
}
