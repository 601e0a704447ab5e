package lineitem

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Line holds the fields that the lines of all documents have. Money is in minor units.
type Line struct {
	ID             uuid.UUID    `json:"id" format:"uuid"`
	Kind           string       `json:"kind" enum:"product,service,custom"`
	RefID          *uuid.UUID   `json:"refId" format:"uuid"`
	VariantID      *uuid.UUID   `json:"variantId" format:"uuid"`
	SKU            *string      `json:"sku"`
	Name           string       `json:"name"`
	Unit           *string      `json:"unit"`
	Qty            money.Qty    `json:"qty"`
	UnitPrice      money.Amount `json:"unitPrice"`
	Amount         money.Amount `json:"amount" doc:"qty × unitPrice"`
	DiscountAmount money.Amount `json:"discountAmount" doc:"share of the discount of the document"`
	Total          money.Amount `json:"total" doc:"amount - discountAmount"`
	Modifiers      []Modifier   `json:"modifiers"`
	SortOrder      int32        `json:"sortOrder"`
	Stock          []StockItem  `json:"-"` // what the line takes from stock
}

// TransformSchema implements [huma.SchemaTransformer] for every line of a record: as in records, the limits of requests do not hold.
func (Line) TransformSchema(reg huma.Registry, s *huma.Schema) *huma.Schema {
	return record.Key{}.TransformSchema(reg, s)
}

// Modifier is a selected option of a line.
type Modifier struct {
	OptionID  uuid.UUID    `json:"optionId" format:"uuid"`
	Name      string       `json:"name"`
	Surcharge money.Amount `json:"surcharge" doc:"per piece"`
	Qty       money.Qty    `json:"qty"`
}

// StockItem is a product that a line takes from stock: its own product, or a component of a bundle. The JSON form is how
// documents store it.
type StockItem struct {
	Product uuid.UUID `json:"productId"`
	Variant uuid.UUID `json:"variantId"`     // zero = none
	Qty     money.Qty `json:"qty"`           // for the whole line
	Out     money.Qty `json:"out,omitempty"` // part of Qty that shipments have taken out already
}

// line is a line of any document: a struct that embeds [Line].
type line[L any] interface {
	*L
	common() *Line
}

func (l *Line) common() *Line { return l }

// Ref returns the catalog item of the line; ok is false for a custom line.
func (l *Line) Ref() (r trade.ItemRef, ok bool) { return ref(l.Kind, l.RefID, l.VariantID) }

// RefsOf returns the catalog items of the lines of a document, for [Builder.Known].
func RefsOf[L any, P line[L]](lines []L) map[trade.ItemRef]bool {
	refs := make(map[trade.ItemRef]bool, len(lines))
	for i := range lines {
		if r, ok := P(&lines[i]).common().Ref(); ok {
			refs[r] = true
		}
	}
	return refs
}

// Charge sets the amount of the line to that of a quantity, which is Qty unless the document multiplies it. The error is
// [money.ErrOverflow].
func (l *Line) Charge(qty money.Qty) (err error) {
	l.Amount, err = money.LineAmount(qty, l.UnitPrice)
	return err
}

// Effective returns the quantity of a line for a number of guests: qty per guest, or just qty if perGuest is false or the
// number is not known. The error is [money.ErrOverflow].
func Effective(qty money.Qty, perGuest bool, guests *int32) (money.Qty, error) {
	if !perGuest || guests == nil {
		return qty, nil
	}
	return qty.Times(int64(*guests))
}

// Totals are the amounts of a document, which the platform computes from its lines.
type Totals struct {
	Subtotal       money.Amount `json:"subtotal" doc:"before the discount"`
	DiscountAmount money.Amount `json:"discountAmount"`
	Total          money.Amount `json:"total" doc:"after the discount"`
}

// Sum returns the totals of a document with a discount in percent; see docs/reference/rules.md#discounts. The error is
// [money.ErrOverflow].
func Sum[L any, P line[L]](lines []L, discount money.Percent) (t Totals, err error) {
	for i := range lines {
		if t.Subtotal, err = money.Sum(t.Subtotal, P(&lines[i]).common().Amount); err != nil {
			return Totals{}, err
		}
	}
	t.DiscountAmount = money.Discount(t.Subtotal, discount)
	t.Total = t.Subtotal - t.DiscountAmount
	return t, nil
}

// Spread divides the discount of a document, which is at most the sum of the amounts, among its lines, so that the totals
// of the lines add up to the total of the document.
func Spread[L any, P line[L]](lines []L, discount money.Amount) {
	amounts := make([]money.Amount, len(lines))
	for i := range lines {
		amounts[i] = P(&lines[i]).common().Amount
	}
	for i, share := range money.Spread(discount, amounts) {
		l := P(&lines[i]).common()
		l.DiscountAmount, l.Total = share, l.Amount-share
	}
}

// KeepIDs gives lines that replace others the ids of those with the same content at the same place, so that nothing changes if a
// client sends the lines of a document again.
func KeepIDs[L any, P line[L]](before, after []L) []L {
	for i := range after {
		if i == len(before) {
			break
		}
		if was, now := P(&before[i]).common(), P(&after[i]).common(); was.sameContent(now) {
			now.ID = was.ID
		}
	}
	return after
}

// sameContent reports whether both lines sell the same. Their amounts and what they take from stock follow from that.
func (l *Line) sameContent(other *Line) bool {
	return l.Kind == other.Kind && record.Same(l.RefID, other.RefID) && record.Same(l.VariantID, other.VariantID) && l.Name == other.Name &&
		l.Qty == other.Qty && l.UnitPrice == other.UnitPrice && slices.Equal(l.Modifiers, other.Modifiers)
}

// Describe reports whether an input describes a line as it is. A name or price that was not sent is that of the line.
func (in Input) Describe(l *Line) bool {
	return in.Kind == l.Kind && record.Same(in.RefID, l.RefID) && record.Same(in.VariantID, l.VariantID) && (in.Name == nil || *in.Name == l.Name) &&
		orOne(in.Qty) == l.Qty && (in.UnitPrice == nil || *in.UnitPrice == l.UnitPrice) &&
		slices.EqualFunc(in.Modifiers, l.Modifiers, func(in ModifierInput, m Modifier) bool { return in.OptionID == m.OptionID && orOne(in.Qty) == m.Qty })
}
