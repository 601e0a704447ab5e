package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/sku"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// ProductVariant is a variant of a product, such as a size; see docs/reference/rules.md#variants.
type ProductVariant struct {
	record.Key
	ProductID uuid.UUID `json:"productId" db:",insert" format:"uuid"`
	VariantFields
	Values          []attributeValue         `json:"-" db:"attribute_values"`
	Attributes      map[string]string        `json:"attributes" db:"-" doc:"values by the name of the attribute"`
	AttributeValues *[]ProductAttributeValue `json:"attributeValues,omitempty" db:"-" doc:"the values with their ids; only with include=attributes"`
	EffectivePrice  money.Amount             `json:"effectivePrice" db:"-" doc:"price, or that of the product"`
	StockQty        *money.Qty               `json:"stockQty,omitempty" db:"-" doc:"total of all warehouses; only with include=stock and if the product hasStock"`
	StockAvailable  *money.Qty               `json:"stockAvailable,omitempty" db:"-" doc:"stockQty minus reserved quantities; only with include=stock and if the product hasStock"`
	IsLowStock      *bool                    `json:"isLowStock,omitempty" db:"-" doc:"stockQty is at or below the sum of the reorder points; only with include=stock and if the product hasStock"`
	record.Meta
}

// VariantFields are the fields that the console sets and that are stored unchanged.
type VariantFields struct {
	SKU         string        `json:"sku" minLength:"1" maxLength:"64" search:"text" doc:"unique, ignoring case; generated if omitted"`
	Barcode     *string       `json:"barcode" maxLength:"64" search:"text"`
	Name        *string       `json:"name" maxLength:"255" search:"text"`
	Price       *money.Amount `json:"price" minimum:"0" doc:"null = the price of the product"`
	Cost        *money.Amount `json:"cost" minimum:"0"`
	Status      string        `json:"status" enum:"active,hidden" default:"active"`
	SortOrder   int32         `json:"sortOrder" minimum:"-1000000" maximum:"1000000"`
	PhotoFileID *uuid.UUID    `json:"photoFileId" format:"uuid"`
	record.External
}

// VariantInput is the body that the console sends.
type VariantInput struct {
	VariantFields
	Attributes []ProductAttributeValueInput `json:"attributes" maxItems:"50" doc:"the complete set of values of attributes with isVariant"`
}

const variantsTable = db.Table("product_variants")

var variants = resource.Of[ProductVariant](variantsTable, "PRODUCT_VARIANT")

// findVariant finds a variant of a product by its external id. One that belongs to another product is 409.
func findVariant(ctx context.Context, q db.Querier, company tenant.ID, product uuid.UUID, source, externalID string) (*uuid.UUID, error) {
	id, err := variants.FindExternal(ctx, q, company, source, externalID)
	if err != nil || id == nil {
		return nil, err
	}
	v, err := variants.Get(ctx, q, company, *id)
	if err == nil && v.ProductID != product {
		err = variants.Taken(v.ID).With("productId", v.ProductID)
	}
	return id, err
}

// IsHidden implements [httpapi.Hideable].
func (v ProductVariant) IsHidden() bool { return v.Status == StatusHidden }

// names is what the variant reserves.
func (v ProductVariant) names() sku.Item {
	return sku.Item{Entity: sku.Variant, ID: v.ID, SKU: v.SKU, Barcode: v.Barcode, Status: v.Status}
}

var (
	variantPlan       = record.PlanOf[ProductVariant]()
	sqlSelectVariants = "SELECT " + variantPlan.SelectList("") + " FROM product_variants WHERE company_id = $1 AND product_id = $2 ORDER BY sort_order, id"
)

func readVariants(ctx context.Context, q db.Querier, company tenant.ID, product uuid.UUID) ([]ProductVariant, error) {
	return db.Collect(ctx, q, "select variants", db.RowTo(func(v *ProductVariant) []any { return variantPlan.Targets(v) }), sqlSelectVariants, company, product)
}

// maxVariants is how many variants a product may have, hidden ones included: they are read and answered together.
const maxVariants = 1000

// VariantFilter filters the variants of a product.
type VariantFilter struct {
	SKU     string `query:"sku" maxLength:"64" doc:"exact, ignoring case"`
	Barcode string `query:"barcode" maxLength:"64" doc:"exact, ignoring case"`
	Extras
}

