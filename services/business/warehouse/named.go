package warehouse

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/sku"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// check returns a fault unless the adjustment names what it is about, and its quantity, in one way.
func (a Adjustment) check() error {
	var faults apierr.Fields
	byID := a.ProductID != uuid.Nil || a.VariantID != nil
	switch {
	case a.SKU != "" && a.Barcode != "":
		faults.Add("barcode", apierr.Conflict, "cannot be combined with sku; send one of them")
	case a.SKU != "" && byID:
		faults.Add("sku", apierr.Conflict, "cannot be combined with productId or variantId: it names the product or the variant alone")
	case a.Barcode != "" && byID:
		faults.Add("barcode", apierr.Conflict, "cannot be combined with productId or variantId: it names the product or the variant alone")
	case a.SKU == "" && a.Barcode == "" && a.ProductID == uuid.Nil:
		faults.Add("productId", apierr.Required, "is required, or sku, or barcode")
	}
	switch {
	case a.TargetQty != nil && a.Delta != nil:
		faults.Add("delta", apierr.Conflict, "cannot be combined with targetQty; send one of them")
	case a.TargetQty == nil && a.Delta == nil:
		faults.Add("targetQty", apierr.Required, "is required, or delta")
	}
	return faults.Err()
}

// keyOf is the product or variant that an adjustment names. Several adjustments of one product wait for each other.
func (s *Service) keyOf(ctx context.Context, tx *db.Tx, company tenant.ID, a Adjustment) (k trade.StockKey, err error) {
	var entity string
	var id uuid.UUID
	switch {
	case a.SKU != "":
		if entity, id, err = sku.Owner(ctx, tx, company, a.SKU); err == nil && (id == uuid.Nil || entity == sku.Service) {
			err = apierr.ReferenceNotFound("PRODUCT", "sku", a.SKU)
		}
	case a.Barcode != "":
		if entity, id, err = sku.BarcodeOwner(ctx, tx, company, a.Barcode); err == nil && id == uuid.Nil {
			err = apierr.ReferenceNotFound("PRODUCT", "barcode", a.Barcode)
		}
	default:
		k.Product = a.ProductID
		if a.VariantID != nil {
			k.Variant = *a.VariantID
		}
		return k, tx.LockInProcess(ctx, "stock", a.ProductID)
	}
	if err != nil || entity == sku.Product {
		return trade.StockKey{Product: id}, err
	}
	k.Variant = id
	k.Product, err = s.cfg.ProductOf(ctx, tx, company, id)
	return k, err
}
