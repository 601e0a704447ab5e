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
)

// Kinds of items in a document.
const (
	KindProduct = "product"
	KindService = "service"
)

// ItemRef is what a line of a document refers to.
type ItemRef struct {
	Kind      string // [KindProduct] or [KindService]
	RefID     uuid.UUID
	VariantID *uuid.UUID
}

// Item is what a document needs to know of something that is sold.
type Item struct {
	ItemRef
	Missing      string // "" = found; else the entity that the company does not have: PRODUCT, SERVICE or PRODUCT_VARIANT
	SKU          string
	Name         string
	Unit         string // code
	Price        money.Amount
	Cost         money.Amount
	Status       string
	HasStock     bool
	IsBundle     bool
	MinOrderQty  *money.Qty
	OrderStepQty *money.Qty
	Components   []ItemComponent // stocked parts of a bundle that has no stock of its own
	Modifiers    []ModifierGroup
}

// ItemComponent is a stocked product inside a bundle.
type ItemComponent struct {
	ProductID uuid.UUID
	Qty       money.Qty // in one bundle
}

const sqlSelectItems = `SELECT p.id, p.sku, p.name, p.unit, p.price, p.cost, p.status, p.has_stock, p.is_bundle, p.min_order_qty, p.order_step_qty, p.cost_components, p.modifier_groups,
ARRAY(SELECT s.id FROM products s WHERE s.company_id = p.company_id AND p.is_bundle AND NOT p.has_stock AND s.id = ANY(p.component_ids) AND s.has_stock)
FROM products p WHERE p.company_id = $1 AND p.id = ANY($2::UUID[])`

// OrderItems reads what the refs refer to in one query. There is one item for each ref, in their order.
func (s *Service) OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []ItemRef) ([]Item, error) {
	ids := make([]uuid.UUID, 0, len(refs))
	for _, r := range refs {
		if r.Kind == KindProduct && !slices.Contains(ids, r.RefID) {
			ids = append(ids, r.RefID)
		}
	}
	rows, err := q.Query(ctx, sqlSelectItems, company, ids)
	if err != nil {
		return nil, fmt.Errorf("select items of a document: %w", err)
	}
	products, err := pgx.CollectRows(rows, scanItem)
	if err != nil {
		return nil, fmt.Errorf("read items of a document: %w", err)
	}
	return arrange(refs, products), nil
}

func scanItem(row pgx.CollectableRow) (Item, error) {
	it := Item{ItemRef: ItemRef{Kind: KindProduct}}
	var parts []CostComponent
	var stocked []uuid.UUID
	err := row.Scan(&it.RefID, &it.SKU, &it.Name, &it.Unit, &it.Price, &it.Cost, &it.Status, &it.HasStock, &it.IsBundle,
		&it.MinOrderQty, &it.OrderStepQty, &parts, &it.Modifiers, &stocked)
	for _, part := range parts {
		if part.ProductID == nil || !slices.Contains(stocked, *part.ProductID) {
			continue
		}
		qty := money.Units(1)
		if part.Qty != nil {
			qty = *part.Qty
		}
		it.Components = append(it.Components, ItemComponent{ProductID: *part.ProductID, Qty: qty})
	}
	return it, err
}

// arrange gives each ref its item.
func arrange(refs []ItemRef, products []Item) []Item {
	byID := make(map[uuid.UUID]Item, len(products))
	for _, it := range products {
		byID[it.RefID] = it
	}
	items := make([]Item, len(refs))
	for i, r := range refs {
		it, ok := byID[r.RefID]
		switch {
		case r.Kind != KindProduct:
			it = Item{Missing: "SERVICE"}
		case !ok:
			it.Missing = "PRODUCT"
		case r.VariantID != nil:
			it.Missing = "PRODUCT_VARIANT"
		}
		it.ItemRef = r
		items[i] = it
	}
	return items
}