func (f VariantFilter) drops(v ProductVariant) bool {
	return f.SKU != "" && !sku.Equal(v.SKU, f.SKU) || f.Barcode != "" && (v.Barcode == nil || !sku.Equal(*v.Barcode, f.Barcode))
}

// ProductVariants returns the variants of a product, hidden ones included, sorted by sortOrder.
func (s *Service) ProductVariants(ctx context.Context, by access.Caller, product uuid.UUID, f VariantFilter) ([]ProductVariant, error) {
	var p Product
	var all []ProductVariant
	err := batchloader.Load(ctx, s.cfg.DB, func(ctx context.Context, q db.Querier) (err error) {
		p, err = products.Get(ctx, q, by.Company, product)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		all, err = readVariants(ctx, q, by.Company, product)
		return err
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, f.drops)
	return all, s.completeOf(ctx, s.cfg.DB, &p, all, f.Extras)
}

// ProductVariant reads one variant of a product.
func (s *Service) ProductVariant(ctx context.Context, by access.Caller, product, id uuid.UUID) (ProductVariant, error) {
	p, err := products.Get(ctx, s.cfg.DB, by.Company, product)
	if err != nil {
		return ProductVariant{}, err
	}
	v, err := variants.Get(ctx, s.cfg.DB, by.Company, id)
	if err == nil && v.ProductID != product {
		err = apierr.NotFound("PRODUCT_VARIANT", id.String())
	}
	if err != nil {
		return v, err
	}
	one := []ProductVariant{v}
	err = s.completeOf(ctx, s.cfg.DB, &p, one, Extras{})
	return one[0], err
}

// completeVariants fills in the fields that are not columns of variants; owners are their products.
func (s *Service) completeVariants(ctx context.Context, q db.Querier, owners map[uuid.UUID]*Product, all []*ProductVariant, with Extras) error {
	if len(all) == 0 {
		return nil
	}
	company := all[0].CompanyID
	var ids, stocked []uuid.UUID
	for _, v := range all {
		ids = append(ids, attributeIDs(v.Values)...)
	}
	for id, p := range owners {
		if with.stock() && p.HasStock {
			stocked = append(stocked, id)
		}
	}
	defs := map[uuid.UUID]AttributeDefinition{}
	var totals map[uuid.UUID]trade.StockTotals
	var reads []batchloader.Read
	if len(ids) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			defs, err = readAttributes(ctx, q, company, ids)
			return err
		})
	}
	if len(stocked) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			totals, err = s.cfg.VariantStock(ctx, q, company, stocked)
			return err
		})
	}
	if err := batchloader.Load(ctx, q, reads...); err != nil {
		return err
	}
	for _, v := range all {
		p := owners[v.ProductID]
		v.complete(p, defs)
		if with.attributes() {
			v.AttributeValues = new(show(v.Values, defs))
		}
		if t := totals[v.ID]; with.stock() && p.HasStock {
			v.StockQty, v.StockAvailable, v.IsLowStock = &t.Qty, &t.Available, &t.Low
		}
	}
	return nil
}

// completeOf is [Service.completeVariants] for variants of one product.
func (s *Service) completeOf(ctx context.Context, q db.Querier, p *Product, all []ProductVariant, with Extras) error {
	each := make([]*ProductVariant, len(all))
	for i := range all {
		each[i] = &all[i]
	}
	return s.completeVariants(ctx, q, map[uuid.UUID]*Product{p.ID: p}, each, with)
}

func (v *ProductVariant) complete(p *Product, defs map[uuid.UUID]AttributeDefinition) {
	v.EffectivePrice = p.Price
	if v.Price != nil {
		v.EffectivePrice = *v.Price
	}
	v.Attributes = labels(v.Values, defs)
}

// labels are values by the name of their attribute.
func labels(values []attributeValue, defs map[uuid.UUID]AttributeDefinition) map[string]string {
	out := map[string]string{}
	for _, v := range show(values, defs) {
		out[v.AttributeName] = v.DisplayValue
	}
	return out
}

