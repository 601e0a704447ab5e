package warehouse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// StockItem is a stock record in a list, or the sum of the records of a product or variant with groupBy=product.
type StockItem struct {
	ID        string    `json:"id" doc:"with groupBy=product: <productId>, or <productId>:<variantId>"`
	CompanyID tenant.ID `json:"companyId" format:"uuid"`
	StockedProduct
	WarehouseID   *uuid.UUID `json:"warehouseId" format:"uuid" nullable:"true" doc:"null with groupBy=product"`
	WarehouseName *string    `json:"warehouseName" nullable:"true" doc:"null with groupBy=product"`
	Levels
	Warehouses []PerWarehouse `json:"warehouses,omitempty" doc:"only with groupBy=product"`
	record.Meta

	id, variant uuid.UUID
}

// PerWarehouse is the share of a warehouse in a sum.
type PerWarehouse struct {
	WarehouseID   uuid.UUID `json:"warehouseId" format:"uuid"`
	WarehouseName string    `json:"warehouseName"`
	Levels

	meta record.Meta
}

// SchemaName implements [jsontype.Named].
func (PerWarehouse) SchemaName() string { return "StockPerWarehouse" }

// StockFilter filters and sorts stock records.
type StockFilter struct {
	list.Params
	Sort        string            `query:"sort" enum:"productName,productSku,qty,updatedAt"`
	WarehouseID *uuid.UUID        `query:"warehouseId" format:"uuid"`
	ProductID   *uuid.UUID        `query:"productId" format:"uuid" doc:"a product, with all its variants"`
	VariantID   *uuid.UUID        `query:"variantId" format:"uuid"`
	CategoryID  jsontype.IDOrNull `query:"categoryId" doc:"id of a category, including those below it, or null for products without one"`
	Level       []string          `query:"level" enum:"all,low,negative,reorder" maxItems:"4" doc:"low: qty at or below the reorder point; negative: qty below 0; reorder: available at or below the reorder point"`
	GroupBy     string            `query:"groupBy" enum:"product" doc:"product: one record per product or variant, summed over the warehouses; level, sort and updatedSince then apply to the sums"`
}

func (f *StockFilter) grouped() bool { return f.GroupBy != "" }

// key of the row: that of the variant, or of the product.
const sqlGroupID = `CASE WHEN variant_id = '00000000-0000-0000-0000-000000000000' THEN product_id ELSE variant_id END AS id, NULL::UUID AS warehouse_id`

// The company is the first argument of every list. Each row has a product, so a total can be counted with a LEFT JOIN, which
// the database leaves out unless a condition needs it.
const (
	joinProducts = ` JOIN products p ON p.company_id = s.company_id AND p.id = s.product_id`

	fromGroups = `(SELECT company_id, product_id, variant_id, ` + sqlGroupID + `, sum(qty)::DECIMAL(18,3) AS qty, sum(reserved)::DECIMAL(18,3) AS reserved,
sum(reorder_point)::DECIMAL(18,3) AS reorder_point, sum(version)::BIGINT AS version, max(ev_pos) AS ev_pos, min(created_at) AS created_at, max(updated_at) AS updated_at
FROM stocks WHERE company_id = $1 GROUP BY company_id, product_id, variant_id)`

	// fromKeys are the groups without their sums.
	fromKeys = `(SELECT DISTINCT company_id, product_id, variant_id, ` + sqlGroupID + ` FROM stocks WHERE company_id = $1)`

	// fromFirst and fromLast have one row of each group, the first created and the last changed, along the index of these times.
	// The sums are made for the groups of the page only, from their shares.
	fromFirst = fromOne + ` NOT EXISTS (SELECT 1 FROM stocks o WHERE o.company_id = s.company_id AND o.product_id = s.product_id AND o.variant_id = s.variant_id
AND (o.created_at, o.id) < (s.created_at, s.id)))`
	fromLast = fromOne + ` NOT EXISTS (SELECT 1 FROM stocks o WHERE o.company_id = s.company_id AND o.product_id = s.product_id AND o.variant_id = s.variant_id
AND (o.updated_at, o.id) > (s.updated_at, s.id)))`
	fromOne = `(SELECT company_id, product_id, variant_id, ` + sqlGroupID + `, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at FROM stocks s WHERE company_id = $1 AND`

	// In one warehouse a product or variant has one row.
	fromGroupsOfWarehouse = `(SELECT company_id, product_id, variant_id, ` + sqlGroupID + `, warehouse_id AS of_warehouse, qty, reserved, reorder_point, version, ev_pos, created_at, updated_at
FROM stocks WHERE company_id = $1)`
)

