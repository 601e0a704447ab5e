package sales

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

// No part of a sale has a negative amount, whatever was refunded before it, and the last part has what is left.
func TestShares(t *testing.T) {
	t.Parallel()
	small, large := rapid.Int64Range(1, 30), rapid.Int64Range(1, int64(money.MaxAmount)/10)
	rapid.Check(t, func(rt *rapid.T) {
		s := Sale{Header: Header{Kind: kindSale}}
		s.TaxMode = rapid.SampledFrom([]string{access.TaxIncluded, access.TaxAdded}).Draw(rt, "mode")
		rate := uuid.New()
		for range rapid.IntRange(1, 3).Draw(rt, "lines") {
			amount := money.Amount(rapid.OneOf(rapid.Just(int64(0)), small, large).Draw(rt, "amount"))
			qty := money.Qty(rapid.OneOf(small, rapid.Int64Range(1, 1_000_000_000)).Draw(rt, "qty"))
			discount := money.Amount(rapid.Int64Range(0, int64(amount)).Draw(rt, "discount"))
			s.Lines = append(s.Lines, Line{Line: lineitem.Line{
				ID: uuid.New(), Qty: qty, Amount: amount, DiscountAmount: discount, Total: amount - discount, SortOrder: int32(len(s.Lines)),
				Stock: []lineitem.StockItem{{Qty: qty}, {Qty: rapid.Custom(func(rt *rapid.T) money.Qty { return money.Qty(small.Draw(rt, "n")) }).Draw(rt, "component")}},
			}})
			if l := &s.Lines[len(s.Lines)-1]; rapid.Bool().Draw(rt, "taxed") {
				l.TaxRateID, l.TaxRate = &rate, new(money.Percent(2000))
				l.TaxAmount = money.Amount(rapid.Int64Range(0, int64(l.Total)).Draw(rt, "tax"))
				if s.TaxMode == access.TaxAdded {
					l.Total += l.TaxAmount
				}
			}
			s.Subtotal, s.Total, s.DiscountAmount = s.Subtotal+amount, s.Total+s.Lines[len(s.Lines)-1].Total, s.DiscountAmount+discount
		}
		s.RedeemedPoints = rapid.Int64Range(0, int64(s.DiscountAmount)).Draw(rt, "redeemed")
		s.DiscountAmount -= money.Amount(s.RedeemedPoints)
		s.EarnedPoints = rapid.Int64Range(0, int64(s.Total)).Draw(rt, "earned")
		s.Totals = lineitem.WithTaxes(s.Totals, s.Lines)
		s.PaymentMethod = methodCash
		require.NoError(rt, s.pay(nil))
		refundInParts(rt, &s)
	})
}

// A sale with any discounts, points, taxes and payments is refunded in any parts, which add up to it.
func TestRefundsOfPricedSales(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawPriced(rt)
		refundInParts(rt, &s)
	})
}

