package warehouse

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Reserves returns what the unfinished documents of a company reserve.
type Reserves func(ctx context.Context, q db.Querier, company tenant.ID) ([]trade.StockDelta, error)

// ReconcilerConfig configures a [Reconciler].
type ReconcilerConfig struct {
	DB        *db.DB
	Reserves  Reserves
	Companies func(ctx context.Context, after tenant.ID) ([]tenant.ID, error) // the next companies in order of their ids; none at the end
	Log       *slog.Logger
}

// Reconciler compares stock with the movements and reserves that it is the sum of; see docs/architecture.md#stock-check.
type Reconciler struct{ cfg ReconcilerConfig }

// NewReconciler returns a reconciler.
func NewReconciler(cfg ReconcilerConfig) *Reconciler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Reconciler{cfg}
}

// Quantities that can differ.
const (
	fieldQty      = "qty"
	fieldReserved = "reserved"
)

// Difference is a quantity of a stock row that is not the sum of its parts.
type Difference struct {
	WarehouseID uuid.UUID `json:"warehouseId"`
	ProductID   uuid.UUID `json:"productId"`
	VariantID   uuid.UUID `json:"variantId"` // zero = none
	Field       string    `json:"field"`     // qty or reserved
	Stored      money.Qty `json:"stored"`
	Expected    money.Qty `json:"expected"`
}

func (d Difference) key() trade.StockKey {
	return trade.StockKey{Product: d.ProductID, Variant: d.VariantID}
}

// checkAt is the hour of the nightly check in UTC.
const checkAt = 3

// Run checks all companies every night while owner says that this process is in charge, until ctx is done.
func (r *Reconciler) Run(ctx context.Context, owner func() bool) {
	for {
		t := time.NewTimer(untilNight(time.Now().UTC()))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		if err := r.CheckAll(telemetry.Untraced(ctx), owner); err != nil && ctx.Err() == nil {
			r.cfg.Log.WarnContext(ctx, "stock check failed", "error", err)
		}
	}
}

func untilNight(now time.Time) time.Duration {
	next := time.Date(now.Year(), now.Month(), now.Day(), checkAt, 0, 0, 0, time.UTC)
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next.Sub(now)
}

// CheckAll checks one company after the other as long as owner agrees, logs every difference and counts them.
func (r *Reconciler) CheckAll(ctx context.Context, owner func() bool) error {
	found := 0
	defer func() { differences.Set(float64(found)) }()
	for after := (tenant.ID{}); ; {
		companies, err := r.cfg.Companies(ctx, after)
		if err != nil || len(companies) == 0 {
			return err
		}
		for _, id := range companies {
			if !owner() {
				found = 0 // another process counts now
				return nil
			}
			all, err := r.Check(ctx, id)
			if err != nil {
				return err
			}
			for _, d := range all {
				r.cfg.Log.ErrorContext(ctx, "stock differs", "company_id", id, "warehouse_id", d.WarehouseID, "product_id", d.ProductID,
					"variant_id", d.VariantID, "field", d.Field, "stored", d.Stored.String(), "expected", d.Expected.String())
			}
			found += len(all)
			checked.Inc()
		}
		after = companies[len(companies)-1]
	}
}

// Check returns the differences in the stock of a company.
func (r *Reconciler) Check(ctx context.Context, company tenant.ID) ([]Difference, error) {
	all, err := r.checkMovements(ctx, company)
	if err != nil {
		return nil, err
	}
	reserved, err := r.checkReserves(ctx, company)
	return append(all, reserved...), err
}

const (
	sqlSelectPageEnd = `SELECT product_id FROM stocks WHERE company_id = $1 AND product_id > $2 ORDER BY product_id LIMIT 1 OFFSET 999`

	sqlSelectMoved = `SELECT warehouse_id, product_id, variant_id, sum(qty)::DECIMAL(18,3), sum(moved)::DECIMAL(18,3) FROM (
SELECT warehouse_id, product_id, variant_id, qty, 0 AS moved FROM stocks WHERE company_id = $1 AND product_id > $2 AND product_id <= $3
UNION ALL
SELECT warehouse_id, product_id, COALESCE(variant_id, '00000000-0000-0000-0000-000000000000'), 0, delta FROM stock_movements WHERE company_id = $1 AND product_id > $2 AND product_id <= $3
) AS parts GROUP BY warehouse_id, product_id, variant_id HAVING sum(qty) <> sum(moved) ORDER BY warehouse_id, product_id, variant_id NULLS LAST`
)

