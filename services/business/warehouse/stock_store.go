package warehouse

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

const stocks = db.Table("stocks")

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

// stockFK is the foreign key that rejects stock in deleted warehouses.
const stockFK = "stocks_warehouse_fkey"

const returningLevels = ` RETURNING warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at`

// A reservation does not change updated_at, which is indexed: [Announcer] does, about once a second. Documents that are stored together change a
// row once, in the order in which all documents lock stock rows.
var sqlReserve = stocks.InsertRows(`(company_id, warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at)
SELECT u.c, u.w, u.p, u.v, min(u.i)::UUID, 0, sum(u.r), 0, 1, min(u.pos), min(u.at), min(u.at)
FROM unnest($1::UUID[], $2::UUID[], $3::UUID[], $4::UUID[], $5::TEXT[], $6::DECIMAL[], $7::BIGINT[], $8::TIMESTAMPTZ[]) AS u(c, w, p, v, i, r, pos, at)
GROUP BY u.c, u.w, u.p, u.v ORDER BY u.c, u.w, u.p, u.v
ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO UPDATE
SET reserved = stocks.reserved + excluded.reserved, version = stocks.version + 1, ev_pos = GREATEST(stocks.ev_pos + 1, excluded.ev_pos)` + returningLevels)

// reserveStocks queues the changes of reserved quantities. check, which may be nil, is called with the rows after them; without
// it, they are joined with those of other documents.
func reserveStocks(tx *db.Tx, company tenant.ID, deltas []trade.StockDelta, check func(after map[rowKey]Stock) error) {
	n := len(deltas)
	c := columnsOf(deltas)
	ids := make([]string, n)
	for i, id := range c.ids {
		ids[i] = id.String()
	}
	q := tx.QueueRows(sqlReserve, slices.Repeat([]tenant.ID{company}, n), c.warehouses, c.products, c.variants, ids, c.reserved,
		slices.Repeat([]int64{tx.Now().UnixMicro()}, n), slices.Repeat([]time.Time{tx.Now()}, n)).OnConstraint(stockFK, errDeleted)
	defer markChanged(tx, company, deltas)
	if check == nil {
		return
	}
	q.Rows(func(rows pgx.Rows) error {
		after, err := readLevels(rows)
		if err != nil {
			return err
		}
		return check(after)
	})
}

var sqlMoveStocks = stocks.Insert(`(company_id, warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at)
SELECT $1, u.w, u.p, u.v, u.i, u.q, u.r, 0, 1, $8::BIGINT, $9::TIMESTAMPTZ, $9::TIMESTAMPTZ
FROM unnest($2::UUID[], $3::UUID[], $4::UUID[], $5::UUID[], $6::DECIMAL[], $7::DECIMAL[]) AS u(w, p, v, i, q, r)
ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO UPDATE
SET qty = stocks.qty + excluded.qty, reserved = stocks.reserved + excluded.reserved, version = stocks.version + 1,
    ev_pos = GREATEST(stocks.ev_pos + 1, excluded.ev_pos), updated_at = excluded.updated_at` + returningLevels)

// moveStocks applies the deltas and returns each row after the change, without its product.
func moveStocks(ctx context.Context, tx *db.Tx, company tenant.ID, deltas []trade.StockDelta) (after map[rowKey]Stock, err error) {
	c := columnsOf(deltas)
	tx.Queue(sqlMoveStocks, company, c.warehouses, c.products, c.variants, c.ids, c.qty, c.reserved, tx.Now().UnixMicro(), tx.Now()).
		OnConstraint(stockFK, errDeleted).Rows(func(rows pgx.Rows) (err error) {
		after, err = readLevels(rows)
		return err
	})
	markChanged(tx, company, deltas)
	if err := tx.Flush(ctx); err != nil {
		return nil, fmt.Errorf("move stock: %w", err)
	}
	for at, st := range after {
		st.CompanyID = company
		after[at] = st
	}
	return after, nil
}

const sqlSelectAfter = `SELECT u.w, u.p, u.v, COALESCE(s.qty, 0) + u.q, COALESCE(s.reserved, 0) + u.r
FROM unnest($2::UUID[], $3::UUID[], $4::UUID[], $5::DECIMAL[], $6::DECIMAL[]) AS u(w, p, v, q, r)
LEFT JOIN stocks AS s ON s.company_id = $1 AND s.warehouse_id = u.w AND s.product_id = u.p AND s.variant_id = u.v`

