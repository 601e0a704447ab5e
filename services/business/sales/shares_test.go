package sales

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// No part of a sale has a negative amount, whatever was refunded before it, and the last part has what is left.
func TestShares(t *testing.T) {
	t.Parallel()
	small, large := rapid.Int64Range(1, 30), rapid.Int64Range(1, int64(money.MaxAmount)/10)
	rapid.Check(t, func(rt *rapid.T) {
		s := Sale{Header: Header{Kind: kindSale}}
		for range rapid.IntRange(1, 3).Draw(rt, "lines") {
			amount := money.Amount(rapid.OneOf(rapid.Just(int64(0)), small, large).Draw(rt, "amount"))
			qty := money.Qty(rapid.OneOf(small, rapid.Int64Range(1, 1_000_000_000)).Draw(rt, "qty"))
			discount := money.Amount(rapid.Int64Range(0, int64(amount)).Draw(rt, "discount"))
			s.Lines = append(s.Lines, Line{Line: lineitem.Line{
				ID: uuid.New(), Qty: qty, Amount: amount, DiscountAmount: discount, Total: amount - discount, SortOrder: int32(len(s.Lines)),
				Stock: []lineitem.StockItem{{Qty: qty}, {Qty: rapid.Custom(func(rt *rapid.T) money.Qty { return money.Qty(small.Draw(rt, "n")) }).Draw(rt, "component")}},
			}})
			s.Subtotal, s.Total, s.DiscountAmount = s.Subtotal+amount, s.Total+amount-discount, s.DiscountAmount+discount
		}
		s.RedeemedPoints = rapid.Int64Range(0, int64(s.DiscountAmount)).Draw(rt, "redeemed")
		s.DiscountAmount -= money.Amount(s.RedeemedPoints)
		s.EarnedPoints = rapid.Int64Range(0, int64(s.Total)).Draw(rt, "earned")
		sold, stock := s, map[uuid.UUID]money.Qty{}
		var all Header
		for range 20 {
			i := rapid.IntRange(0, len(s.Lines)-1).Draw(rt, "line")
			left := s.Lines[i].Qty - s.Lines[i].RefundedQty
			if left == 0 {
				continue
			}
			v := s.refund([]part{{&s.Lines[i], money.Qty(rapid.Int64Range(1, int64(left)).Draw(rt, "part"))}}, s.Meta)
			v.check(rt, &all, stock)
		}
		rest, err := s.parts(nil)
		require.NoError(rt, err)
		last := s.refund(rest, s.Meta)
		last.check(rt, &all, stock)
		require.False(rt, s.PartlyRefunded)
		require.Equal(rt, []any{sold.Totals, sold.RedeemedPoints, sold.EarnedPoints}, []any{all.Totals, all.RedeemedPoints, all.EarnedPoints})
		for i := range sold.Lines {
			require.Equal(rt, sold.Lines[i].Stock[0].Qty+sold.Lines[i].Stock[1].Qty, stock[sold.Lines[i].ID])
		}
	})
}

// check checks a refund, and adds it to those before it; stock is by line.
func (s *Sale) check(rt *rapid.T, all *Header, stock map[uuid.UUID]money.Qty) {
	var amount, discount money.Amount
	for i := range s.Lines {
		l := &s.Lines[i]
		require.GreaterOrEqual(rt, min(l.Amount, l.DiscountAmount, l.Total), money.Amount(0))
		require.Equal(rt, l.Amount-l.DiscountAmount, l.Total)
		amount, discount = amount+l.Amount, discount+l.DiscountAmount
	}
	require.GreaterOrEqual(rt, min(s.Subtotal, s.DiscountAmount, s.Total), money.Amount(0))
	require.GreaterOrEqual(rt, min(s.RedeemedPoints, s.EarnedPoints), int64(0))
	require.Equal(rt, amount, s.Subtotal)
	require.Equal(rt, discount, s.DiscountAmount+money.Amount(s.RedeemedPoints))
	require.Equal(rt, amount-discount, s.Total)
	all.Subtotal, all.DiscountAmount, all.Total = all.Subtotal+s.Subtotal, all.DiscountAmount+s.DiscountAmount, all.Total+s.Total
	all.RedeemedPoints, all.EarnedPoints = all.RedeemedPoints+s.RedeemedPoints, all.EarnedPoints+s.EarnedPoints
	for i := range s.Lines {
		for _, item := range s.Lines[i].Stock {
			stock[*s.Lines[i].RefundOfLineID] += item.Qty
		}
	}
}
