package stockdoc

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// ItemInput names the product of a line in a request.
type ItemInput struct {
	ProductID *uuid.UUID `json:"productId,omitempty" format:"uuid" nullable:"true" doc:"or sku, barcode or externalId of the product or variant, which are ignored if productId is sent"`
	VariantID *uuid.UUID `json:"variantId,omitempty" format:"uuid" nullable:"true" doc:"required with productId if the product has variants"`
	Note      *string    `json:"note,omitempty" nullable:"true" maxLength:"4000"`
	lineitem.Naming
}

// QtyInput is a line with a quantity in a request.
type QtyInput struct {
	ItemInput
	Qty money.Qty `json:"qty" exclusiveMinimum:"0" maximum:"1000000"`
}

// CostInput is a line with a quantity and its cost in a request.
type CostInput struct {
	QtyInput
	UnitCost *money.Amount `json:"unitCost,omitempty" minimum:"0" doc:"default: cost of the product or variant"`
}

// Item is the product of a line. Names are those at the time of the document.
type Item struct {
	ID                uuid.UUID         `json:"id" format:"uuid"`
	ProductID         uuid.UUID         `json:"productId" format:"uuid"`
	ProductName       string            `json:"productName"`
	ProductSKU        string            `json:"productSku"`
	VariantID         *uuid.UUID        `json:"variantId" format:"uuid"`
	VariantSKU        *string           `json:"variantSku"`
	VariantAttributes map[string]string `json:"variantAttributes" nullable:"true"`
	Unit              *string           `json:"unit"`
	Note              *string           `json:"note"`
	SortOrder         int32             `json:"sortOrder"`
}

// Cost is the quantity of a line with its cost, in minor units.
type Cost struct {
	Qty      money.Qty    `json:"qty"`
	UnitCost money.Amount `json:"unitCost"`
	Amount   money.Amount `json:"amount" doc:"qty × unitCost"`
}

// Posted is a line that moved stock when its document was posted.
type Posted struct {
	Item
	Cost
	Stock []lineitem.StockItem `json:"-"` // what the line moves
}

// Totals are the sums of the lines.
type Totals struct {
	TotalQty    money.Qty    `json:"totalQty" doc:"sum of the quantities"`
	TotalAmount money.Amount `json:"totalAmount" doc:"sum of the amounts"`
}

// input is a line of any request: a struct that embeds [ItemInput].
type input interface{ named() ItemInput }

func (in ItemInput) named() ItemInput { return in }

// Unidentified tells [lineitem.Identify] what names the product, if its id was not sent.
func (in *ItemInput) Unidentified() (n *lineitem.Naming, kind string) {
	if in.ProductID != nil {
		return nil, ""
	}
	return &in.Naming, trade.KindProduct
}

// Identify sets the ids of the product and the variant.
func (in *ItemInput) Identify(r trade.ItemRef) {
	in.ProductID = &r.ID
	if r.Variant != uuid.Nil {
		in.VariantID = &r.Variant
	}
}

// identified is a line of any request whose product can be named.
type identified[T any] interface {
	*T
	named() ItemInput
	Unidentified() (n *lineitem.Naming, kind string)
	Identify(r trade.ItemRef)
}

// Identify returns the lines of a request with the ids of the products that they name.
//
// Errors: 400 for lines that name no product, or several; those of [lineitem.Identify].
func Identify[T any, P identified[T]](ctx context.Context, q db.Querier, s Sources, company tenant.ID, all []T) ([]T, error) {
	var faults apierr.Fields
	for i := range all {
		in := P(&all[i]).named()
		if in.ProductID != nil {
			continue
		}
		in.CheckNaming(i, "productId", &faults)
		if in.VariantID != nil {
			faults.Add(lineitem.At(i, "variantId"), apierr.Conflict, "is allowed only with productId; name the variant itself by sku, barcode or externalId")
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return lineitem.Identify[T, P](ctx, q, s.Catalog, company, all)
}

func (in ItemInput) ref() trade.ItemRef {
	r := trade.ItemRef{Kind: trade.KindProduct, ID: *in.ProductID}
	if in.VariantID != nil {
		r.Variant = *in.VariantID
	}
	return r
}

// Key is the stock that the line is about.
func (in ItemInput) Key() trade.StockKey { return keyOf(in.ref()) }

func keyOf(r trade.ItemRef) trade.StockKey { return trade.StockKey{Product: r.ID, Variant: r.Variant} }

// Key is the stock that the line is about.
func (l *Item) Key() trade.StockKey {
	k := trade.StockKey{Product: l.ProductID}
	if l.VariantID != nil {
		k.Variant = *l.VariantID
	}
	return k
}

// Goods are the products of lines.
type Goods struct {
	items    map[trade.ItemRef]trade.Item
	products map[trade.StockKey]trade.StockProduct
}

// Load reads the products of the lines of a document, its other references and the name of who created it, and runs other reads, in one
// round trip. The lines have passed [Identify].
func Load[In input](ctx context.Context, q db.Querier, s Sources, h *Header, refs reference.Set, in []In, others ...batchloader.Read) (g Goods, err error) {
	reads := append(append(refs.Reads(h.CompanyID), s.NameCreator(h)), others...)
	if len(in) > 0 {
		items := make([]trade.ItemRef, len(in))
		keys := make([]trade.StockKey, len(in))
		for i := range in {
			items[i] = in[i].named().ref()
			keys[i] = keyOf(items[i])
		}
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			g.items, err = s.Catalog.OrderItems(ctx, q, h.CompanyID, items)
			return err
		}, func(ctx context.Context, q db.Querier) (err error) {
			g.products, err = s.Catalog.StockProducts(ctx, q, h.CompanyID, keys)
			return err
		})
	}
	return g, batchloader.Load(ctx, q, reads...)
}

