package receipts

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// LineInput is one line in a request.
type LineInput struct {
	ProductID uuid.UUID     `json:"productId" format:"uuid"`
	VariantID *uuid.UUID    `json:"variantId,omitempty" format:"uuid" nullable:"true" doc:"required if the product has variants"`
	Qty       money.Qty     `json:"qty" exclusiveMinimum:"0" maximum:"1000000"`
	UnitCost  *money.Amount `json:"unitCost,omitempty" minimum:"0" doc:"default: cost of the product or variant"`
	Note      *string       `json:"note,omitempty" nullable:"true" maxLength:"4000"`
}

// Line is one line of a receipt. Names are those at the time of the receipt.
type Line struct {
	ID                uuid.UUID         `json:"id" format:"uuid"`
	ProductID         uuid.UUID         `json:"productId" format:"uuid"`
	ProductName       string            `json:"productName"`
	ProductSKU        string            `json:"productSku"`
	VariantID         *uuid.UUID        `json:"variantId" format:"uuid"`
	VariantSKU        *string           `json:"variantSku"`
	VariantAttributes map[string]string `json:"variantAttributes" nullable:"true"`
	Unit              *string           `json:"unit"`
	Qty               money.Qty         `json:"qty"`
	UnitCost          money.Amount      `json:"unitCost"`
	Amount            money.Amount      `json:"amount" doc:"qty × unitCost"`
	Note              *string           `json:"note"`
	SortOrder         int32             `json:"sortOrder"`

	Stock []lineitem.StockItem `json:"-"` // what the line puts on stock
}

func (in LineInput) ref() trade.ItemRef {
	r := trade.ItemRef{Kind: trade.KindProduct, ID: in.ProductID}
	if in.VariantID != nil {
		r.Variant = *in.VariantID
	}
	return r
}

func keyOf(r trade.ItemRef) trade.StockKey { return trade.StockKey{Product: r.ID, Variant: r.Variant} }

// lineBuilder makes lines of the products that the catalog knows. Hidden products may be received: a receipt is a fact.
type lineBuilder struct {
	items    map[trade.ItemRef]trade.Item
	products map[trade.StockKey]trade.StockProduct
}

// lines makes the lines of a receipt.
//
// Errors: 404 PRODUCT_NOT_FOUND, 404 PRODUCT_VARIANT_NOT_FOUND, 409 PRODUCT_VARIANT_REQUIRED.
func (b lineBuilder) lines(all []LineInput) ([]Line, error) {
	for i, in := range all {
		item, ok := b.items[in.ref()]
		switch {
		case !ok:
			return nil, apierr.ReferenceNotFound("PRODUCT", lineitem.At(i, "productId"), in.ProductID.String())
		case item.UnknownVariant:
			return nil, apierr.ReferenceNotFound("PRODUCT_VARIANT", lineitem.At(i, "variantId"), in.VariantID.String())
		}
	}
	tiers := make([]Line, len(all))
	for i, in := range all {
		if b.items[in.ref()].HasVariants && in.VariantID == nil {
			return nil, apierr.StateConflict("PRODUCT_VARIANT_REQUIRED", "%s: the product has variants; set the variant", lineitem.At(i, "variantId")).
				With("field", lineitem.At(i, "variantId")).With("productId", in.ProductID)
		}
		l, err := b.line(in)
		if err != nil {
			return nil, err
		}
		l.SortOrder = int32(i)
		tiers[i] = l
	}
	return tiers, nil
}

func (b lineBuilder) line(in LineInput) (l Line, err error) {
	r := in.ref()
	item, p := b.items[r], b.products[keyOf(r)]
	l = Line{
		ID: record.NewID(), ProductID: in.ProductID, ProductName: p.Name, ProductSKU: p.SKU,
		VariantID: in.VariantID, VariantSKU: p.VariantSKU, VariantAttributes: p.VariantAttributes,
		Unit: &item.Unit, Qty: in.Qty, UnitCost: item.Cost, Note: in.Note,
	}
	if in.UnitCost != nil {
		l.UnitCost = *in.UnitCost
	}
	if l.Amount, err = money.LineAmount(l.Qty, l.UnitCost); err != nil {
		return l, err
	}
	l.Stock, err = lineitem.StockItems(r, item, l.Qty)
	return l, err
}

// total sets the totals of the receipt.
func (r *Receipt) total() (err error) {
	for _, l := range r.Lines {
		r.TotalQty += l.Qty
		if r.TotalAmount, err = money.Sum(r.TotalAmount, l.Amount); err != nil {
			return err
		}
	}
	return nil
}

// deltas are the stock changes of the receipt multiplied by sign.
func (r *Receipt) deltas(sign money.Qty) []trade.StockDelta {
	var all []trade.StockDelta
	for _, l := range r.Lines {
		for _, s := range l.Stock {
			all = append(all, trade.StockDelta{
				Warehouse: r.WarehouseID, StockKey: trade.StockKey{Product: s.Product, Variant: s.Variant}, Qty: sign * s.Qty,
			})
		}
	}
	return all
}
