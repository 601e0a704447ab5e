package catalog

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// StockItem is what a stock record shows of a product.
type StockItem struct {
	ID           uuid.UUID
	Name         string
	SKU          string
	CategoryID   *uuid.UUID
	CategoryName *string
	HasStock     bool
}

const sqlSelectStockItems = `SELECT p.id, p.name, p.sku, p.category_id, c.name, p.has_stock
FROM products p LEFT JOIN categories c ON c.company_id = p.company_id AND c.id = p.category_id
WHERE p.company_id = $1 AND p.id = ANY($2::UUID[])`

// StockItems reads products for stock records; ids of nothing are left out.
func (s *Service) StockItems(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]StockItem, error) {
	rows, err := q.Query(ctx, sqlSelectStockItems, company, ids)
	if err != nil {
		return nil, fmt.Errorf("select products of stock records: %w", err)
	}
	return pgx.CollectRows(rows, db.RowTo(func(i *StockItem) []any {
		return []any{&i.ID, &i.Name, &i.SKU, &i.CategoryID, &i.CategoryName, &i.HasStock}
	}))
}