// drawPriced draws a sale that the platform has priced and that was paid.
func drawPriced(rt *rapid.T) Sale {
	s := Sale{Header: Header{Kind: kindSale, Totals: lineitem.Totals{Taxation: lineitem.Taxation{
		TaxMode:     rapid.SampledFrom([]string{access.TaxIncluded, access.TaxAdded}).Draw(rt, "mode"),
		TaxRounding: rapid.SampledFrom([]string{access.TaxPerLine, access.TaxPerDocument}).Draw(rt, "rounding"),
	}}}}
	percents := rapid.SampledFrom([]int32{0, 0, 1, 333, 1250, 9999, 10_000})
	amounts := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 20), rapid.Int64Range(0, 1_000_000_000))
	amount := func(label string) money.Amount { return money.Amount(amounts.Draw(rt, label)) }
	s.DiscountPercent, s.FixedDiscount = money.Percent(percents.Draw(rt, "discount")), amount("fixed")
	rates := []uuid.UUID{uuid.New(), uuid.New()}
	for i := range rapid.IntRange(1, 5).Draw(rt, "lines") {
		l := Line{Line: lineitem.Line{
			ID: uuid.New(), Qty: money.Qty(rapid.OneOf(rapid.Int64Range(1, 30), rapid.Int64Range(1, 1_000_000_000)).Draw(rt, "qty")), UnitPrice: amount("price"),
			DiscountPercent: money.Percent(percents.Draw(rt, "own")), FixedDiscount: amount("own fixed"), SortOrder: int32(i),
		}}
		l.Stock = []lineitem.StockItem{{Qty: l.Qty}, {Qty: 7}}
		if at := rapid.IntRange(0, 2).Draw(rt, "rate"); at < len(rates) {
			l.TaxRateID, l.TaxRate = &rates[at], new(money.Percent([]int32{700, 10_000}[at]))
		}
		require.NoError(rt, l.Charge(l.Qty))
		s.Lines = append(s.Lines, l)
	}
	before, err := lineitem.Sum(s.Lines, s.Discounts, s.Taxation)
	require.NoError(rt, err)
	require.NoError(rt, s.price(rapid.Int64Range(0, int64(before.Total)).Draw(rt, "points")))
	s.EarnedPoints = accrual(s.Total, percents.Draw(rt, "accrual"))
	s.PaymentMethod = methodCash
	var payments []PaymentInput
	if s.Total > 1 && rapid.Bool().Draw(rt, "mixed") {
		s.PaymentMethod = methodMixed
		first := money.Amount(rapid.Int64Range(1, int64(s.Total)-1).Draw(rt, "first"))
		payments = []PaymentInput{{Method: new(methodCard), Amount: first}, {Method: new(methodCash), Amount: s.Total - first}}
	}
	require.NoError(rt, s.pay(payments))
	return s
}

// refundInParts refunds a sale in parts, each checked, until nothing is left: the parts add up to the sale, and never to more before.
func refundInParts(rt *rapid.T, s *Sale) {
	sold, stock := *s, map[uuid.UUID]money.Qty{}
	var all Header
	refund := func(items []RefundItem) {
		parts, err := s.parts(items)
		require.NoError(rt, err)
		require.NoError(rt, s.checkParts(parts))
		v := s.refund(parts, s.Meta)
		require.NoError(rt, v.payBack(s, s.drawPayments(rt, v.Total)))
		v.check(rt, &all, stock)
		require.Equal(rt, []money.Amount{all.Total, all.Total}, []money.Amount{s.RefundedTotal, s.paidBack(rt)})
		for _, of := range [][2]money.Amount{
			{all.Subtotal, s.Subtotal},
			{all.DiscountAmount, s.DiscountAmount},
			{all.TaxAmount, s.TaxAmount},
			{all.Total, s.Total},
			{money.Amount(all.RedeemedPoints), money.Amount(s.RedeemedPoints)},
			{money.Amount(all.EarnedPoints), money.Amount(s.EarnedPoints)},
		} {
			require.LessOrEqual(rt, of[0], of[1])
		}
	}
	for range 10 {
		var items []RefundItem
		for i := range s.Lines {
			left := s.Lines[i].Qty - s.Lines[i].RefundedQty
			require.Error(rt, s.checkParts([]part{{&s.Lines[i], left + 1}}))
			if left > 0 && rapid.Bool().Draw(rt, "line") {
				items = append(items, RefundItem{LineID: s.Lines[i].ID, Qty: money.Qty(rapid.Int64Range(1, int64(left)).Draw(rt, "part"))})
			}
		}
		if items != nil {
			refund(items)
		}
	}
	refund(nil)
	require.False(rt, s.PartlyRefunded)
	require.ElementsMatch(rt, sold.Taxes, all.Taxes)
	all.Taxation, all.Taxes = sold.Taxation, sold.Taxes
	require.Equal(rt, []any{sold.Totals, sold.RedeemedPoints, sold.EarnedPoints}, []any{all.Totals, all.RedeemedPoints, all.EarnedPoints})
	for i := range sold.Lines {
		require.Equal(rt, sold.Lines[i].Stock[0].Qty+sold.Lines[i].Stock[1].Qty, stock[sold.Lines[i].ID])
	}
}

