package catalog

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/sku"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Products returns a page of products.
func (s *Service) Products(ctx context.Context, by access.Caller, f ProductFilter) (*list.Page[Product], error) {
	q, err := productList.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	if len(f.Status) == 0 && f.UpdatedSince == nil {
		f.Status = []string{StatusActive}
	}
	if !slices.Contains(f.Status, "all") {
		q.In("status", f.Status)
	}
	if err := FilterCategory(q, by.Company, f.CategoryID); err != nil {
		return nil, err
	}
	page, err := productList.Fetch(ctx, s.db, q)
	if err != nil {
		return nil, err
	}
	return page, s.complete(ctx, by.Company, page.Items, f.Extras)
}

// Product reads one product, hidden or not.
func (s *Service) Product(ctx context.Context, by access.Caller, id uuid.UUID, with Extras) (Product, error) {
	p, err := products.Get(ctx, s.db, by.Company, id)
	if err != nil {
		return p, err
	}
	one := []Product{p}
	err = s.complete(ctx, by.Company, one, with)
	return one[0], err
}

// productBySKU returns the id of the product with a SKU.
func (s *Service) productBySKU(ctx context.Context, q db.Querier, company tenant.ID, text string) (uuid.UUID, error) {
	id, err := sku.Find(ctx, q, company, sku.Product, text)
	if err == nil && id == uuid.Nil {
		err = apierr.NotFound("PRODUCT", text)
	}
	return id, err
}

// ProductVariants returns the variants of a product; the product must exist.
func (s *Service) ProductVariants(ctx context.Context, by access.Caller, id uuid.UUID) ([]ProductVariant, error) {
	_, err := products.Get(ctx, s.db, by.Company, id)
	return []ProductVariant{}, err
}

// complete fills in the fields that are not columns of products.
func (s *Service) complete(ctx context.Context, company tenant.ID, all []Product, with Extras) error {
	var stocked []uuid.UUID
	for i := range all {
		all[i].AttributeValues = []ProductAttributeValue{}
		if all[i].HasStock {
			stocked = append(stocked, all[i].ID)
		}
	}
	if len(stocked) == 0 || !with.stock() {
		return nil
	}
	totals, err := s.stock(ctx, s.db, company, stocked)
	if err != nil {
		return err
	}
	for i := range all {
		if p := &all[i]; p.HasStock {
			t := totals[p.ID]
			p.StockQty, p.StockAvailable, p.IsLowStock = &t.Qty, &t.Available, &t.Low
		}
	}
	return nil
}