// selectAfter returns the quantities that the rows would have after the deltas.
func selectAfter(ctx context.Context, q db.Querier, company tenant.ID, deltas []trade.StockDelta) (map[rowKey]Stock, error) {
	c := columnsOf(deltas)
	rows, err := q.Query(ctx, sqlSelectAfter, company, c.warehouses, c.products, c.variants, c.qty, c.reserved)
	if err != nil {
		return nil, fmt.Errorf("select stock that a document takes: %w", err)
	}
	after := make(map[rowKey]Stock, len(deltas))
	var at rowKey
	var st Stock
	if _, err := pgx.ForEachRow(rows, []any{&at.warehouse, &at.Product, &at.Variant, &st.Qty, &st.Reserved}, func() error { after[at] = st; return nil }); err != nil {
		return nil, fmt.Errorf("read stock that a document takes: %w", err)
	}
	return after, nil
}

// readLevels reads rows that a statement returned.
func readLevels(rows pgx.Rows) (map[rowKey]Stock, error) {
	levels := map[rowKey]Stock{}
	var at rowKey
	var st Stock
	targets := append([]any{&at.warehouse, &at.Product, &at.Variant, &st.ID, &st.Qty, &st.Reserved, &st.ReorderPoint}, st.Targets()...)
	_, err := pgx.ForEachRow(rows, targets, func() error {
		st.WarehouseID = at.warehouse
		levels[at] = st
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read changed stock: %w", err)
	}
	return levels, nil
}

// sqlLockStock locks the row, and creates it if it does not exist.
var sqlLockStock = stocks.Insert(`(company_id, warehouse_id, product_id, variant_id, id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 1, $6, $7, $7)
ON CONFLICT (company_id, warehouse_id, product_id, variant_id) DO UPDATE SET version = stocks.version
RETURNING id, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at`)

func lockStock(ctx context.Context, tx *db.Tx, company tenant.ID, warehouse uuid.UUID, k trade.StockKey) (Stock, error) {
	st := Stock{Key: record.Key{CompanyID: company}, WarehouseID: warehouse}
	tx.Queue(sqlLockStock, company, warehouse, k.Product, k.Variant, record.NewID(), tx.Now().UnixMicro()-1, tx.Now()).
		OnConstraint(stockFK, apierr.ReferenceNotFound("WAREHOUSE", "warehouseId", warehouse.String())).
		Rows(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, append([]any{&st.ID, &st.Qty, &st.Reserved, &st.ReorderPoint}, st.Targets()...), func() error { return nil })
			return err
		})
	if err := tx.Flush(ctx); err != nil {
		return st, fmt.Errorf("lock stock: %w", err)
	}
	st.derive()
	return st, nil
}

var sqlUpdateStock = stocks.Update(`SET qty = $3, reorder_point = $4, version = $5, ev_pos = $6, updated_at = $7 WHERE company_id = $1 AND id = $2 AND version = $5 - 1`)

func updateStock(tx *db.Tx, st Stock) {
	tx.Queue(sqlUpdateStock, st.CompanyID, st.ID, st.Qty, st.ReorderPoint, st.Version, st.EvPos, st.UpdatedAt).Expect(1, db.ErrStale)
}

var sqlInsertMovement = stockMovements.Insert(`(company_id, id, type, warehouse_id, warehouse_name, product_id, product_name, product_sku, variant_id, variant_sku,
delta, qty_before, qty_after, document_type, document_id, document_number, reason, created_by_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`)

func insertMovement(tx *db.Tx, m Movement) {
	tx.Queue(sqlInsertMovement, m.CompanyID, m.ID, m.Type, m.WarehouseID, m.WarehouseName, m.ProductID, m.ProductName, m.ProductSKU, m.VariantID, m.VariantSKU,
		m.Delta, m.QtyBefore, m.QtyAfter, m.DocumentType, m.DocumentID, m.DocumentNumber, m.Reason, m.CreatedByID, m.CreatedAt)
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
		totals[id] = trade.StockTotals{Qty: qty, Available: qty - reserved, Low: isLow(qty, reorder)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read stock totals: %w", err)
	}
	return totals, nil
}

const sqlSelectVariantTotals = `SELECT variant_id, sum(qty)::DECIMAL(18,3), sum(reserved)::DECIMAL(18,3), sum(reorder_point)::DECIMAL(18,3)
FROM stocks WHERE company_id = $1 AND product_id = ANY($2::UUID[]) GROUP BY variant_id`

// VariantTotals reads the total stock of each variant of the products in all warehouses of the company. Variants without stock rows
// are omitted.
func VariantTotals(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]trade.StockTotals, error) {
	rows, err := q.Query(ctx, sqlSelectVariantTotals, company, products)
	return readTotals(rows, err)
}
