package lineitem

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// A document has lines of its own type.
type billed struct {
	Line
	Note string
}

// rounded is a/b, rounded half up.
func rounded(a, b money.Amount) money.Amount { return (2*a + b) / (2 * b) }

// rates are two rates, one of which was changed in between.
var standard, reduced = uuid.New(), uuid.New() //nolint:gochecknoglobals // constants

// drawDocument draws lines of quantities, prices, discounts and rates.
func drawDocument(rt *rapid.T) []billed {
	lines := make([]billed, rapid.IntRange(0, 12).Draw(rt, "lines"))
	for i := range lines {
		l := &lines[i]
		l.Qty, l.UnitPrice = money.Qty(rapid.Int64Range(1, 5_000).Draw(rt, "qty")), money.Amount(rapid.Int64Range(0, 100_000).Draw(rt, "price"))
		require.NoError(rt, l.Charge(l.Qty))
		l.DiscountPercent = money.Percent(rapid.SampledFrom([]int32{0, 0, 1, 1050, 10_000}).Draw(rt, "percent"))
		l.FixedDiscount = money.Amount(rapid.SampledFrom([]int64{0, 0, 1, 999, 1_000_000_000}).Draw(rt, "fixed"))
		if rapid.Bool().Draw(rt, "taxed") {
			l.TaxRateID = rapid.SampledFrom([]*uuid.UUID{&standard, &reduced}).Draw(rt, "rateId")
			l.TaxRate = ptr(money.Percent(rapid.SampledFrom([]int32{0, 700, 1900, 2000, 10_000}).Draw(rt, "rate")))
		}
	}
	return lines
}

func drawTaxation(rt *rapid.T) Taxation {
	return Taxation{
		TaxMode:     rapid.SampledFrom([]string{"included", "added"}).Draw(rt, "mode"),
		TaxRounding: rapid.SampledFrom([]string{"line", "document"}).Draw(rt, "rounding"),
	}
}

// The lines of a document add up to its amounts exactly: under discounts of lines and of the whole, points, and taxes of any mode and
// rounding; and so do their parts.
func TestTotalsOfLinesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		lines, how := drawDocument(rt), drawTaxation(rt)
		d := Discounts{
			DiscountPercent: money.Percent(rapid.Int32Range(0, 10_000).Draw(rt, "percent")),
			FixedDiscount:   money.Amount(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 1_000_000)).Draw(rt, "fixed")),
		}
		before, err := Sum(lines, d, how)
		require.NoError(rt, err)
		var subtotal, own money.Amount
		for i := range lines {
			l := &lines[i]
			percent := rounded(l.Amount*money.Amount(l.DiscountPercent), 10_000)
			subtotal, own = subtotal+l.Amount, own+percent+min(l.FixedDiscount, l.Amount-percent)
		}
		percent := rounded((subtotal-own)*money.Amount(d.DiscountPercent), 10_000)
		discount := own + percent + min(d.FixedDiscount, subtotal-own-percent)
		require.Equal(rt, Totals{Subtotal: subtotal, DiscountAmount: discount, Total: subtotal - discount, Taxation: how}, before)
		points := money.Amount(rapid.Int64Range(0, int64(before.Total)).Draw(rt, "points"))
		totals, err := Settle(lines, before, points)
		require.NoError(rt, err)
		checkSettled(rt, lines, totals, points)
		checkParts(rt, lines)
	})
	_, err := Sum([]billed{{Line: Line{Amount: money.MaxAmount}}, {Line: Line{Amount: 1}}}, Discounts{}, Taxation{})
	requireFault(t, "VALIDATION_ERROR", err)
	large := []billed{{Line: Line{Amount: money.MaxAmount, TaxRate: ptr(money.Percent(100))}}}
	totals, err := Sum(large, Discounts{}, Taxation{TaxMode: access.TaxAdded})
	require.NoError(t, err)
	_, err = Settle(large, totals, 0)
	requireFault(t, "VALIDATION_ERROR", err)
}

