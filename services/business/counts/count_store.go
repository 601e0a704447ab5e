package counts

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const sqlSelectOpen = `SELECT product_id, COALESCE(variant_id, '00000000-0000-0000-0000-000000000000'), count_id FROM stock_count_lines
WHERE company_id = $1 AND open_in = $2 AND product_id = ANY($3::UUID[])`

// openGoods are the goods that open counts of the warehouse have already, each with its count.
func openGoods(ctx context.Context, q db.Querier, c *Count, in []stockdoc.ItemInput) (map[trade.StockKey]uuid.UUID, error) {
	products := make([]uuid.UUID, len(in))
	for i := range in {
		products[i] = *in[i].ProductID
	}
	rows, err := q.Query(ctx, sqlSelectOpen, c.CompanyID, c.WarehouseID, products)
	if err != nil {
		return nil, fmt.Errorf("select open counts: %w", err)
	}
	taken := map[trade.StockKey]uuid.UUID{}
	var k trade.StockKey
	var id uuid.UUID
	if _, err := pgx.ForEachRow(rows, []any{&k.Product, &k.Variant, &id}, func() error { taken[k] = id; return nil }); err != nil {
		return nil, fmt.Errorf("read open counts: %w", err)
	}
	return taken, nil
}

// checkOverlaps returns a 409 if one of the lines is about goods that an open count has, or another of the lines: two counts of the same
// goods would correct the same difference twice.
func checkOverlaps(c *Count, lines []Line, taken map[trade.StockKey]uuid.UUID) error {
	for i := range lines {
		l := &lines[i]
		if id, is := taken[l.Key()]; is {
			return apierr.StateConflict("STOCK_COUNT_OVERLAPS", "an open count has the product %s already; record its quantity there, or post or cancel that count first", l.ProductSKU).
				With("productId", l.ProductID).With("variantId", l.VariantID).With("countId", id)
		}
		taken[l.Key()] = c.ID
	}
	return nil
}
