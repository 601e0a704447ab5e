package lineitem

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// A line that is sent again keeps its discount and the rate it was made with, unless others are sent.
func TestLinesKeepDiscountsAndRates(t *testing.T) {
	t.Parallel()
	item, old, now, retired := trade.ItemRef{Kind: "product", ID: uuid.New()}, uuid.New(), uuid.New(), uuid.New()
	b := Builder{
		Items: map[trade.ItemRef]trade.Item{item: {SKU: "A", Price: 100, Tax: &trade.TaxRate{ID: now, Percent: 2200}}},
		Taxes: map[uuid.UUID]money.Percent{old: 2000, now: 2200},
	}
	build := func(b Builder, in Input) (Line, error) {
		in.Kind, in.RefID = "product", &item.ID
		all, err := Build(b, []Input{in}, func(_ Input, l Line, _ int) Line { return l })
		if err != nil {
			return Line{}, err
		}
		return all[0], nil
	}
	had := Line{Kind: "product", RefID: &item.ID, Qty: money.Units(1), UnitPrice: 100, DiscountPercent: 1000, FixedDiscount: 5, TaxRateID: &old, TaxRate: ptr(money.Percent(1800))}
	kept := b
	kept.Had = []*Line{&had, {Kind: "custom", Name: "x", TaxRateID: &retired, TaxRate: ptr(money.Percent(500))}}
	for name, row := range map[string]struct {
		b       Builder
		in      Input
		percent money.Percent
		fixed   money.Amount
		id      uuid.UUID
		rate    money.Percent
	}{
		"a new line has the rate of its item":      {b, Input{}, 0, 0, now, 2200},
		"a new line with a rate":                   {b, Input{TaxRateID: &old, DiscountPercent: ptr(money.Percent(50)), FixedDiscount: ptr(money.Amount(1))}, 50, 1, old, 2000},
		"a line that is sent again":                {kept, Input{Qty: ptr(money.Units(2))}, 1000, 5, old, 1800},
		"a line with the rate that it has":         {kept, Input{TaxRateID: &old}, 1000, 5, old, 1800},
		"a line with another rate":                 {kept, Input{TaxRateID: &now}, 1000, 5, now, 2200},
		"a rate that only the document has":        {kept, Input{TaxRateID: &retired}, 1000, 5, retired, 500},
		"a line without discounts":                 {kept, Input{DiscountPercent: ptr(money.Percent(0)), FixedDiscount: ptr(money.Amount(0))}, 0, 0, old, 1800},
		"a line with one of the discounts changed": {kept, Input{FixedDiscount: ptr(money.Amount(7))}, 1000, 7, old, 1800},
	} {
		l, err := build(row.b, row.in)
		require.NoError(t, err, name)
		require.Equal(t, []any{row.percent, row.fixed, row.id, row.rate}, []any{l.DiscountPercent, l.FixedDiscount, *l.TaxRateID, *l.TaxRate}, name)
	}
	kept.Reprice = true
	l, err := build(kept, Input{})
	require.NoError(t, err)
	require.Equal(t, []any{money.Percent(0), now}, []any{l.DiscountPercent, *l.TaxRateID})
	_, err = build(b, Input{TaxRateID: &retired})
	requireFault(t, "TAX_RATE_NOT_FOUND", err)
}