// checkSettled holds a document against what its amounts mean.
func checkSettled(rt *rapid.T, lines []billed, totals Totals, points money.Amount) {
	type key struct {
		id   uuid.UUID
		rate money.Percent
	}
	added := totals.TaxMode == access.TaxAdded
	var total, tax, discounts money.Amount
	left := map[key]money.Amount{} // of the prices with a rate, after discounts
	for _, l := range lines {
		net := l.Amount - l.DiscountAmount
		require.GreaterOrEqual(rt, min(l.DiscountAmount, l.TaxAmount, net), money.Amount(0))
		require.LessOrEqual(rt, l.TaxAmount, net)
		if added {
			require.Equal(rt, net+l.TaxAmount, l.Total)
		} else {
			require.Equal(rt, net, l.Total)
		}
		total, tax, discounts = total+l.Total, tax+l.TaxAmount, discounts+l.DiscountAmount
		if l.TaxRate == nil {
			require.Zero(rt, l.TaxAmount)
			continue
		}
		left[key{*l.TaxRateID, *l.TaxRate}] += net
		exact := taxOf(net, *l.TaxRate, added)
		if totals.TaxRounding == access.TaxPerLine {
			require.Equal(rt, exact, l.TaxAmount)
		} else {
			require.InDelta(rt, int64(exact), int64(l.TaxAmount), 1)
		}
	}
	require.Equal(rt, []money.Amount{totals.Total, totals.TaxAmount, totals.DiscountAmount + points}, []money.Amount{total, tax, discounts})
	require.Len(rt, totals.Taxes, len(left))
	for _, v := range totals.Taxes {
		net := left[key{v.TaxRateID, v.Rate}]
		if tax -= v.Amount; added {
			require.Equal(rt, net, v.Base)
		} else {
			require.Equal(rt, net, v.Base+v.Amount)
		}
		if totals.TaxRounding == access.TaxPerDocument {
			require.Equal(rt, taxOf(net, v.Rate, added), v.Amount)
		}
	}
	require.Zero(rt, tax, "the taxes by rate are those of the lines")
}

func taxOf(net money.Amount, rate money.Percent, added bool) money.Amount {
	if added {
		return rounded(net*money.Amount(rate), 10_000)
	}
	return rounded(net*money.Amount(rate), 10_000+money.Amount(rate))
}

// checkParts divides the lines into parts, which have their amounts.
func checkParts(rt *rapid.T, lines []billed) {
	for i := range lines {
		l := &lines[i].Line
		var taken money.Qty
		var sum Part
		for taken < l.Qty {
			qty := l.Qty - taken
			if rapid.Bool().Draw(rt, "more") {
				qty = money.Qty(rapid.Int64Range(1, int64(qty)).Draw(rt, "part"))
			}
			p := l.Part(taken, qty)
			require.GreaterOrEqual(rt, min(p.Amount, p.DiscountAmount, p.TaxAmount, p.Total-p.TaxAmount), money.Amount(0))
			taken += qty
			sum = Part{sum.Amount + p.Amount, sum.DiscountAmount + p.DiscountAmount, sum.TaxAmount + p.TaxAmount, sum.Total + p.Total}
		}
		require.Equal(rt, Part{l.Amount, l.DiscountAmount, l.TaxAmount, l.Total}, sum)
	}
}

func TestTaxes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		mode, rounding string
		totals         []money.Amount // subtotal, discount, tax, total
		taxes          []money.Amount // of the lines
	}{
		"included, by line":     {"included", "line", []money.Amount{330, 30, 47, 300}, []money.Amount{15, 15, 15, 2}},
		"included, by document": {"included", "document", []money.Amount{330, 30, 48, 300}, []money.Amount{16, 15, 15, 2}},
		"added, by line":        {"added", "line", []money.Amount{330, 30, 59, 359}, []money.Amount{19, 19, 19, 2}},
		"added, by document":    {"added", "document", []money.Amount{330, 30, 58, 358}, []money.Amount{19, 19, 18, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := []billed{}
			for _, amount := range []money.Amount{100, 100, 100} {
				lines = append(lines, billed{Line: Line{Amount: amount, TaxRateID: &standard, TaxRate: ptr(money.Percent(2050))}})
			}
			lines = append(lines, billed{Line: Line{Amount: 30, TaxRateID: &reduced, TaxRate: ptr(money.Percent(700))}})
			totals, err := Sum(lines, Discounts{FixedDiscount: 30}, Taxation{row.mode, row.rounding})
			require.NoError(t, err)
			totals, err = Settle(lines, totals, 0)
			require.NoError(t, err)
			require.Equal(t, row.totals, []money.Amount{totals.Subtotal, totals.DiscountAmount, totals.TaxAmount, totals.Total})
			var taxes []money.Amount
			for _, l := range lines {
				taxes = append(taxes, l.TaxAmount)
			}
			require.Equal(t, row.taxes, taxes)
		})
	}
}