func stockSpec(from, count string) list.Spec {
	const collated = " COLLATE und"
	return list.Spec{
		From: from + " s" + joinProducts, Count: count + " s LEFT" + joinProducts, Reads: []db.Table{stocks, "products"}, Company: "s.company_id", ID: "s.id", Updated: "s.updated_at",
		Summed:  from == fromGroups,
		Columns: `s.id, s.company_id, s.product_id, s.variant_id, s.warehouse_id, s.qty, s.reserved, s.reorder_point, s.version, s.ev_pos, s.created_at, s.updated_at`,
		Sorts: map[string]list.Sort{
			"productName": {Column: "p.name" + collated, Type: "TEXT" + collated},
			"productSku":  {Column: "p.sku" + collated, Type: "TEXT" + collated},
			"qty":         {Column: "s.qty", Type: "DECIMAL"},
			"updatedAt":   {Column: "s.updated_at", Type: "TIMESTAMPTZ"},
			"createdAt":   {Column: "s.created_at", Type: "TIMESTAMPTZ"},
		},
	}
}

func (i *StockItem) targets() []any {
	return append([]any{&i.id, &i.CompanyID, &i.ProductID, &i.variant, &i.WarehouseID, &i.Qty, &i.Reserved, &i.ReorderPoint}, i.Targets()...)
}

// A product is found with all its variants, a variant alone. Each part is found by its own index, and leads to its rows.
const sqlSearchStock = `(s.product_id, s.variant_id) IN (
SELECT o.product_id, o.variant_id FROM stocks o WHERE o.company_id = ? AND o.product_id IN (SELECT id FROM products WHERE company_id = ? AND search_text LIKE ?)
UNION SELECT product_id, id FROM product_variants WHERE company_id = ? AND search_text LIKE ?)`

var levelConditions = map[string]string{
	"low":      "(s.reorder_point > 0 AND s.qty <= s.reorder_point)",
	"negative": "s.qty < 0",
	"reorder":  "(s.reorder_point > 0 AND s.qty - s.reserved <= s.reorder_point)",
}

// Stocks returns a page of stock records.
func (s *Service) Stocks(ctx context.Context, by access.Caller, f StockFilter) (*list.Page[StockItem], error) {
	q, err := f.query(by.Company)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.FilterCategory(ctx, s.cfg.DB, q, by.Company, f.CategoryID); err != nil {
		return nil, err
	}
	page, err := list.Fetch(ctx, s.cfg.DB, q, (*StockItem).targets)
	if err != nil || len(page.Items) == 0 {
		return page, err
	}
	return page, s.complete(ctx, by.Company, page.Items, f)
}

// from returns what the page is read from, and what is counted. Only conditions on sums and their order need those of all
// groups.
func (f *StockFilter) from() (page, count string) {
	level := len(f.Level) > 0 && !slices.Contains(f.Level, "all")
	switch {
	case !f.grouped():
		return "stocks", "stocks"
	case f.WarehouseID != nil:
		return fromGroupsOfWarehouse, fromGroupsOfWarehouse
	case level:
		return fromGroups, fromGroups
	case f.UpdatedSince != nil:
		return fromLast, fromLast
	case f.Sort == "qty":
		return fromGroups, fromKeys
	case f.Sort == "updatedAt":
		return fromLast, fromKeys
	}
	return fromFirst, fromKeys
}

func (f *StockFilter) query(company tenant.ID) (*list.Query, error) {
	from, count := f.from()
	ofWarehouse := "s.warehouse_id = ?"
	if from == fromGroupsOfWarehouse {
		ofWarehouse = "s.of_warehouse = ?"
	}
	q, err := list.New(stockSpec(from, count), company, f.Params, f.Sort)
	if err != nil {
		return nil, err
	}
	if f.WarehouseID != nil {
		q.Where(ofWarehouse, *f.WarehouseID)
	}
	if f.ProductID != nil {
		q.Where("s.product_id = ?", *f.ProductID)
	}
	if f.VariantID != nil {
		q.Where("s.variant_id = ?", *f.VariantID)
	}
	if f.Search != "" {
		q.Reading("products", "product_variants")
	}
	q.SearchBy(sqlSearchStock, func(pattern string) []any { return []any{company, company, pattern, company, pattern} })
	if !slices.Contains(f.Level, "all") && len(f.Level) > 0 {
		levels := make([]string, len(f.Level))
		for i, level := range f.Level {
			levels[i] = levelConditions[level]
		}
		q.Where("(" + strings.Join(levels, " OR ") + ")")
	}
	return q, nil
}

