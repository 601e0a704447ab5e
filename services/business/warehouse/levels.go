package warehouse

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

const (
	sqlSelectStocked = `SELECT product_id, variant_id FROM stocks WHERE company_id = $1 AND warehouse_id = $2 ORDER BY product_id, variant_id LIMIT $3`

	sqlSelectLow = `SELECT product_id, variant_id, qty - reserved, reorder_point FROM stocks
WHERE company_id = $1 AND warehouse_id = $2 AND reorder_point > 0 AND qty - reserved <= reorder_point ORDER BY product_id, variant_id LIMIT $3`

	sqlSelectQuantities = `SELECT s.product_id, s.variant_id, s.qty FROM stocks AS s
JOIN unnest($3::UUID[], $4::UUID[]) AS u(p, v) ON s.product_id = u.p AND s.variant_id = u.v WHERE s.company_id = $1 AND s.warehouse_id = $2`
)

// StockedIn returns up to limit goods that have a stock record in a warehouse, in the order of their ids.
func (s *Service) StockedIn(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, limit int) ([]trade.StockKey, error) {
	rows, err := q.Query(ctx, sqlSelectStocked, company, warehouse, limit)
	if err != nil {
		return nil, fmt.Errorf("select stock of warehouse: %w", err)
	}
	var keys []trade.StockKey
	var k trade.StockKey
	if _, err := pgx.ForEachRow(rows, []any{&k.Product, &k.Variant}, func() error { keys = append(keys, k); return nil }); err != nil {
		return nil, fmt.Errorf("read stock of warehouse: %w", err)
	}
	return keys, nil
}

// LowStock returns up to limit goods of a warehouse of which no more is available than their reorder point, in the order of their ids.
func (s *Service) LowStock(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, limit int) ([]trade.LowStock, error) {
	rows, err := q.Query(ctx, sqlSelectLow, company, warehouse, limit)
	if err != nil {
		return nil, fmt.Errorf("select low stock: %w", err)
	}
	var all []trade.LowStock
	var l trade.LowStock
	if _, err := pgx.ForEachRow(rows, []any{&l.Product, &l.Variant, &l.Available, &l.ReorderPoint}, func() error { all = append(all, l); return nil }); err != nil {
		return nil, fmt.Errorf("read low stock: %w", err)
	}
	return all, nil
}

// Quantities returns the physical quantities in a warehouse of those goods that have a stock record there.
func (s *Service) Quantities(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, keys []trade.StockKey) (map[trade.StockKey]money.Qty, error) {
	products, variants := make([]uuid.UUID, len(keys)), make([]uuid.UUID, len(keys))
	for i, k := range keys {
		products[i], variants[i] = k.Product, k.Variant
	}
	rows, err := q.Query(ctx, sqlSelectQuantities, company, warehouse, products, variants)
	if err != nil {
		return nil, fmt.Errorf("select quantities: %w", err)
	}
	found := make(map[trade.StockKey]money.Qty, len(keys))
	var k trade.StockKey
	var qty money.Qty
	if _, err := pgx.ForEachRow(rows, []any{&k.Product, &k.Variant, &qty}, func() error { found[k] = qty; return nil }); err != nil {
		return nil, fmt.Errorf("read quantities: %w", err)
	}
	return found, nil
}
