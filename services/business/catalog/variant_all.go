package catalog

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

// VariantExtras selects additional data of variants.
type VariantExtras struct {
	Include []string `query:"include" enum:"stock,attributes" maxItems:"10" doc:"stock: quantities over all warehouses; attributes: the attributeValues"`
}

// VariantsFilter filters and sorts the variants of all products.
type VariantsFilter struct {
	list.Params
	list.ByExternal
	ProductID *uuid.UUID `query:"productId" format:"uuid" where:"product_id = ?"`
	Status    []string   `query:"status" enum:"active,hidden,all" maxItems:"3" doc:"default active, or all if updatedSince is set, so that incremental reads include hidden variants"`
	SKU       string     `query:"sku" maxLength:"64" doc:"exact, ignoring case"`
	Barcode   string     `query:"barcode" maxLength:"64" doc:"exact, ignoring case if the variant is active"`
	Sort      string     `query:"sort" enum:"sku,createdAt"`
	VariantExtras
}

var variantItems = list.Of[ProductVariant, VariantsFilter](variantsTable, list.Spec{Permanent: true})

// Variants returns a page of the variants of all products.
func (s *Service) Variants(ctx context.Context, by access.Caller, f VariantsFilter) (*list.Page[ProductVariant], error) {
	q, err := variantItems.Query(by.Company, f)
	if err != nil {
		return nil, err
	}
	inStatus(q, f.Status, f.UpdatedSince != nil)
	sku.Filter(q, by.Company, sku.Variant, f.SKU)
	sku.FilterBarcode(q, by.Company, variantsTable, sku.Variant, f.Barcode)
	page, err := variantItems.Fetch(ctx, s.cfg.DB, q)
	if err != nil {
		return nil, err
	}
	owners, err := s.owners(ctx, by, page.Items)
	if err != nil {
		return nil, err
	}
	each := make([]*ProductVariant, len(page.Items))
	for i := range page.Items {
		each[i] = &page.Items[i]
	}
	return page, s.completeVariants(ctx, s.cfg.DB, owners, each, Extras(f.VariantExtras))
}

// inStatus selects the items in any of the states: without one the active ones, or all of an incremental read.
func inStatus(q *list.Query, status []string, incremental bool) {
	if len(status) == 0 && !incremental {
		status = []string{StatusActive}
	}
	if !slices.Contains(status, "all") {
		q.In("status", status)
	}
}

const sqlSelectOwners = `SELECT id, price, has_stock FROM products WHERE company_id = $1 AND id = ANY($2::UUID[])`

// owners reads what variants need of their products.
func (s *Service) owners(ctx context.Context, by access.Caller, of []ProductVariant) (map[uuid.UUID]*Product, error) {
	ids := make([]uuid.UUID, len(of))
	for i, v := range of {
		ids[i] = v.ProductID
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // no variants
	}
	shown := func(p *Product) []any { return []any{&p.ID, &p.Price, &p.HasStock} }
	all, err := db.Collect(ctx, s.cfg.DB, "read products of variants", db.RowTo(shown), sqlSelectOwners, by.Company, ids)
	found := make(map[uuid.UUID]*Product, len(all))
	for i := range all {
		found[all[i].ID] = &all[i]
	}
	return found, err
}
