package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const (
	sqlSelectReserving = `SELECT id, warehouse_id FROM orders
WHERE company_id = $1 AND status IN ('new', 'confirmed', 'in_progress', 'ready') AND warehouse_id IS NOT NULL`

	whereReserving = `reserved_qty <> 0
AND order_id IN (SELECT id FROM orders WHERE company_id = $1 AND status IN ('new', 'confirmed', 'in_progress', 'ready') AND warehouse_id IS NOT NULL)`
)

var sqlSelectReservingLines = orderLines.Select(whereReserving)

// Reserved returns what the unfinished orders of a company reserve, for the check of its stock.
func (s *Service) Reserved(ctx context.Context, q db.Querier, company tenant.ID) ([]trade.StockDelta, error) {
	open := map[uuid.UUID]*Order{}
	b := &pgx.Batch{}
	b.Queue(sqlSelectReserving, company).Query(func(rows pgx.Rows) error {
		var id, warehouse uuid.UUID
		_, err := pgx.ForEachRow(rows, []any{&id, &warehouse}, func() error {
			at := warehouse
			open[id] = &Order{Header: Header{WarehouseID: &at}}
			return nil
		})
		return err
	})
	b.Queue(sqlSelectReservingLines, company).Query(func(rows pgx.Rows) error {
		return orderLines.Scan(rows, func(order uuid.UUID, l Line) {
			if o := open[order]; o != nil {
				o.Lines = append(o.Lines, l)
			}
		})
	})
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("select reserves of orders: %w", err)
	}
	var all []trade.StockDelta
	for _, o := range open {
		all = append(all, o.reserved(1)...)
	}
	return all, nil
}
