package warehouse

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Stock is the stock of a product or variant in a warehouse; see docs/reference/rules.md#stock.
type Stock struct {
	record.Key
	StockedProduct
	WarehouseID   uuid.UUID `json:"warehouseId" format:"uuid"`
	WarehouseName string    `json:"warehouseName"`
	Levels
	record.Meta
}

// StockedProduct is the product or variant of a stock record, as it is now.
type StockedProduct struct {
	ProductID         uuid.UUID         `json:"productId" format:"uuid"`
	ProductName       string            `json:"productName"`
	ProductSKU        string            `json:"productSku"`
	VariantID         *uuid.UUID        `json:"variantId" format:"uuid"`
	VariantSKU        *string           `json:"variantSku"`
	VariantAttributes map[string]string `json:"variantAttributes" nullable:"true"`
	CategoryID        *uuid.UUID        `json:"categoryId" format:"uuid"`
	CategoryName      *string           `json:"categoryName"`
}

// Levels are the quantities of a stock record.
type Levels struct {
	Qty          money.Qty `json:"qty" doc:"physical"`
	Reserved     money.Qty `json:"reserved" doc:"for open orders"`
	Available    money.Qty `json:"available" doc:"qty minus reserved"`
	ReorderPoint money.Qty `json:"reorderPoint" doc:"0 = not set"`
	IsLowStock   bool      `json:"isLowStock" doc:"at or below the reorder point"`
}

// derive sets the computed fields.
func (l *Levels) derive() {
	l.Available = l.Qty - l.Reserved
	l.IsLowStock = isLow(l.Qty, l.ReorderPoint)
}

// isLow reports whether a quantity is at or below its reorder point; 0 = no reorder point.
func isLow(qty, reorderPoint money.Qty) bool { return reorderPoint > 0 && qty <= reorderPoint }

func describe(k trade.StockKey, p trade.StockProduct) StockedProduct {
	return StockedProduct{
		ProductID: k.Product, ProductName: p.Name, ProductSKU: p.SKU, VariantID: k.VariantID(), VariantSKU: p.VariantSKU,
		VariantAttributes: p.VariantAttributes, CategoryID: p.CategoryID, CategoryName: p.CategoryName,
	}
}

func (p *StockedProduct) key() trade.StockKey {
	return trade.StockKey{Product: p.ProductID, Variant: record.OrZero(p.VariantID)}
}

// Adjustment sets or changes the physical quantity of one stock row; see docs/reference/rules.md#stock-adjustment.
type Adjustment struct {
	ProductID    uuid.UUID  `json:"productId" format:"uuid" doc:"or sku, or barcode"`
	VariantID    *uuid.UUID `json:"variantId" format:"uuid" doc:"required with the productId of a product that has variants"`
	SKU          string     `json:"sku" minLength:"1" maxLength:"64" doc:"of the product or variant, in place of productId"`
	Barcode      string     `json:"barcode" minLength:"1" maxLength:"64" doc:"of the active product or variant, in place of productId"`
	WarehouseID  uuid.UUID  `json:"warehouseId" required:"true" format:"uuid"`
	TargetQty    *int64     `json:"targetQty" minimum:"-1000000000" maximum:"1000000000" doc:"the new quantity; or delta"`
	Delta        *money.Qty `json:"delta" minimum:"-1000000000" maximum:"1000000000" doc:"what the quantity changes by, in place of targetQty"`
	Reason       string     `json:"reason" required:"true" minLength:"1" maxLength:"500"`
	ExpectedQty  *money.Qty `json:"expectedQty" minimum:"-999999999999999" maximum:"999999999999999" doc:"the change is rejected unless this is the current quantity"`
	ReorderPoint *money.Qty `json:"reorderPoint" minimum:"0" maximum:"1000000000" doc:"null = unchanged; 0 = none"`
}

// adjusted holds the fields that the event of an adjustment adds to the stock record.
type adjusted struct {
	PreviousQty money.Qty `json:"previousQty"`
	Delta       money.Qty `json:"delta"`
	Reason      string    `json:"reason"`
	MovementID  uuid.UUID `json:"movementId" format:"uuid"`
}