// checkMovements compares physical quantities with the sums of their movements, about 1000 stock rows at a time.
func (r *Reconciler) checkMovements(ctx context.Context, company tenant.ID) (all []Difference, err error) {
	for after := uuid.Nil; after != uuid.Max; {
		end := uuid.Max
		err := r.cfg.DB.QueryRow(ctx, sqlSelectPageEnd, company, after).Scan(&end)
		if err != nil && !db.IsNoRows(err) {
			return nil, fmt.Errorf("select page of stock: %w", err)
		}
		rows, err := r.cfg.DB.Query(ctx, sqlSelectMoved, company, after, end)
		if err != nil {
			return nil, fmt.Errorf("compare stock with movements: %w", err)
		}
		d := Difference{Field: fieldQty}
		if _, err := pgx.ForEachRow(rows, []any{&d.WarehouseID, &d.ProductID, &d.VariantID, &d.Stored, &d.Expected}, func() error {
			all = append(all, d)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("compare stock with movements: %w", err)
		}
		after = end
	}
	return all, nil
}

const sqlSelectReserved = `SELECT warehouse_id, product_id, variant_id, reserved FROM stocks WHERE company_id = $1 AND reserved <> 0`

// checkReserves compares reserved quantities with what documents reserve, both of one snapshot.
func (r *Reconciler) checkReserves(ctx context.Context, company tenant.ID) ([]Difference, error) {
	rows := map[rowKey]Difference{}
	var held []trade.StockDelta
	err := batchloader.Load(ctx, r.cfg.DB, func(ctx context.Context, q db.Querier) error {
		stored, err := q.Query(ctx, sqlSelectReserved, company)
		if err != nil {
			return err
		}
		d := Difference{Field: fieldReserved}
		_, err = pgx.ForEachRow(stored, []any{&d.WarehouseID, &d.ProductID, &d.VariantID, &d.Stored}, func() error {
			rows[rowKey{d.WarehouseID, d.key()}] = d
			return nil
		})
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		held, err = r.cfg.Reserves(ctx, q, company)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("compare stock with reserves: %w", err)
	}
	for _, h := range held {
		d := rows[rowOf(h)]
		d.WarehouseID, d.ProductID, d.VariantID, d.Field, d.Expected = h.Warehouse, h.Product, h.Variant, fieldReserved, d.Expected+h.Reserved
		rows[rowOf(h)] = d
	}
	var all []Difference
	for _, d := range rows {
		if d.Stored != d.Expected {
			all = append(all, d)
		}
	}
	return all, nil
}

const sqlSumMovements = `SELECT COALESCE(sum(delta), 0)::DECIMAL(18,3) FROM stock_movements
WHERE company_id = $1 AND product_id = $2 AND warehouse_id = $3 AND COALESCE(variant_id, '00000000-0000-0000-0000-000000000000') = $4`

var sqlRepairStock = stocks.Update(`SET qty = $3, reserved = $4, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $5::BIGINT), updated_at = $6 WHERE company_id = $1 AND id = $2`)

// Repair sets both quantities of the row of a difference to the sums of their parts. It records no movement: the movements are
// what the quantity must be. The transaction is READ COMMITTED: whoever changes the parts locks the row, so that what is read
// after the lock is complete.
func (r *Reconciler) Repair(ctx context.Context, tx *db.Tx, company tenant.ID, d Difference) error {
	st, err := lockStock(ctx, tx, company, d.WarehouseID, d.key())
	if err != nil {
		return err
	}
	var qty, reserved money.Qty
	if err := tx.QueryRow(ctx, sqlSumMovements, company, d.ProductID, d.WarehouseID, d.VariantID).Scan(&qty); err != nil {
		return fmt.Errorf("sum movements: %w", err)
	}
	held, err := r.cfg.Reserves(ctx, tx, company)
	if err != nil {
		return err
	}
	for _, h := range held {
		if h.Warehouse == d.WarehouseID && h.StockKey == d.key() {
			reserved += h.Reserved
		}
	}
	if qty != st.Qty || reserved != st.Reserved {
		tx.Queue(sqlRepairStock, company, st.ID, qty, reserved, tx.Now().UnixMicro(), tx.Now()).Expect(1, nil)
		markChanged(tx, company, []trade.StockDelta{{Warehouse: d.WarehouseID, StockKey: d.key(), Qty: qty - reserved - st.Available}})
	}
	return nil
}
