package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

const sqlSelectItems = `SELECT p.id, p.sku, p.name, p.unit, p.price, p.cost, p.status, p.has_stock, p.min_order_qty, p.order_step_qty, p.cost_components, p.modifier_groups,
ARRAY(SELECT s.id FROM products s WHERE s.company_id = p.company_id AND p.is_bundle AND NOT p.has_stock AND s.id = ANY(p.component_ids) AND s.has_stock)
FROM products p WHERE p.company_id = $1 AND p.id = ANY($2::UUID[])`

// OrderItems reads the items that document lines refer to, in one query. Unknown items are omitted; an item whose variant
// does not exist has UnknownVariant set.
func (s *Service) OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	var ids []uuid.UUID
	for _, r := range refs {
		if r.Kind == trade.KindProduct && !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	rows, err := q.Query(ctx, sqlSelectItems, company, ids)
	if err != nil {
		return nil, fmt.Errorf("select items of a document: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanItem)
	if err != nil {
		return nil, fmt.Errorf("read items of a document: %w", err)
	}
	byID := make(map[uuid.UUID]trade.Item, len(all))
	for _, it := range all {
		byID[it.id] = it.Item
	}
	items := make(map[trade.ItemRef]trade.Item, len(refs))
	for _, r := range refs {
		if it, ok := byID[r.ID]; ok && r.Kind == trade.KindProduct {
			it.UnknownVariant = r.Variant != uuid.Nil // no product has variants yet
			items[r] = it
		}
	}
	return items, nil
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
	err = row.Scan(&it.id, &it.SKU, &it.Name, &it.Unit, &it.Price, &it.Cost, &status, &it.HasStock, &it.MinOrderQty, &it.OrderStepQty, &components, &groups, &stocked)
	it.Hidden = status == StatusHidden
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

const sqlSelectStockProducts = `SELECT p.id, p.name, p.sku, p.category_id, c.name, p.has_stock
FROM products p LEFT JOIN categories c ON c.company_id = p.company_id AND c.id = p.category_id
WHERE p.company_id = $1 AND p.id = ANY($2::UUID[])`

// StockProducts reads products for stock records. Unknown keys are omitted.
func (s *Service) StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error) {
	ids := make([]uuid.UUID, len(keys))
	for i, k := range keys {
		ids[i] = k.Product
	}
	rows, err := q.Query(ctx, sqlSelectStockProducts, company, ids)
	if err != nil {
		return nil, fmt.Errorf("select products of stock records: %w", err)
	}
	found := map[trade.StockKey]trade.StockProduct{}
	var k trade.StockKey
	var p trade.StockProduct
	_, err = pgx.ForEachRow(rows, []any{&k.Product, &p.Name, &p.SKU, &p.CategoryID, &p.CategoryName, &p.HasStock}, func() error {
		found[k] = p
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read products of stock records: %w", err)
	}
	return found, nil
}
