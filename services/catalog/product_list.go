package catalog

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Stock knows how much of the products there is; package warehouse keeps it.
type Stock interface {
	// Totals sums up the stock of each product over the company's warehouses. Products without any are left out.
	Totals(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]StockTotals, error)
}

// StockTotals is the stock of one product over all warehouses of its company.
type StockTotals struct {
	Qty       money.Qty
	Available money.Qty // Qty minus what is reserved
	Low       bool      // Qty is at or below the sum of the reorder thresholds, which is not 0
}

// ProductFilter selects products; the zero value of a field selects all.
type ProductFilter struct {
	Category      string        // id of a category, which includes those below it, or "null" = without category
	Statuses      []string      // none = active ones, or all when changes are read
	PriceMin      *money.Amount // inclusive, as PriceMax
	PriceMax      *money.Amount
	Brand         string // exact
	IncludesStock bool
}

var productSpec = list.Spec{ //nolint:gochecknoglobals // a constant table
	From: "products", Columns: productColumns,
	Sorts: map[string]list.Sort{
		"name":      {Column: "name", Type: "TEXT"},
		"sku":       {Column: "sku", Type: "TEXT"},
		"price":     {Column: "price", Type: "BIGINT"},
		"brand":     {Column: "brand", Type: "TEXT", Nullable: true},
		"model":     {Column: "model", Type: "TEXT", Nullable: true},
		"createdAt": {Column: "created_at", Type: "TIMESTAMPTZ"},
	},
}

const sqlInCategory = `category_id IN (WITH RECURSIVE below (id) AS (
SELECT id FROM categories WHERE company_id = ? AND id = ?
UNION SELECT c.id FROM categories c JOIN below b ON c.parent_id = b.id WHERE c.company_id = ?
) SELECT id FROM below)`

// Products reads a page of products.
func (s *Service) Products(ctx context.Context, company tenant.ID, p list.Params, sort string, f ProductFilter) (*list.Page[Product], error) {
	q, err := list.New(productSpec, company, p, sort)
	if err != nil {
		return nil, err
	}
	if len(f.Statuses) == 0 && p.UpdatedSince == nil {
		f.Statuses = []string{StatusActive}
	}
	if err := f.apply(q, company); err != nil {
		return nil, err
	}
	q.Search("search_text")
	page, err := list.Fetch(ctx, s.db, q, productTargets)
	if err != nil || !f.IncludesStock {
		return page, err
	}
	return page, s.addStock(ctx, company, page.Items)
}

func (f ProductFilter) apply(q *list.Query, company tenant.ID) error {
	var faults fault.Fields
	if f.PriceMin != nil && f.PriceMax != nil && *f.PriceMin > *f.PriceMax {
		faults.Add("priceMin", fault.Conflict, "must not be above priceMax")
	}
	if f.Category == "null" {
		q.Where("category_id IS NULL")
	} else if f.Category != "" {
		id, err := uuid.Parse(f.Category)
		if err != nil {
			faults.Add("categoryId", fault.Format, "must be the id of a category, or null for products without one")
		}
		q.Where(sqlInCategory, company, id, company)
	}
	if !slices.Contains(f.Statuses, "all") {
		q.In("status", f.Statuses)
	}
	if f.PriceMin != nil {
		q.Where("price >= ?", *f.PriceMin)
	}
	if f.PriceMax != nil {
		q.Where("price <= ?", *f.PriceMax)
	}
	if f.Brand != "" {
		q.Where("brand = ?", f.Brand)
	}
	return faults.Err()
}

// addStock fills the stock of the products that keep one, in place.
func (s *Service) addStock(ctx context.Context, company tenant.ID, products []Product) error {
	var ids []uuid.UUID
	for _, p := range products {
		if p.HasStock {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	totals := map[uuid.UUID]StockTotals{}
	if s.stock != nil {
		var err error
		if totals, err = s.stock.Totals(ctx, s.db, company, ids); err != nil {
			return err
		}
	}
	for i := range products {
		p := &products[i]
		if !p.HasStock {
			continue
		}
		t := totals[p.ID]
		p.StockQty, p.StockAvailable, p.IsLowStock = &t.Qty, &t.Available, &t.Low
	}
	return nil
}
