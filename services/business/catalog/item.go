package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// The planner of PostgreSQL sees neither the number of ids (because of the inner SELECT) nor more than one row for each
// (because of LIMIT), so a plan for given arguments never seems cheaper than the cached one, and no order is planned anew.
const sqlSelectItems = `SELECT p.id, p.sku, p.name, p.unit, p.price, p.cost, p.status, p.has_stock, p.min_order_qty, p.order_step_qty, p.cost_components, p.modifier_groups,
(SELECT percent_bp FROM tax_rates AS t WHERE t.company_id = p.company_id AND t.id = p.tax_rate_id), p.tax_rate_id,
ARRAY(SELECT s.id FROM products s WHERE s.company_id = p.company_id AND p.is_bundle AND NOT p.has_stock AND s.id = ANY(p.component_ids) AND s.has_stock),
` + sqlHasVariants + `
FROM unnest((SELECT $2::UUID[])) AS u(id) CROSS JOIN LATERAL (
SELECT id, company_id, sku, name, unit, price, cost, tax_rate_id, status, has_stock, min_order_qty, order_step_qty, cost_components, modifier_groups, is_bundle, component_ids
FROM products WHERE products.company_id = $1 AND products.id = u.id LIMIT 1) AS p`

// sqlHasVariants tells whether the product p has active variants.
const sqlHasVariants = `EXISTS (SELECT 1 FROM product_variants v WHERE v.company_id = p.company_id AND v.product_id = p.id AND v.status = 'active')`

var sqlSelectVariantsByID = "SELECT " + variantPlan.SelectList("") + " FROM product_variants WHERE company_id = $1 AND id = ANY($2::UUID[])"

// OrderItems reads the items that document lines refer to, in one round trip. Unknown items are omitted; an item whose variant
// does not exist, or belongs to another product, has UnknownVariant set.
func (s *Service) OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	var ids, variantIDs []uuid.UUID
	for _, r := range refs {
		if r.Kind == trade.KindProduct {
			if !slices.Contains(ids, r.ID) {
				ids = append(ids, r.ID)
			}
			if r.Variant != uuid.Nil {
				variantIDs = append(variantIDs, r.Variant)
			}
		}
	}
	var all []item
	named := map[uuid.UUID]ProductVariant{}
	b := &pgx.Batch{}
	b.Queue(sqlSelectItems, company, ids).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, scanItem)
		return err
	})
	queueVariants(b, company, variantIDs, named)
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read items of a document: %w", err)
	}
	byID := make(map[uuid.UUID]trade.Item, len(all))
	for _, it := range all {
		byID[it.id] = it.Item
	}
	items := make(map[trade.ItemRef]trade.Item, len(refs))
	for _, r := range refs {
		it, ok := byID[r.ID]
		if !ok || r.Kind != trade.KindProduct {
			continue
		}
		if r.Variant != uuid.Nil {
			v, known := named[r.Variant]
			it.UnknownVariant = !known || v.ProductID != r.ID
			if !it.UnknownVariant {
				v.override(&it)
			}
		}
		items[r] = it
	}
	return items, nil
}

// queueVariants adds to the batch the read of the variants with the ids, if there are any.
func queueVariants(b *pgx.Batch, company tenant.ID, ids []uuid.UUID, into map[uuid.UUID]ProductVariant) {
	if len(ids) == 0 {
		return
	}
	b.Queue(sqlSelectVariantsByID, company, ids).Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, db.RowTo(func(v *ProductVariant) []any { return variantPlan.Targets(v) }))
		for _, v := range all {
			into[v.ID] = v
		}
		return err
	})
}

// override makes the item of a product that of its variant.
func (v ProductVariant) override(it *trade.Item) {
	it.SKU = v.SKU
	it.Name = v.nameIn(it.Name)
	it.Hidden = it.Hidden || v.Status == StatusHidden
	if v.Price != nil {
		it.Price = *v.Price
	}
	if v.Cost != nil {
		it.Cost = *v.Cost
	}
}

// nameIn is the name of the variant on a document: that of the product, followed by its own unless it contains the other already.
func (v ProductVariant) nameIn(product string) string {
	switch {
	case v.Name == nil:
		return product
	case strings.HasPrefix(*v.Name, product):
		return *v.Name
	}
	return product + ", " + *v.Name
}