// CreateProductVariant adds a variant to a product. Without a SKU it gets the next one with that of the product as its prefix.
//
// Errors: 404 for the product or a reference, 409 SKU_TAKEN, 409 BARCODE_TAKEN, 409 PRODUCT_VARIANT_EXISTS,
// 409 PRODUCT_VARIANT_LIMIT_REACHED.
func (s *Service) CreateProductVariant(ctx context.Context, tx *db.Tx, by access.Caller, product uuid.UUID, in VariantInput) (ProductVariant, error) {
	p, err := lockOwner(ctx, tx, by, product)
	if err != nil {
		return ProductVariant{}, err
	}
	snapshot := products.Snapshot(p)
	v, err := s.addVariant(ctx, tx, by, p, in)
	if err != nil {
		return v, err
	}
	return v, s.storeOwner(ctx, tx, by, snapshot, p)
}

// addVariant stores a new variant of a locked product, not the product.
func (s *Service) addVariant(ctx context.Context, tx *db.Tx, by access.Caller, p Product, in VariantInput) (v ProductVariant, err error) {
	v = ProductVariant{Key: record.Key{ID: tx.NewID(), CompanyID: by.Company}, ProductID: p.ID, VariantFields: in.VariantFields}
	v.Status = cmp.Or(v.Status, StatusActive)
	if in.Attributes == nil {
		in.Attributes = []ProductAttributeValueInput{} // as [], which has what is required checked
	}
	if err := settleVariant(ctx, tx, p, ProductVariant{}, &v, in); err != nil {
		return v, err
	}
	if v.SKU == "" {
		if v.SKU, err = sku.Next(ctx, tx, by.Company, variantPrefix(p)); err != nil {
			return v, err
		}
	}
	if v, err = variants.Create(ctx, tx, by, v); err != nil {
		return v, err
	}
	reserveVariant(tx, p, ProductVariant{}, v)
	return v, nil
}

// variantPrefix is the prefix of generated SKUs of variants: the SKU of the product, unless it leaves no room for more.
func variantPrefix(p Product) string {
	const most = 55
	if len(p.SKU) > most {
		return "V"
	}
	return p.SKU
}

// UpdateProductVariant changes a variant; fields missing from the patch stay unchanged.
//
// Errors: those of [Service.CreateProductVariant], and 412.
func (s *Service) UpdateProductVariant(
	ctx context.Context, tx *db.Tx, by access.Caller, product, id uuid.UUID, in record.Patch[VariantInput],
) (ProductVariant, error) {
	return s.changeVariant(ctx, tx, by, product, id, func(p Product, before ProductVariant, v *ProductVariant) error {
		fields := VariantInput{VariantFields: v.VariantFields}
		in.Apply(&fields)
		v.VariantFields = fields.VariantFields
		return settleVariant(ctx, tx, p, before, v, in.Value)
	})
}

// HideProductVariant hides a variant, because documents refer to it. Hiding it again changes nothing.
func (s *Service) HideProductVariant(ctx context.Context, tx *db.Tx, by access.Caller, product, id uuid.UUID) (ProductVariant, error) {
	return s.changeVariant(ctx, tx, by, product, id, func(_ Product, _ ProductVariant, v *ProductVariant) error {
		v.Status = StatusHidden
		return nil
	})
}

// lockOwner locks the product whose variants are to be changed, so that they are changed one after the other. The precondition of
// the caller concerns the variant.
func lockOwner(ctx context.Context, tx *db.Tx, by access.Caller, product uuid.UUID) (Product, error) {
	tx.ReadsMore()
	return products.Lock(ctx, tx, by.Unconditional(), product)
}

func (s *Service) changeVariant(
	ctx context.Context, tx *db.Tx, by access.Caller, product, id uuid.UUID, mutate func(p Product, before ProductVariant, v *ProductVariant) error,
) (ProductVariant, error) {
	p, err := lockOwner(ctx, tx, by, product)
	if err != nil {
		return ProductVariant{}, err
	}
	var before ProductVariant
	v, err := variants.Change(ctx, tx, by, id, func(b ProductVariant, v *ProductVariant) error {
		if b.ProductID != product {
			return apierr.NotFound("PRODUCT_VARIANT", id.String())
		}
		before = b
		if err := mutate(p, b, v); err != nil || v.Attributes != nil {
			return err
		}
		return s.completeVariant(ctx, tx, p, v)
	})
	if err != nil || v.Version == before.Version {
		return v, err
	}
	reserveVariant(tx, p, before, v)
	return v, s.storeOwner(ctx, tx, by, products.Snapshot(p), p)
}