// SetStock sets the quantity of a product in a warehouse, or changes it by a difference, and sets the reorder point if it is given. If
// the quantity is unchanged, there is no movement.
//
// Errors: 400, 404 for a reference, 409 STOCK_ACCOUNTING_DISABLED, 409 PRODUCT_VARIANT_REQUIRED, 409 STOCK_CHANGED, 409
// STOCK_INSUFFICIENT for a difference that takes more than is there, if the company does not allow negative stock.
func (s *Service) SetStock(ctx context.Context, tx *db.Tx, by access.Caller, in Adjustment) (Stock, error) {
	if err := in.check(); err != nil {
		return Stock{}, err
	}
	k, err := s.keyOf(ctx, tx, by.Company, in)
	if err != nil {
		return Stock{}, err
	}
	in.ProductID = k.Product
	p, name, err := s.adjustable(ctx, tx, by.Company, in, k)
	if err != nil {
		return Stock{}, err
	}
	st, err := lockStock(ctx, tx, by.Company, in.WarehouseID, k)
	if err != nil {
		return Stock{}, err
	}
	st.StockedProduct, st.WarehouseName = describe(k, p), name
	if in.ExpectedQty != nil && *in.ExpectedQty != st.Qty {
		return Stock{}, apierr.StateConflict("STOCK_CHANGED", "the quantity is %s but expectedQty is %s; read the stock again and retry", st.Qty, *in.ExpectedQty).With("qty", st.Qty)
	}
	before := st.Levels
	if st.Qty, err = in.applyTo(by, st); err != nil {
		return Stock{}, err
	}
	if in.ReorderPoint != nil {
		st.ReorderPoint = *in.ReorderPoint
	}
	st.derive()
	if st.Levels == before {
		return st, nil
	}
	st.Touch(tx.Now())
	return s.storeAdjusted(ctx, tx, by, before, st, in.Reason)
}

// applyTo returns the quantity of the row after the adjustment. A target is what was counted, so it may be any quantity.
func (a Adjustment) applyTo(by access.Caller, st Stock) (money.Qty, error) {
	if a.TargetQty != nil {
		return money.Units(*a.TargetQty), nil
	}
	qty := st.Qty + *a.Delta
	if *a.Delta < 0 && qty < 0 && by.Settings.BlocksStock() {
		return 0, insufficient([]map[string]any{{
			"productId": st.ProductID, "variantId": st.VariantID, "warehouseId": st.WarehouseID, "required": -*a.Delta, "available": st.Available,
		}})
	}
	return qty, nil
}

// storeAdjusted stores an adjusted row and its movement, and raises their events.
func (s *Service) storeAdjusted(ctx context.Context, tx *db.Tx, by access.Caller, before Levels, st Stock, reason string) (Stock, error) {
	var raised []outbox.Event
	if delta := st.Qty - before.Qty; delta != 0 {
		m := newMovement(tx, by, trade.StockDocument{Movement: trade.MovementAdjustment, Reason: reason}, st, delta)
		if err := s.record(ctx, tx, by, m); err != nil {
			return Stock{}, err
		}
		raised = append(raised, outbox.Event{Name: stockAdjusted.Name, Extra: adjusted{PreviousQty: before.Qty, Delta: delta, Reason: reason, MovementID: m.ID}})
	}
	if st.IsLowStock && !isLow(before.Qty, before.ReorderPoint) {
		raised = append(raised, outbox.Event{Name: stockLow.Name})
	}
	meta := st.Meta
	st.EvPos += max(int64(len(raised)), 1) - 1 // the record stores the position of the last event
	updateStock(tx, st)
	if st.Available != before.Available {
		markChanged(tx, by.Company, []trade.StockDelta{{Warehouse: st.WarehouseID, StockKey: st.key(), Qty: st.Available - before.Available}})
	}
	for i, e := range raised {
		e.Actor, e.Type, e.ID, e.Meta, e.Offset, e.Data = by.ActorID(), aggregateStock, st.ID, meta, int64(i), st
		if err := outbox.Raise(ctx, tx, by.Company, e); err != nil {
			return Stock{}, err
		}
	}
	return st, nil
}

// adjustable reads the records that the adjustment refers to.
func (s *Service) adjustable(ctx context.Context, tx *db.Tx, company tenant.ID, in Adjustment, k trade.StockKey) (p trade.StockProduct, warehouse string, err error) {
	bare := trade.StockKey{Product: in.ProductID}
	products, names, err := s.describeAll(ctx, tx, company, []trade.StockKey{bare, k}, []uuid.UUID{in.WarehouseID})
	if err != nil {
		return p, "", err
	}
	if _, ok := products[bare]; !ok {
		return p, "", apierr.ReferenceNotFound("PRODUCT", "productId", in.ProductID.String())
	}
	p, known := products[k]
	if !known {
		return p, "", apierr.ReferenceNotFound("PRODUCT_VARIANT", "variantId", k.Variant.String())
	}
	warehouse, known = names[in.WarehouseID]
	switch {
	case !known:
		return p, "", apierr.ReferenceNotFound("WAREHOUSE", "warehouseId", in.WarehouseID.String())
	case !p.HasStock:
		return p, "", apierr.StateConflict("STOCK_ACCOUNTING_DISABLED", "stock tracking is disabled for the product; set hasStock to true first")
	case p.HasVariants && k.Variant == uuid.Nil:
		return p, "", apierr.StateConflict("PRODUCT_VARIANT_REQUIRED", "stock of the product is tracked per variant; set variantId, or the sku of the variant")
	}
	return p, warehouse, nil
}
