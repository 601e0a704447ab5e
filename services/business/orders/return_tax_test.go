package orders

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// drawTaxed draws a completed order of lines with discounts and taxes.
func drawTaxed(rt *rapid.T) *Order {
	rates := []uuid.UUID{uuid.New(), uuid.New()}
	o := &Order{Header: Header{Status: statusCompleted, Totals: lineitem.Totals{Taxation: lineitem.Taxation{
		TaxMode:     rapid.SampledFrom([]string{access.TaxIncluded, access.TaxAdded}).Draw(rt, "mode"),
		TaxRounding: rapid.SampledFrom([]string{access.TaxPerLine, access.TaxPerDocument}).Draw(rt, "rounding"),
	}}}}
	o.DiscountPercent, o.FixedDiscount = money.Percent(rapid.Int32Range(0, 10_000).Draw(rt, "percent")), money.Amount(rapid.Int64Range(0, 500).Draw(rt, "fixed"))
	for range rapid.IntRange(1, 3).Draw(rt, "lines") {
		l := Line{Line: lineitem.Line{ID: uuid.New(), Qty: money.Qty(rapid.Int64Range(1, 5000).Draw(rt, "qty")), UnitPrice: money.Amount(rapid.Int64Range(0, 3000).Draw(rt, "price"))}}
		require.NoError(rt, l.Charge(l.Qty))
		if rapid.IntRange(0, 3).Draw(rt, "taxed") > 0 {
			l.TaxRateID, l.TaxRate = &rates[rapid.IntRange(0, 1).Draw(rt, "rate")], new(money.Percent(rapid.SampledFrom([]int32{0, 700, 2000, 10_000}).Draw(rt, "bp")))
		}
		o.Lines = append(o.Lines, l)
	}
	require.NoError(rt, o.price())
	return o
}

// Returns in any parts, of which some are cancelled, have shares of the taxes of an order that add up to them.
func TestReturnsHaveTheTaxesOfTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := drawTaxed(rt)
		var posted []Return
		back := func(items ...ReturnItem) {
			at, err := o.linesOf(len(items), func(i int) uuid.UUID { return items[i].OrderLineID })
			require.NoError(rt, err)
			r := Return{}
			require.NoError(rt, o.takeBack(&r, items, at, false))
			var tax money.Amount
			for _, v := range r.Taxes {
				require.GreaterOrEqual(rt, min(v.Base, v.Amount), money.Amount(0))
				tax += v.Amount
			}
			require.Equal(rt, r.TaxAmount, tax)
			for _, l := range r.Lines {
				require.GreaterOrEqual(rt, l.TaxAmount, money.Amount(0))
				require.LessOrEqual(rt, l.TaxAmount, l.Amount)
			}
			posted = append(posted, r)
		}
		for range rapid.IntRange(0, 8).Draw(rt, "steps") {
			l := &o.Lines[rapid.IntRange(0, len(o.Lines)-1).Draw(rt, "line")]
			switch left := l.Qty - l.ReturnedQty; {
			case len(posted) > 0 && rapid.IntRange(0, 2).Draw(rt, "cancel") == 0:
				i := rapid.IntRange(0, len(posted)-1).Draw(rt, "which")
				o.takeAway(&posted[i])
				posted = slices.Delete(posted, i, i+1)
				require.NoError(rt, o.price())
			case left > 0:
				back(ReturnItem{OrderLineID: l.ID, Qty: money.Qty(rapid.Int64Range(1, int64(left)).Draw(rt, "qty"))})
			}
			require.LessOrEqual(rt, o.ReturnedTax, o.TaxAmount)
		}
		if rest, _, err := o.returning(nil); err == nil {
			back(rest...)
		}
		require.Equal(rt, []money.Amount{o.Total, o.TaxAmount}, []money.Amount{o.ReturnedAmount, o.ReturnedTax})
		for _, l := range o.Lines {
			require.Equal(rt, []money.Amount{l.Total, l.TaxAmount}, []money.Amount{l.ReturnedAmount, l.ReturnedTax})
		}
	})
}

// Of a line of the smallest amounts, the parts whose shares were rounded down stay and the others are cancelled: what comes back next has no
// more tax than amount, and in the end all of the tax has come back.
func TestTaxOfAReturnAfterCancellations(t *testing.T) {
	t.Parallel()
	rate := uuid.New()
	o := &Order{Header: Header{Status: statusCompleted, Totals: lineitem.Totals{Taxation: lineitem.Taxation{TaxMode: access.TaxIncluded, TaxRounding: access.TaxPerLine}}}}
	o.Lines = []Line{{Line: lineitem.Line{ID: uuid.New(), Qty: money.Units(6), UnitPrice: 1, Amount: 6, TaxRateID: &rate, TaxRate: new(money.Percent(5000))}}}
	require.NoError(t, o.price())
	l := &o.Lines[0]
	require.Equal(t, money.Amount(2), l.TaxAmount)
	var posted []Return
	back := func() {
		r := Return{}
		require.NoError(t, o.takeBack(&r, []ReturnItem{{OrderLineID: l.ID, Qty: money.Units(1)}}, []int{0}, false))
		require.Equal(t, money.Amount(1), r.Amount)
		require.LessOrEqual(t, r.TaxAmount, r.Amount)
		posted = append(posted, r)
	}
	for range 6 {
		back()
	}
	require.Equal(t, money.Amount(2), o.ReturnedTax)
	cancelled := 0
	posted = slices.DeleteFunc(posted, func(r Return) bool {
		if r.TaxAmount > 0 {
			o.takeAway(&r)
			cancelled++
		}
		return r.TaxAmount > 0
	})
	require.Equal(t, []any{2, money.Amount(0)}, []any{cancelled, o.ReturnedTax})
	back()
	back()
	require.Equal(t, []money.Amount{6, 2}, []money.Amount{o.ReturnedAmount, o.ReturnedTax})
}