func (s *Service) completeVariant(ctx context.Context, q db.Querier, p Product, v *ProductVariant) error {
	one := []ProductVariant{*v}
	err := s.completeOf(ctx, q, &p, one, Extras{})
	*v = one[0]
	return err
}

// reserveVariant updates what a stored variant reserves and what filters find.
func reserveVariant(tx *db.Tx, p Product, before, v ProductVariant) {
	v.names().Claim(tx, p.CompanyID, before.names())
	fileuse.Record(tx, p.CompanyID, usedByVariant, "photoFileId", v.ID, before.photosOf(), v.photosOf())
	indexValues(tx, p.CompanyID, p.ID, v.ID, before.Values, v.Values)
}

const sqlCountVariants = `SELECT count(*) FROM product_variants WHERE company_id = $1 AND product_id = $2 AND status = 'active'`

// storeOwner marks the change of a product whose variants have been stored.
func (s *Service) storeOwner(ctx context.Context, tx *db.Tx, by access.Caller, snapshot resource.Snapshot[Product], p Product) error {
	if err := tx.QueryRow(ctx, sqlCountVariants, by.Company, p.ID).Scan(&p.VariantsCount); err != nil {
		return fmt.Errorf("count variants: %w", err)
	}
	p.VariantChanges++
	if err := s.showAttributes(ctx, tx, &p); err != nil {
		return err
	}
	return products.Store(ctx, tx, by, snapshot, &p, productUpdated)
}

// settleVariant checks the values, that no other active variant of the product has the same, the SKU and the barcode, and that there
// is room for a new one.
func settleVariant(ctx context.Context, tx *db.Tx, p Product, before ProductVariant, v *ProductVariant, in VariantInput) error {
	ids := make([]uuid.UUID, len(in.Attributes))
	for i, a := range in.Attributes {
		ids[i] = a.AttributeID
	}
	var defs map[uuid.UUID]AttributeDefinition
	var others []ProductVariant
	var refs reference.Set
	fileuse.CheckImage(&refs, "photoFileId", before.PhotoFileID, v.PhotoFileID)
	reads := append(refs.Reads(p.CompanyID), v.names().Checks(p.CompanyID, before.names())...)
	reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
		others, err = readVariants(ctx, q, p.CompanyID, p.ID)
		return err
	}, func(ctx context.Context, q db.Querier) (err error) {
		defs, err = readAttributes(ctx, q, p.CompanyID, append(ids, attributeIDs(v.Values)...))
		return err
	})
	if err := batchloader.Load(ctx, tx, reads...); err != nil {
		return err
	}
	if in.Attributes != nil {
		if err := checkAxes(in.Attributes, defs); err != nil {
			return err
		}
		values, err := takeValues(in.Attributes, defs)
		if err != nil {
			return err
		}
		v.Values = values
	}
	v.complete(&p, defs)
	twin := slices.IndexFunc(others, func(o ProductVariant) bool {
		return o.ID != v.ID && o.Status == StatusActive && sameValues(o.Values, v.Values)
	})
	if twin >= 0 && len(v.Values) > 0 && v.Status == StatusActive {
		return apierr.StateConflict("PRODUCT_VARIANT_EXISTS", "attributes: another active variant of the product has the same values; change them, or hide that variant").
			With("id", others[twin].ID)
	}
	if before.ID == uuid.Nil && len(others) >= maxVariants {
		return apierr.StateConflict("PRODUCT_VARIANT_LIMIT_REACHED", "a product has at most %d variants, hidden ones included: "+
			"change a hidden one that no document needs, or make another product", maxVariants)
	}
	return nil
}

// checkAxes checks that the attributes distinguish variants. Unknown ones are left to [takeValues].
func checkAxes(in []ProductAttributeValueInput, defs map[uuid.UUID]AttributeDefinition) error {
	var faults apierr.Fields
	for i, a := range in {
		if d, ok := defs[a.AttributeID]; ok && !d.IsVariant {
			faults.Add(fmt.Sprintf("attributes[%d].attributeId", i), apierr.Conflict, "the attribute %s does not distinguish variants; use one with isVariant", d.Name)
		}
	}
	return faults.Err()
}
