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
	ID              uuid.UUID      `json:"id" format:"uuid"`
	Kind            string         `json:"kind" enum:"product,service,custom"`
	RefID           *uuid.UUID     `json:"refId" format:"uuid"`
	VariantID       *uuid.UUID     `json:"variantId" format:"uuid"`
	SKU             *string        `json:"sku"`
	Name            string         `json:"name"`
	Unit            *string        `json:"unit"`
	Qty             money.Qty      `json:"qty"`
	UnitPrice       money.Amount   `json:"unitPrice"`
	Amount          money.Amount   `json:"amount" doc:"qty × unitPrice"`
	DiscountPercent money.Percent  `json:"discountPercent" db:"discount_bp" doc:"of the line alone"`
	FixedDiscount   money.Amount   `json:"fixedDiscount" doc:"of the line alone, at most its amount"`
	DiscountAmount  money.Amount   `json:"discountAmount" doc:"discount of the line, and its share of the discount of the document"`
	TaxRateID       *uuid.UUID     `json:"taxRateId" format:"uuid" nullable:"true"`
	TaxRate         *money.Percent `json:"taxRate" db:"tax_rate_bp" nullable:"true" doc:"percent of taxRateId when the line was made; null = no tax"`
	TaxAmount       money.Amount   `json:"taxAmount" doc:"tax in total"`
	Total           money.Amount   `json:"total" doc:"amount - discountAmount, plus taxAmount if taxMode of the document is added"`
	Modifiers       []Modifier     `json:"modifiers"`
	SortOrder       int32          `json:"sortOrder"`
	Stock           []StockItem    `json:"-"` // what the line takes from stock
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
	Variant uuid.UUID `json:"variantId"`      // zero = none
	Qty     money.Qty `json:"qty"`            // for the whole line
	Out     money.Qty `json:"out,omitempty"`  // part of Qty that shipments have taken out already
	Back    money.Qty `json:"back,omitempty"` // part of Qty that has come back, by returns or a returned delivery
}

// line is a line of any document: a struct that embeds [Line].
type line[L any] interface {
	*L
	common() *Line
}

func (l *Line) common() *Line { return l }

// Ref returns the catalog item of the line; ok is false for a custom line.
func (l *Line) Ref() (r trade.ItemRef, ok bool) { return ref(l.Kind, l.RefID, l.VariantID) }

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
		l.Qty == other.Qty && l.UnitPrice == other.UnitPrice && l.DiscountPercent == other.DiscountPercent && l.FixedDiscount == other.FixedDiscount &&
		record.Same(l.TaxRateID, other.TaxRateID) && record.Same(l.TaxRate, other.TaxRate) && slices.Equal(l.Modifiers, other.Modifiers)
}