type item struct {
	id uuid.UUID
	trade.Item
}

func scanItem(row pgx.CollectableRow) (it item, err error) {
	var status string
	var components []CostComponent
	var groups []ModifierGroup
	var stocked []uuid.UUID
	var percent *money.Percent
	var rate *uuid.UUID
	err = row.Scan(&it.id, &it.SKU, &it.Name, &it.Unit, &it.Price, &it.Cost, &status, &it.HasStock, &it.MinOrderQty, &it.OrderStepQty, &components, &groups, &percent, &rate, &stocked,
		&it.HasVariants)
	it.Hidden = status == StatusHidden
	if percent != nil {
		it.Tax = &trade.TaxRate{ID: *rate, Percent: *percent}
	}
	for _, c := range components {
		if c.ProductID == nil || !slices.Contains(stocked, *c.ProductID) {
			continue
		}
		qty := money.Units(1)
		if c.Qty != nil {
			qty = *c.Qty
		}
		it.Components = append(it.Components, trade.Component{Product: *c.ProductID, Qty: qty})
	}
	it.Options, it.Groups = modifiers(groups)
	return it, err
}

// modifiers are the groups as a document line needs them.
func modifiers(groups []ModifierGroup) (map[uuid.UUID]trade.Modifier, []trade.ModifierGroup) {
	if len(groups) == 0 {
		return nil, nil
	}
	options := map[uuid.UUID]trade.Modifier{}
	out := make([]trade.ModifierGroup, len(groups))
	for i, g := range groups {
		out[i] = trade.ModifierGroup{Name: g.Name, MinSelect: g.MinSelect, MaxSelect: g.MaxSelect}
		for _, o := range g.Options {
			out[i].Options = append(out[i].Options, o.ID)
			options[o.ID] = trade.Modifier{OptionID: o.ID, Name: o.Name, Surcharge: o.Surcharge}
		}
	}
	return options, out
}

const sqlSelectStockProducts = `SELECT p.id, p.name, p.sku, p.category_id, c.name, p.has_stock, ` + sqlHasVariants + `
FROM products p LEFT JOIN categories c ON c.company_id = p.company_id AND c.id = p.category_id
WHERE p.company_id = $1 AND p.id = ANY($2::UUID[])`

// StockProducts reads products and variants for stock records. Unknown keys, and variants of another product, are omitted.
func (s *Service) StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error) {
	ids := make([]uuid.UUID, len(keys))
	var variantIDs []uuid.UUID
	for i, k := range keys {
		ids[i] = k.Product
		if k.Variant != uuid.Nil {
			variantIDs = append(variantIDs, k.Variant)
		}
	}
	all := map[uuid.UUID]trade.StockProduct{}
	named := map[uuid.UUID]ProductVariant{}
	b := &pgx.Batch{}
	b.Queue(sqlSelectStockProducts, company, ids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var id uuid.UUID
			var p trade.StockProduct
			if err := rows.Scan(&id, &p.Name, &p.SKU, &p.CategoryID, &p.CategoryName, &p.HasStock, &p.HasVariants); err != nil {
				return err
			}
			all[id] = p
		}
		return rows.Err()
	})
	queueVariants(b, company, variantIDs, named)
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read products of stock records: %w", err)
	}
	defs, err := variantAttributes(ctx, q, company, named)
	if err != nil {
		return nil, err
	}
	found := map[trade.StockKey]trade.StockProduct{}
	for _, k := range keys {
		p, ok := all[k.Product]
		if k.Variant != uuid.Nil && ok {
			v, known := named[k.Variant]
			ok = known && v.ProductID == k.Product
			p.VariantSKU, p.VariantAttributes = &v.SKU, labels(v.Values, defs)
		}
		if ok {
			found[k] = p
		}
	}
	return found, nil
}

// variantAttributes reads the attributes that the variants have values of.
func variantAttributes(ctx context.Context, q db.Querier, company tenant.ID, all map[uuid.UUID]ProductVariant) (map[uuid.UUID]AttributeDefinition, error) {
	var ids []uuid.UUID
	for _, v := range all {
		ids = append(ids, attributeIDs(v.Values)...)
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // no attributes
	}
	return readAttributes(ctx, q, company, ids)
}
