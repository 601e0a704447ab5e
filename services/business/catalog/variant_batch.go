package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/sku"
)

// ProductRef names the product of a variant in one of three ways.
type ProductRef struct {
	ProductID         *uuid.UUID `json:"productId" format:"uuid" doc:"of the product, which a variant keeps; or productSku, or productSource and productExternalId"`
	ProductSKU        *string    `json:"productSku" minLength:"1" maxLength:"64"`
	ProductSource     *string    `json:"productSource" minLength:"1" maxLength:"255"`
	ProductExternalID *string    `json:"productExternalId" minLength:"1" maxLength:"255"`
}

// BatchVariantInput is a variant in a batch, which names its product.
type BatchVariantInput struct {
	ProductRef
	VariantInput
}

// named reports whether the reference names a product.
func (r ProductRef) named() bool {
	return r.ProductID != nil || r.ProductSKU != nil || r.ProductSource != nil || r.ProductExternalID != nil
}

// check returns a fault unless the product is named in one way.
func (r ProductRef) check() error {
	var faults apierr.Fields
	external := r.ProductSource != nil || r.ProductExternalID != nil
	switch {
	case !r.named():
		faults.Add("productId", apierr.Required, "is required, or productSku, or productSource and productExternalId")
	case r.ProductSource == nil && external:
		faults.Add("productSource", apierr.Required, "is required with productExternalId")
	case r.ProductExternalID == nil && external:
		faults.Add("productExternalId", apierr.Required, "is required with productSource")
	case r.ProductID != nil && r.ProductSKU != nil:
		faults.Add("productSku", apierr.Conflict, "cannot be combined with productId; send one of them")
	case external && (r.ProductID != nil || r.ProductSKU != nil):
		faults.Add("productExternalId", apierr.Conflict, "cannot be combined with productId or productSku; send one of them")
	}
	return faults.Err()
}

// find returns the id of the product; 404 if there is none.
func (r ProductRef) find(ctx context.Context, q db.Querier, company tenant.ID) (uuid.UUID, error) {
	if err := r.check(); err != nil {
		return uuid.Nil, err
	}
	switch {
	case r.ProductSKU != nil:
		id, err := sku.Find(ctx, q, company, sku.Product, *r.ProductSKU)
		if err == nil && id == uuid.Nil {
			err = apierr.ReferenceNotFound("PRODUCT", "productSku", *r.ProductSKU)
		}
		return id, err
	case r.ProductExternalID != nil:
		id, err := products.FindExternal(ctx, q, company, *r.ProductSource, *r.ProductExternalID)
		if err == nil && id == nil {
			err = apierr.ReferenceNotFound("PRODUCT", "productExternalId", *r.ProductExternalID)
		}
		if err != nil {
			return uuid.Nil, err
		}
		return *id, nil
	}
	known, err := products.Known(ctx, q, company, []uuid.UUID{*r.ProductID})
	if err == nil && len(known) == 0 {
		err = apierr.ReferenceNotFound("PRODUCT", "productId", r.ProductID.String())
	}
	return *r.ProductID, err
}

// CreateVariant is [Service.CreateProductVariant] for a variant that names its product.
func (s *Service) CreateVariant(ctx context.Context, tx *db.Tx, by access.Caller, in BatchVariantInput) (ProductVariant, error) {
	product, err := in.find(ctx, tx, by.Company)
	if err != nil {
		return ProductVariant{}, err
	}
	return s.CreateProductVariant(ctx, tx, by, product, in.VariantInput)
}

// UpdateVariant is [Service.UpdateProductVariant] for a variant of any product. If the patch names a product, it must be that of the
// variant.
func (s *Service) UpdateVariant(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[BatchVariantInput]) (ProductVariant, error) {
	stored, err := variants.Get(ctx, tx, by.Company, id)
	if err != nil {
		return ProductVariant{}, err
	}
	if in.Value.named() {
		product, err := in.Value.find(ctx, tx, by.Company)
		if err == nil && product != stored.ProductID {
			err = apierr.InvalidField("productId", apierr.Conflict, "must be that of the variant, which is %s: a variant cannot move to another product", stored.ProductID)
		}
		if err != nil {
			return ProductVariant{}, err
		}
	}
	return s.changeVariant(ctx, tx, by, stored.ProductID, id, func(p Product, before ProductVariant, v *ProductVariant) error {
		fields := BatchVariantInput{VariantInput: VariantInput{VariantFields: v.VariantFields}}
		in.Apply(&fields)
		v.VariantFields = fields.VariantFields
		return settleVariant(ctx, tx, p, before, v, in.Value.VariantInput)
	})
}

// HideVariant is [Service.HideProductVariant] for a variant of any product.
func (s *Service) HideVariant(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (ProductVariant, error) {
	stored, err := variants.Get(ctx, tx, by.Company, id)
	if err != nil {
		return ProductVariant{}, err
	}
	return s.HideProductVariant(ctx, tx, by, stored.ProductID, id)
}

// variantBySKU returns the id of the variant with a SKU.
func variantBySKU(ctx context.Context, q db.Querier, company tenant.ID, text string) (uuid.UUID, error) {
	id, err := sku.Find(ctx, q, company, sku.Variant, text)
	if err == nil && id == uuid.Nil {
		err = apierr.NotFound("PRODUCT_VARIANT", text)
	}
	return id, err
}
