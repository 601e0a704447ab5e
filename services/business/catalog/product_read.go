package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sku"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Products returns a page of products.
func (s *Service) Products(ctx context.Context, by access.Caller, f ProductFilter) (*list.Page[Product], error) {
	q, err := s.query(ctx, by.Company, f)
	if err != nil {
		return nil, err
	}
	page, err := productItems.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	if f.variants() {
		if err := s.listVariants(ctx, page, f.Extras); err != nil {
			return nil, err
		}
	}
	return page, s.complete(ctx, by.Company, page.Items, f.Extras)
}

func (s *Service) query(ctx context.Context, company tenant.ID, f ProductFilter) (*list.Query, error) {
	names := f.names()
	q, err := productItems.Query(company, f)
	if err != nil {
		return nil, err
	}
	inStatus(q, f.Status, f.UpdatedSince != nil)
	if err := FilterCategory(ctx, s.cfg.DB, q, company, f.CategoryID); err != nil {
		return nil, err
	}
	if err := s.filterByAttributes(ctx, company, q, f.Attr); err != nil {
		return nil, err
	}
	return q, s.filterByNames(ctx, company, q, names)
}

// Product reads one product, hidden or not.
func (s *Service) Product(ctx context.Context, by access.Caller, id uuid.UUID, with Extras) (Product, error) {
	p, err := products.Get(ctx, s.cfg.DB, by.Company, id)
	if err != nil {
		return p, err
	}
	one := []Product{p}
	if with.variants() {
		own, err := readVariants(ctx, s.cfg.DB, by.Company, id)
		if err == nil {
			err = s.showVariants(ctx, one, map[uuid.UUID][]ProductVariant{id: own}, with)
		}
		if err != nil {
			return p, err
		}
	}
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

// complete fills in the fields that are not columns of products.
func (s *Service) complete(ctx context.Context, company tenant.ID, all []Product, with Extras) error {
	var stocked, used []uuid.UUID
	for i := range all {
		if all[i].HasStock && with.stock() {
			stocked = append(stocked, all[i].ID)
		}
		used = append(used, attributeIDs(all[i].Attributes)...)
	}
	var defs map[uuid.UUID]AttributeDefinition
	var totals map[uuid.UUID]trade.StockTotals
	var reads []batchloader.Read
	if len(used) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			defs, err = readAttributes(ctx, q, company, used)
			return err
		})
	}
	if len(stocked) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			totals, err = s.cfg.Stock(ctx, q, company, stocked)
			return err
		})
	}
	if err := batchloader.Load(ctx, s.cfg.DB, reads...); err != nil {
		return err
	}
	for i := range all {
		p := &all[i]
		p.AttributeValues = show(p.Attributes, defs)
		if t := totals[p.ID]; with.stock() && p.HasStock {
			p.StockQty, p.StockAvailable, p.IsLowStock = &t.Qty, &t.Available, &t.Low
		}
	}
	return nil
}

// showAttributes fills in the attribute values of products that are about to be stored.
func (s *Service) showAttributes(ctx context.Context, tx *db.Tx, all ...*Product) error {
	var used []uuid.UUID
	for _, p := range all {
		used = append(used, attributeIDs(p.Attributes)...)
	}
	var defs map[uuid.UUID]AttributeDefinition
	if len(used) > 0 {
		var err error
		if defs, err = readAttributes(ctx, tx, all[0].CompanyID, used); err != nil {
			return err
		}
	}
	for _, p := range all {
		p.AttributeValues = show(p.Attributes, defs)
	}
	return nil
}