// Build makes the lines of a document; each makes one from the input, its product, and what the catalog says of it. Hidden products
// are taken: a document about stock is a fact.
//
// Errors: 404 PRODUCT_NOT_FOUND, 404 PRODUCT_VARIANT_NOT_FOUND, 409 PRODUCT_VARIANT_REQUIRED, those of each.
func Build[In input, L any](g Goods, all []In, each func(i int, in In, item Item, of trade.Item) (L, error)) ([]L, error) {
	for i, line := range all {
		in := line.named()
		item, ok := g.items[in.ref()]
		switch {
		case !ok:
			return nil, apierr.ReferenceNotFound("PRODUCT", lineitem.At(i, "productId"), in.ProductID.String())
		case item.UnknownVariant:
			return nil, apierr.ReferenceNotFound("PRODUCT_VARIANT", lineitem.At(i, "variantId"), in.VariantID.String())
		}
	}
	lines := make([]L, len(all))
	for i, line := range all {
		in := line.named()
		of := g.items[in.ref()]
		if of.HasVariants && in.VariantID == nil {
			field := in.Field(i, "variantId")
			return nil, apierr.StateConflict("PRODUCT_VARIANT_REQUIRED", "%s: the product has variants; set the variant", field).
				With("field", field).With("productId", in.ProductID)
		}
		p := g.products[keyOf(in.ref())]
		l, err := each(i, line, Item{
			ID: record.NewID(), ProductID: *in.ProductID, ProductName: p.Name, ProductSKU: p.SKU,
			VariantID: in.VariantID, VariantSKU: p.VariantSKU, VariantAttributes: p.VariantAttributes,
			Unit: &of.Unit, Note: in.Note, SortOrder: int32(i),
		}, of)
		if err != nil {
			return nil, err
		}
		lines[i] = l
	}
	return lines, nil
}

// cost is what the goods of a line cost.
func (in CostInput) cost(of trade.Item) (c Cost, err error) {
	c = Cost{Qty: in.Qty, UnitCost: of.Cost}
	if in.UnitCost != nil {
		c.UnitCost = *in.UnitCost
	}
	c.Amount, err = money.LineAmount(c.Qty, c.UnitCost)
	return c, err
}

// Post makes the line of a document that moves stock when it is posted. A bundle without stock of its own moves its components, a
// product without stock nothing.
func (in CostInput) Post(item Item, of trade.Item) (l Posted, err error) {
	l.Item = item
	if l.Cost, err = in.cost(of); err != nil {
		return l, err
	}
	l.Stock, err = lineitem.StockItems(in.ref(), of, l.Qty)
	return l, err
}

// Add adds a line to the totals. The error is [money.ErrOverflow].
func (t *Totals) Add(c Cost) (err error) {
	t.TotalQty += c.Qty
	t.TotalAmount, err = money.Sum(t.TotalAmount, c.Amount)
	return err
}

// Deltas are the changes of stock by the line in a warehouse, multiplied by sign.
func (l *Posted) Deltas(warehouse uuid.UUID, sign money.Qty) []trade.StockDelta {
	deltas := make([]trade.StockDelta, len(l.Stock))
	for i, s := range l.Stock {
		deltas[i] = trade.StockDelta{Warehouse: warehouse, StockKey: trade.StockKey{Product: s.Product, Variant: s.Variant}, Qty: sign * s.Qty}
	}
	return deltas
}

// Describes reports whether the input names the product and the note of a line as they are.
func (in ItemInput) Describes(l Item) bool {
	return *in.ProductID == l.ProductID && record.Same(in.VariantID, l.VariantID) && record.Same(in.Note, l.Note)
}

// CheckStocked returns a 409 for the i-th line of a document that needs goods with stock of their own.
func CheckStocked(i int, item Item, of trade.Item) error {
	if of.HasStock {
		return nil
	}
	return apierr.StateConflict("STOCK_ACCOUNTING_DISABLED", "%s: stock tracking is disabled for the product; set hasStock to true first", lineitem.At(i, "productId")).
		With("field", lineitem.At(i, "productId")).With("productId", item.ProductID)
}

// Costed is a line of goods with stock of their own, and what they cost.
type Costed struct {
	Item
	Cost
}

// Stocked makes the i-th line of a document, and adds it to the totals.
//
// Errors: 409 STOCK_ACCOUNTING_DISABLED.
func (in CostInput) Stocked(i int, item Item, of trade.Item, sum *Totals) (l Costed, err error) {
	if err := CheckStocked(i, item, of); err != nil {
		return l, err
	}
	return in.Costed(item, of, sum)
}

// Costed makes a line of goods that need not have stock, and adds it to the totals.
func (in CostInput) Costed(item Item, of trade.Item, sum *Totals) (l Costed, err error) {
	l.Item = item
	if l.Cost, err = in.cost(of); err != nil {
		return l, err
	}
	return l, sum.Add(l.Cost)
}

// Delta is the change of stock by the line in a warehouse, multiplied by sign.
func (l *Costed) Delta(warehouse uuid.UUID, sign money.Qty) trade.StockDelta {
	return trade.StockDelta{Warehouse: warehouse, StockKey: l.Key(), Qty: sign * l.Qty}
}

// Stocked returns those lines of a request whose product has stock.
func (g Goods) Stocked(all []ItemInput) []ItemInput {
	return slices.DeleteFunc(all, func(in ItemInput) bool {
		of, known := g.items[in.ref()]
		return !known || of.UnknownVariant || !of.HasStock || of.HasVariants && in.VariantID == nil
	})
}