// drawPayments draws how a refund is paid back: nil leaves it to the platform.
func (s *Sale) drawPayments(rt *rapid.T, total money.Amount) (in []PaymentInput) {
	if rapid.Bool().Draw(rt, "in proportion") {
		return nil
	}
	for _, method := range rapid.Permutation([]string{methodCash, methodCard}).Draw(rt, "methods") {
		for i := range s.Payments {
			if p := &s.Payments[i]; p.Method == method && min(total, p.left()) > 0 {
				in = append(in, PaymentInput{Method: &method, Amount: min(total, p.left())})
				total -= min(total, p.left())
			}
		}
	}
	return in
}

// paidBack is what was paid back of the payments of a sale, of none more than it was.
func (s *Sale) paidBack(rt *rapid.T) (sum money.Amount) {
	for i := range s.Payments {
		require.GreaterOrEqual(rt, s.Payments[i].left(), money.Amount(0))
		sum += s.Payments[i].Refunded
	}
	return sum
}

// check checks a refund, and adds it to those before it; stock is by line.
func (s *Sale) check(rt *rapid.T, all *Header, stock map[uuid.UUID]money.Qty) {
	var amount, discount, tax, total money.Amount
	for i := range s.Lines {
		l := &s.Lines[i]
		require.GreaterOrEqual(rt, min(l.Amount, l.DiscountAmount, l.Total), money.Amount(0))
		added := money.Amount(0)
		if s.TaxMode == access.TaxAdded {
			added = l.TaxAmount
		}
		require.Equal(rt, l.Amount-l.DiscountAmount+added, l.Total)
		require.GreaterOrEqual(rt, l.TaxAmount, money.Amount(0))
		require.LessOrEqual(rt, l.TaxAmount, l.Amount-l.DiscountAmount)
		amount, discount, tax, total = amount+l.Amount, discount+l.DiscountAmount, tax+l.TaxAmount, total+l.Total
	}
	require.GreaterOrEqual(rt, min(s.Subtotal, s.DiscountAmount, s.Total), money.Amount(0))
	require.GreaterOrEqual(rt, min(s.RedeemedPoints, s.EarnedPoints), int64(0))
	require.Equal(rt, amount, s.Subtotal)
	require.Equal(rt, discount, s.DiscountAmount+money.Amount(s.RedeemedPoints))
	require.Equal(rt, []money.Amount{total, tax}, []money.Amount{s.Total, s.TaxAmount})
	all.Subtotal, all.DiscountAmount, all.Total, all.TaxAmount = all.Subtotal+s.Subtotal, all.DiscountAmount+s.DiscountAmount, all.Total+s.Total, all.TaxAmount+s.TaxAmount
	for _, tax := range s.Taxes {
		require.GreaterOrEqual(rt, min(tax.Base, tax.Amount), money.Amount(0))
		i := slices.IndexFunc(all.Taxes, func(of lineitem.Tax) bool { return of.TaxRateID == tax.TaxRateID })
		if i < 0 {
			i, all.Taxes = len(all.Taxes), append(all.Taxes, lineitem.Tax{TaxRateID: tax.TaxRateID, Rate: tax.Rate})
		}
		all.Taxes[i].Base, all.Taxes[i].Amount = all.Taxes[i].Base+tax.Base, all.Taxes[i].Amount+tax.Amount
	}
	paid := money.Amount(0)
	for i := range s.Payments {
		require.Positive(rt, s.Payments[i].Amount)
		paid += s.Payments[i].Amount
	}
	require.Equal(rt, s.Total, paid)
	all.RedeemedPoints, all.EarnedPoints = all.RedeemedPoints+s.RedeemedPoints, all.EarnedPoints+s.EarnedPoints
	for i := range s.Lines {
		for _, item := range s.Lines[i].Stock {
			stock[*s.Lines[i].RefundOfLineID] += item.Qty
		}
	}
}
