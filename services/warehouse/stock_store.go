package warehouse

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

// columns holds deltas as arrays for unnest.
type columns struct {
	ids, warehouses, products, variants []uuid.UUID
	qty, reserved                       []money.Qty
}

func columnsOf(deltas []trade.StockDelta) (c columns) {
	for _, d := range deltas {
		c.ids = append(c.ids, record.NewID())
		c.warehouses, c.products, c.variants = append(c.warehouses, d.Warehouse), append(c.products, d.Product), append(c.variants, d.Variant)
		c.qty, c.reserved = append(c.qty, d.Qty), append(c.reserved, d.Reserved)
	}
	return c
}

// A reservation does not change updated_at, which is the time of the last movement.
const sqlReserve = `INSERT INTO stocks (company_id, warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at)
SELECT $1, u.w, u.p, u.v, u.i, 0, u.r, 0, 1, $7::BIGINT, $8::TIMESTAMPTZ, $8::TIMESTAMPTZ
FROM unnest($2::UUID[], $3::UUID[], $4::UUID[], $5::UUID[], $6::DECIMAL[]) AS u(w, p, v, i, r)
ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO UPDATE
SET reserved = stocks.reserved + excluded.reserved, version = stocks.version + 1, ev_pos = GREATEST(stocks.ev_pos + 1, excluded.ev_pos)`

func upsertStocks(tx *db.Tx, company tenant.ID, deltas []trade.StockDelta) {
	c := columnsOf(deltas)
	tx.Queue(sqlReserve, company, c.warehouses, c.products, c.variants, c.ids, c.reserved, tx.Now().UnixMicro(), tx.Now()).Expect(int64(len(deltas)), nil)
}

// An UPDATE with a join locks rows in an order chosen by the planner, so this statement first locks them in the common order.
const sqlLockStocks = `SELECT product_id FROM stocks WHERE company_id = $1
AND (warehouse_id, product_id, variant_id) IN (SELECT u.w, u.p, u.v FROM unnest($2::UUID[], $3::UUID[], $4::UUID[]) AS u(w, p, v))
ORDER BY warehouse_id, product_id, variant_id FOR UPDATE`

func lockStocks(tx *db.Tx, company tenant.ID, deltas []trade.StockDelta) {
	if len(deltas) > 1 {
		c := columnsOf(deltas)
		tx.Queue(sqlLockStocks, company, c.warehouses, c.products, c.variants)
	}
}

const sqlReserveAvailable = `UPDATE stocks SET reserved = stocks.reserved + u.r, version = stocks.version + 1, ev_pos = GREATEST(stocks.ev_pos + 1, $6::BIGINT)
FROM unnest($2::UUID[], $3::UUID[], $4::UUID[], $5::DECIMAL[]) AS u(w, p, v, r)
WHERE stocks.company_id = $1 AND stocks.warehouse_id = u.w AND stocks.product_id = u.p AND stocks.variant_id = u.v
AND (u.r <= 0 OR stocks.qty - stocks.reserved >= u.r)
RETURNING stocks.product_id, stocks.variant_id`

func updateAvailable(tx *db.Tx, company tenant.ID, deltas []trade.StockDelta) *db.Queued {
	c := columnsOf(deltas)
	return tx.Queue(sqlReserveAvailable, company, c.warehouses, c.products, c.variants, c.reserved, tx.Now().UnixMicro())
}

const sqlMoveStocks = `INSERT INTO stocks (company_id, warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at)
SELECT $1, u.w, u.p, u.v, u.i, u.q, u.r, 0, 1, $8::BIGINT, $9::TIMESTAMPTZ, $9::TIMESTAMPTZ
FROM unnest($2::UUID[], $3::UUID[], $4::UUID[], $5::UUID[], $6::DECIMAL[], $7::DECIMAL[]) AS u(w, p, v, i, q, r)
ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO UPDATE
SET qty = stocks.qty + excluded.qty, reserved = stocks.reserved + excluded.reserved, version = stocks.version + 1,
    ev_pos = GREATEST(stocks.ev_pos + 1, excluded.ev_pos), updated_at = excluded.updated_at
RETURNING warehouse_id, product_id, variant_id, qty, reserved`

type rowKey struct {
	warehouse uuid.UUID
	key       trade.StockKey
}

type level struct{ Qty, Reserved money.Qty }

