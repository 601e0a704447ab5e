package lineitem

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Discounts are the discounts of a document as a whole, which come after those of its lines; see docs/reference/rules.md#discounts.
type Discounts struct {
	DiscountPercent money.Percent `json:"discountPercent" db:"discount_percent_bp"`
	FixedDiscount   money.Amount  `json:"fixedDiscount" minimum:"0" doc:"minor units, after discountPercent; at most what is left of the document"`
	CouponCode      *string       `json:"couponCode" maxLength:"64" doc:"why there is a discount; the platform only keeps it"`
}

// Taxation says how the taxes of a document are calculated. A document keeps what the company had set when it was created.
type Taxation struct {
	TaxMode     string `json:"taxMode" db:",insert" enum:"included,added" doc:"included: total contains taxAmount; added: taxAmount is added to the discounted amounts"`
	TaxRounding string `json:"taxRounding" db:",insert" enum:"line,document" doc:"where taxes are rounded: line by line, or once per rate"`
}

// TaxationOf returns how the taxes of new documents of the company are calculated.
func TaxationOf(s access.Settings) Taxation {
	return Taxation{TaxMode: cmp.Or(s.TaxMode, access.TaxIncluded), TaxRounding: cmp.Or(s.TaxRounding, access.TaxPerLine)}
}

// Totals are the amounts of a document, which the platform computes from its lines.
type Totals struct {
	Subtotal       money.Amount `json:"subtotal" doc:"sum of the amounts of the lines"`
	DiscountAmount money.Amount `json:"discountAmount" doc:"discounts of the lines and of the document"`
	TaxAmount      money.Amount `json:"taxAmount" doc:"sum of the taxes"`
	Total          money.Amount `json:"total" doc:"after the discounts, with taxes"`
	Taxes          []Tax        `json:"taxes" doc:"by rate; without lines that have none"`
	Taxation
}

// Tax is the tax of the lines with one rate.
type Tax struct {
	TaxRateID uuid.UUID     `json:"taxRateId" format:"uuid"`
	Rate      money.Percent `json:"rate" doc:"percent"`
	Base      money.Amount  `json:"base" doc:"total of the lines without the tax"`
	Amount    money.Amount  `json:"amount"`
}

// Sum returns the totals of a document before taxes, and sets the discounts of the lines to their own. The error is
// [money.ErrOverflow].
func Sum[L any, P line[L]](lines []L, d Discounts, how Taxation) (Totals, error) {
	t := Totals{Taxation: how}
	var own money.Amount
	for _, l := range Of[L, P](lines) {
		l.DiscountAmount = l.ownDiscount()
		own += l.DiscountAmount
		var err error
		if t.Subtotal, err = money.Sum(t.Subtotal, l.Amount); err != nil {
			return Totals{}, err
		}
	}
	left := t.Subtotal - own
	share := money.Discount(left, d.DiscountPercent)
	share += min(d.FixedDiscount, left-share)
	t.DiscountAmount, t.Total = own+share, left-share
	return t, nil
}

// ownDiscount is the discount of the line alone.
func (l *Line) ownDiscount() money.Amount {
	discount := money.Discount(l.Amount, l.DiscountPercent)
	return discount + min(l.FixedDiscount, l.Amount-discount)
}

// Settle completes lines and totals that [Sum] has returned: what each line has of the discount of the document and of points that
// are redeemed, which are at most the total, and the taxes of what is left. The error is [money.ErrOverflow].
func Settle[L any, P line[L]](lines []L, t Totals, points money.Amount) (Totals, error) {
	all := Of[L, P](lines)
	left := make([]money.Amount, len(lines))
	share := t.DiscountAmount + points
	for i, l := range all {
		left[i] = l.Amount - l.DiscountAmount
		share -= l.DiscountAmount
	}
	for i, share := range money.Spread(share, left) {
		all[i].DiscountAmount += share
		all[i].Total = left[i] - share
	}
	t.Total -= points
	t.tax(all)
	if t.TaxMode != access.TaxAdded {
		return t, nil
	}
	var err error
	t.Total, err = money.Sum(t.Total, t.TaxAmount)
	return t, err
}

// tax sets the taxes of the lines, whose totals are discounted, and of the document.
func (t *Totals) tax(lines []*Line) {
	for _, same := range byRate(lines) {
		t.taxRate(same)
	}
	for _, l := range lines {
		if l.TaxRate == nil {
			l.TaxAmount = 0
		}
		if t.TaxMode == access.TaxAdded {
			l.Total += l.TaxAmount
		}
	}
	t.sumTaxes(lines)
}

// taxRate sets the taxes of lines with one rate. Where they are rounded once for the document, each line has its share of that.
func (t *Totals) taxRate(lines []*Line) {
	of := money.TaxWithin
	if t.TaxMode == access.TaxAdded {
		of = money.TaxOn
	}
	rate := *lines[0].TaxRate
	var sum money.Amount
	left := make([]money.Amount, len(lines))
	for i, l := range lines {
		left[i], sum = l.Total, sum+l.Total
		l.TaxAmount = of(l.Total, rate)
	}
	if t.TaxRounding != access.TaxPerDocument {
		return
	}
	for i, share := range money.Spread(of(sum, rate), left) {
		lines[i].TaxAmount = share
	}
}

// WithTaxes returns the totals with the taxes of lines whose amounts are known, as those of a refund are.
func WithTaxes[L any, P line[L]](t Totals, lines []L) Totals {
	t.sumTaxes(Of[L, P](lines))
	return t
}

// sumTaxes sets the taxes of the document to those of its lines.
func (t *Totals) sumTaxes(lines []*Line) {
	t.Taxes, t.TaxAmount = []Tax{}, 0
	for _, same := range byRate(lines) {
		tax := Tax{TaxRateID: record.OrZero(same[0].TaxRateID), Rate: *same[0].TaxRate}
		for _, l := range same {
			tax.Base, tax.Amount = tax.Base+l.Total-l.TaxAmount, tax.Amount+l.TaxAmount
		}
		t.Taxes, t.TaxAmount = append(t.Taxes, tax), t.TaxAmount+tax.Amount
	}
}

// byRate groups the lines that have a tax rate by it, in the order in which the rates come first.
func byRate(lines []*Line) [][]*Line {
	type key struct {
		id   uuid.UUID
		rate money.Percent
	}
	var groups [][]*Line
	at := map[key]int{}
	for _, l := range lines {
		if l.TaxRate == nil {
			continue
		}
		k := key{record.OrZero(l.TaxRateID), *l.TaxRate}
		i, ok := at[k]
		if !ok {
			i, at[k] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}
