package lineitem

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Pricing is what a request says of the prices of all its lines.
type Pricing struct {
	Reprice bool `json:"reprice,omitempty" doc:"makes all lines as in a new document: prices from the price list or the catalog where none is sent, no discounts that are not sent, tax rates as they are now; otherwise a line of an item that the document has keeps its price, discount and tax rate"`
}

// Check returns a fault if lines are to be priced anew that the request does not have.
func (p Pricing) Check(items int) error {
	if p.Reprice && items == 0 {
		return apierr.InvalidField("items", apierr.Required, "is required with reprice; send the items to price")
	}
	return nil
}

// Of returns the common parts of the lines of a document, for [Builder.Had].
func Of[L any, P line[L]](lines []L) []*Line {
	all := make([]*Line, len(lines))
	for i := range lines {
		all[i] = P(&lines[i]).common()
	}
	return all
}

// knows reports whether the document has the item already.
func (b Builder) knows(r trade.ItemRef) bool {
	return slices.ContainsFunc(b.Had, func(l *Line) bool {
		had, ok := l.Ref()
		return ok && had == r
	})
}

// kept returns the lines whose price new ones can keep.
func (b Builder) kept() []*Line {
	if b.Reprice {
		return nil
	}
	return b.Had
}

// continued returns for each input the index in Had of the line that it continues, and -1 for a new line: the line that it describes,
// otherwise one of the same item with the same modifiers; of several, the one at its place before the others. No two continue the same line.
func continued[T input](had []*Line, items []T) []int {
	at, taken := make([]int, len(items)), make([]bool, len(had))
	for i := range at {
		at[i] = -1
	}
	match := func(fits func(in Input, l *Line) bool) {
		for i := range items {
			if at[i] < 0 {
				at[i] = find(had, taken, i, func(l *Line) bool { return fits(items[i].common(), l) })
			}
		}
	}
	match(Input.Describe)
	match(Input.sells)
	return at
}

// find takes the line at the place i if it fits, otherwise the first one that does; -1 = none.
func find(had []*Line, taken []bool, i int, fits func(l *Line) bool) int {
	free := func(j int) bool { return !taken[j] && fits(had[j]) }
	if i >= len(had) || !free(i) {
		i = -1
		for j := range had {
			if free(j) {
				i = j
				break
			}
		}
	}
	if i >= 0 {
		taken[i] = true
	}
	return i
}

// sells reports whether an input is about the item of a line, with the same modifiers. Custom lines have no item.
func (in Input) sells(l *Line) bool {
	r, ok := in.Ref()
	had, _ := l.Ref()
	return ok && r == had && in.hasModifiersOf(l)
}

func (in Input) hasModifiersOf(l *Line) bool {
	return slices.EqualFunc(in.Modifiers, l.Modifiers, func(in ModifierInput, m Modifier) bool { return in.OptionID == m.OptionID && orOne(in.Qty) == m.Qty })
}

// Describe reports whether an input describes a line as it is. A name, price, discount or tax rate that was not sent is that of the line.
func (in Input) Describe(l *Line) bool {
	return in.Kind == l.Kind && record.Same(in.RefID, l.RefID) && record.Same(in.VariantID, l.VariantID) && (in.Name == nil || *in.Name == l.Name) &&
		orOne(in.Qty) == l.Qty && (in.UnitPrice == nil || *in.UnitPrice == l.UnitPrice) &&
		(in.DiscountPercent == nil || *in.DiscountPercent == l.DiscountPercent) && (in.FixedDiscount == nil || *in.FixedDiscount == l.FixedDiscount) &&
		(in.TaxRateID == nil || record.Same(in.TaxRateID, l.TaxRateID)) && in.hasModifiersOf(l)
}

// terms sets the discount and the tax rate of a line: what was sent, or those of the line of Had that it continues, or none and the rate
// of the item.
func (b Builder) terms(in Input, l *Line, had int) {
	r, _ := in.Ref()
	switch tax := b.Items[r].Tax; {
	case had >= 0:
		l.TaxRateID, l.TaxRate = b.Had[had].TaxRateID, b.Had[had].TaxRate
	case tax != nil:
		l.TaxRateID, l.TaxRate = &tax.ID, &tax.Percent
	}
	l.DiscountPercent, l.FixedDiscount = record.OrZero(in.DiscountPercent), record.OrZero(in.FixedDiscount)
	if in.TaxRateID != nil && !record.Same(in.TaxRateID, l.TaxRateID) {
		l.TaxRateID, l.TaxRate = in.TaxRateID, b.percent(*in.TaxRateID)
	}
}

// percent is the percentage of a rate: as it is now, or as a line of the document has it if the rate cannot be chosen any more.
func (b Builder) percent(rate uuid.UUID) *money.Percent {
	if p, ok := b.Taxes[rate]; ok {
		return &p
	}
	for _, l := range b.Had {
		if l.TaxRateID != nil && *l.TaxRateID == rate {
			return l.TaxRate
		}
	}
	return nil
}

// like returns the input with the name, the price and the discount of the line that it continues, unless it has its own.
func (in Input) like(l *Line) Input {
	if in.Name == nil {
		in.Name = &l.Name
	}
	if in.UnitPrice == nil {
		in.UnitPrice = new(money.Amount)
		*in.UnitPrice = l.UnitPrice
	}
	in.DiscountPercent, in.FixedDiscount = cmp.Or(in.DiscountPercent, &l.DiscountPercent), cmp.Or(in.FixedDiscount, &l.FixedDiscount)
	return in
}