// complete fills in the products and the warehouses of the items, in one round trip or two.
func (s *Service) complete(ctx context.Context, company tenant.ID, all []StockItem, f StockFilter) error {
	keys, warehouses := make([]trade.StockKey, len(all)), []uuid.UUID{}
	for i, item := range all {
		keys[i] = trade.StockKey{Product: item.ProductID, Variant: item.variant}
		if item.WarehouseID != nil && !slices.Contains(warehouses, *item.WarehouseID) {
			warehouses = append(warehouses, *item.WarehouseID)
		}
	}
	var products map[trade.StockKey]trade.StockProduct
	var names map[uuid.UUID]string
	var shares map[trade.StockKey][]PerWarehouse
	reads := []batchloader.Read{func(ctx context.Context, q db.Querier) (err error) {
		products, err = s.cfg.Products.StockProducts(ctx, q, company, keys)
		return err
	}}
	if f.grouped() {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			shares, err = selectShares(ctx, q, company, keys, f.WarehouseID)
			return err
		})
	} else {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			names, err = s.WarehouseNames(ctx, q, company, warehouses)
			return err
		})
	}
	if err := batchloader.Load(ctx, s.cfg.DB, reads...); err != nil {
		return err
	}
	for i := range all {
		item := &all[i]
		item.StockedProduct = describe(keys[i], products[keys[i]])
		item.derive()
		item.ID = item.id.String()
		if !f.grouped() {
			item.WarehouseName = nameOf(names, item.WarehouseID)
			continue
		}
		item.Warehouses = shares[keys[i]]
		item.sum()
		if item.VariantID != nil {
			item.ID = item.ProductID.String() + ":" + item.VariantID.String()
		}
	}
	return nil
}

// sum adds up the shares of the warehouses.
func (i *StockItem) sum() {
	if len(i.Warehouses) == 0 {
		return // a warehouse was deleted meanwhile
	}
	levels, meta := Levels{}, i.Warehouses[0].meta
	meta.Version = 0
	for _, w := range i.Warehouses {
		levels.Qty, levels.Reserved, levels.ReorderPoint = levels.Qty+w.Qty, levels.Reserved+w.Reserved, levels.ReorderPoint+w.ReorderPoint
		meta.Version, meta.EvPos = meta.Version+w.meta.Version, max(meta.EvPos, w.meta.EvPos)
		if w.meta.CreatedAt.Std().Before(meta.CreatedAt.Std()) {
			meta.CreatedAt = w.meta.CreatedAt
		}
		if w.meta.UpdatedAt.Std().After(meta.UpdatedAt.Std()) {
			meta.UpdatedAt = w.meta.UpdatedAt
		}
	}
	levels.derive()
	i.Levels, i.Meta = levels, meta
}

const sqlSelectShares = `SELECT s.product_id, s.variant_id, s.warehouse_id, w.name, s.qty, s.reserved, s.reorder_point, s.version, s.ev_pos, s.created_at, s.updated_at
FROM stocks s JOIN warehouses w ON w.company_id = s.company_id AND w.id = s.warehouse_id
WHERE s.company_id = $1 AND s.product_id = ANY($2::UUID[]) AND ($3::UUID IS NULL OR s.warehouse_id = $3)
ORDER BY w.is_default DESC, w.created_at, w.id`

// selectShares reads the stock of products by warehouse, the default warehouse first.
func selectShares(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey, warehouse *uuid.UUID) (map[trade.StockKey][]PerWarehouse, error) {
	ids := make([]uuid.UUID, len(keys))
	for i, k := range keys {
		ids[i] = k.Product
	}
	rows, err := q.Query(ctx, sqlSelectShares, company, ids, warehouse)
	if err != nil {
		return nil, fmt.Errorf("select stock by warehouse: %w", err)
	}
	shares := map[trade.StockKey][]PerWarehouse{}
	var k trade.StockKey
	var w PerWarehouse
	targets := append([]any{&k.Product, &k.Variant, &w.WarehouseID, &w.WarehouseName, &w.Qty, &w.Reserved, &w.ReorderPoint}, w.meta.Targets()...)
	_, err = pgx.ForEachRow(rows, targets, func() error {
		w.derive()
		shares[k] = append(shares[k], w)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read stock by warehouse: %w", err)
	}
	return shares, nil
}