// moveStocks applies the deltas and returns the new quantities of each row.
func moveStocks(ctx context.Context, tx *db.Tx, company tenant.ID, deltas []trade.StockDelta) (map[rowKey]level, error) {
	c := columnsOf(deltas)
	rows, err := tx.Query(ctx, sqlMoveStocks, company, c.warehouses, c.products, c.variants, c.ids, c.qty, c.reserved, tx.Now().UnixMicro(), tx.Now())
	if err != nil {
		return nil, fmt.Errorf("move stock: %w", err)
	}
	levels := map[rowKey]level{}
	var at rowKey
	var l level
	_, err = pgx.ForEachRow(rows, []any{&at.warehouse, &at.key.Product, &at.key.Variant, &l.Qty, &l.Reserved}, func() error {
		levels[at] = l
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read moved stock: %w", err)
	}
	return levels, nil
}

// sqlLockStock locks the row, and creates it if it does not exist.
const sqlLockStock = `INSERT INTO stocks (company_id, warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 1, $6, $7, $7)
ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO UPDATE SET version = stocks.version
RETURNING id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at`

func lockStock(ctx context.Context, tx *db.Tx, company tenant.ID, warehouse uuid.UUID, k trade.StockKey) (Stock, error) {
	st := Stock{Key: record.Key{CompanyID: company}, ProductID: k.Product, WarehouseID: warehouse}
	err := tx.QueryRow(ctx, sqlLockStock, company, warehouse, k.Product, k.Variant, record.NewID(), tx.Now().UnixMicro()-1, tx.Now()).
		Scan(append([]any{&st.ID, &st.Qty, &st.Reserved, &st.ReorderPoint}, st.Targets()...)...)
	if err != nil {
		return st, fmt.Errorf("lock stock: %w", err)
	}
	return st, nil
}

const sqlUpdateStock = `UPDATE stocks SET qty = $5, reorder_point = $6, version = $7, ev_pos = $8, updated_at = $9
WHERE company_id = $1 AND warehouse_id = $2 AND product_id = $3 AND variant_id = $4 AND version = $7 - 1`

func updateStock(tx *db.Tx, st Stock, k trade.StockKey) {
	tx.Queue(sqlUpdateStock, st.CompanyID, st.WarehouseID, k.Product, k.Variant, st.Qty, st.ReorderPoint, st.Version, st.EvPos, st.UpdatedAt).
		Expect(1, db.ErrStale)
}

const sqlInsertMovement = `INSERT INTO stock_movements (company_id, id, type, warehouse_id, warehouse_name, product_id, product_name, product_sku, variant_id, variant_sku,
delta, qty_before, qty_after, document_type, document_id, document_number, reason, created_by_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`

func insertMovement(tx *db.Tx, m Movement) {
	tx.Queue(sqlInsertMovement, m.CompanyID, m.ID, m.Type, m.WarehouseID, m.WarehouseName, m.ProductID, m.ProductName, m.ProductSKU, m.VariantID, m.VariantSKU,
		m.Delta, m.QtyBefore, m.QtyAfter, m.DocumentType, m.DocumentID, m.DocumentNumber, m.Reason, m.CreatedByID, m.CreatedAt)
}

const sqlSelectNames = `SELECT id, name FROM warehouses WHERE company_id = $1 AND id = ANY($2::UUID[])`

func selectNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	names, err := db.Map[uuid.UUID, string](ctx, q, sqlSelectNames, company, ids)
	if err != nil {
		return nil, fmt.Errorf("read names of warehouses: %w", err)
	}
	return names, nil
}

const sqlSelectTotals = `SELECT product_id, sum(qty)::DECIMAL(18,3), sum(reserved)::DECIMAL(18,3), sum(reorder_point)::DECIMAL(18,3)
FROM stocks WHERE company_id = $1 AND product_id = ANY($2::UUID[]) GROUP BY product_id`

// Totals reads the total stock of products in all warehouses of the company. Products without stock rows are omitted.
func Totals(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]trade.StockTotals, error) {
	rows, err := q.Query(ctx, sqlSelectTotals, company, products)
	return readTotals(rows, err)
}

func readTotals(rows pgx.Rows, err error) (map[uuid.UUID]trade.StockTotals, error) {
	if err != nil {
		return nil, fmt.Errorf("select stock totals: %w", err)
	}
	totals := map[uuid.UUID]trade.StockTotals{}
	var id uuid.UUID
	var qty, reserved, reorder money.Qty
	_, err = pgx.ForEachRow(rows, []any{&id, &qty, &reserved, &reorder}, func() error {
		totals[id] = trade.StockTotals{Qty: qty, Available: qty - reserved, Low: reorder > 0 && qty <= reorder}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read stock totals: %w", err)
	}
	return totals, nil
}

const sqlSelectVariantTotals = `SELECT variant_id, sum(qty)::DECIMAL(18,3), sum(reserved)::DECIMAL(18,3), sum(reorder_point)::DECIMAL(18,3)
FROM stocks WHERE company_id = $1 AND product_id = $2 GROUP BY variant_id`

// VariantTotals reads the total stock of each variant of a product in all warehouses of the company. Variants without stock rows
// are omitted.
func VariantTotals(ctx context.Context, q db.Querier, company tenant.ID, product uuid.UUID) (map[uuid.UUID]trade.StockTotals, error) {
	rows, err := q.Query(ctx, sqlSelectVariantTotals, company, product)
	return readTotals(rows, err)
}
