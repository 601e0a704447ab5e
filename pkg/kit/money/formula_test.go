package money_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// roundHalfAway is the model: num/den rounded half away from zero, in math/big.
func roundHalfAway(num, den *big.Int) *big.Int {
	double := new(big.Int).Mul(new(big.Int).Abs(num), big.NewInt(2))
	double.Add(double, den)
	q := double.Div(double, new(big.Int).Mul(den, big.NewInt(2)))
	if num.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

func drawAmount(t *rapid.T, label string, low money.Amount) money.Amount {
	return money.Amount(rapid.Int64Range(int64(low), int64(money.MaxAmount)).Draw(t, label))
}

func TestDiscountExamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		subtotal money.Amount
		percent  string
		discount money.Amount
	}{
		{999, "10", 100},
		{5, "50", 3},
		{12345, "100", 12345},
		{money.MaxAmount, "100", money.MaxAmount},
		{999, "0", 0},
		{0, "33.33", 0},
	} {
		p, err := money.ParsePercent(tt.percent)
		require.NoError(t, err)
		require.Equal(t, tt.discount, money.Discount(tt.subtotal, p))
	}
}

func TestLineAmountExamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		qty   string
		price money.Amount
		want  money.Amount
	}{
		{"1", 1250, 1250}, {"0.5", 5, 3}, {"-0.5", 5, -3}, {"0.5", -5, -3}, {"0.499", 1, 0}, {"2.345", 100, 235}, {"0.001", 499, 0}, {"0.001", 500, 1},
	} {
		q, err := money.ParseQty(tt.qty)
		require.NoError(t, err)
		got, err := money.LineAmount(q, tt.price)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, "%s × %d", tt.qty, tt.price)
	}
}

func TestMulDivAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawAmount(t, "a", -money.MaxAmount)
		num := rapid.Int64().Draw(t, "num")
		den := rapid.OneOf(rapid.Just(int64(1000)), rapid.Int64Range(1, 1<<62)).Draw(t, "den")
		product := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(num))
		want := roundHalfAway(product, big.NewInt(den))
		got, err := money.MulDiv(a, num, den)
		if new(big.Int).Abs(want).Cmp(big.NewInt(int64(money.MaxAmount))) > 0 {
			require.ErrorIs(t, err, money.ErrOverflow)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want.Int64(), int64(got))
	})
}

func TestDiscountAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		subtotal := drawAmount(t, "subtotal", 0)
		p := money.Percent(rapid.Int32Range(0, int32(money.MaxPercent)).Draw(t, "bp"))
		want := new(big.Int).Mul(big.NewInt(int64(subtotal)), big.NewInt(int64(p)))
		want.Add(want, big.NewInt(5000)).Div(want, big.NewInt(10000))
		got := money.Discount(subtotal, p)
		require.Equal(t, want.Int64(), int64(got))
		require.LessOrEqual(t, got, subtotal)
	})
}

// spreadModel hands out the leftover one by one to the largest remaining remainder.
func spreadModel(discount money.Amount, amounts []money.Amount, total *big.Int) []money.Amount {
	shares := make([]money.Amount, len(amounts))
	rests := make([]*big.Int, len(amounts))
	left := int64(discount)
	for i, a := range amounts {
		q, r := new(big.Int).DivMod(new(big.Int).Mul(big.NewInt(int64(discount)), big.NewInt(int64(a))), total, new(big.Int))
		shares[i], rests[i] = money.Amount(q.Int64()), r
		left -= q.Int64()
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rests {
			if rests[i].Cmp(rests[best]) > 0 {
				best = i
			}
		}
		shares[best]++
		rests[best] = big.NewInt(-1)
	}
	return shares
}

func TestSpreadAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.SampledFrom([]int64{1, 3, 100, 1_000_000, int64(money.MaxAmount) / 50}).Draw(t, "top")
		raw := rapid.SliceOfN(rapid.Int64Range(0, top), 0, 50).Draw(t, "amounts")
		amounts := make([]money.Amount, len(raw))
		for i, v := range raw {
			amounts[i] = money.Amount(v)
		}
		total, err := money.Sum(amounts...)
		require.NoError(t, err)
		discount := money.Amount(rapid.Int64Range(0, int64(total)).Draw(t, "discount"))
		shares := money.Spread(discount, amounts)
		sum, err := money.Sum(shares...)
		require.NoError(t, err)
		require.Equal(t, discount, sum)
		for i := range shares {
			require.GreaterOrEqual(t, shares[i], money.Amount(0))
			require.LessOrEqual(t, shares[i], amounts[i])
		}
		if total > 0 {
			require.Equal(t, spreadModel(discount, amounts, big.NewInt(int64(total))), shares)
		}
	})
}

func TestSpreadExamples(t *testing.T) {
	t.Parallel()
	require.Equal(t, []money.Amount{34, 33, 33}, money.Spread(100, []money.Amount{500, 500, 500}))
	require.Equal(t, []money.Amount{0, 1}, money.Spread(1, []money.Amount{1, 2}))
	require.Empty(t, money.Spread(0, nil))
	require.Panics(t, func() { money.Spread(4, []money.Amount{1, 2}) })
	require.Panics(t, func() { money.Spread(-1, []money.Amount{1, 2}) })
	require.Panics(t, func() { money.Spread(0, []money.Amount{-1, 2}) })
}

func TestSumAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Int64(), 0, 40).Draw(t, "amounts")
		amounts, want := make([]money.Amount, len(raw)), new(big.Int)
		for i, v := range raw {
			amounts[i] = money.Amount(v)
			want.Add(want, big.NewInt(v))
		}
		got, err := money.Sum(amounts...)
		if new(big.Int).Abs(want).Cmp(big.NewInt(int64(money.MaxAmount))) > 0 {
			require.ErrorIs(t, err, money.ErrOverflow)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want.Int64(), int64(got))
	})
}

func TestOverflowIsAFaultOfTheCaller(t *testing.T) {
	t.Parallel()
	_, err := money.LineAmount(money.Units(2), money.MaxAmount)
	e, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, 400, e.Status)
	_, err = money.MaxQty.Times(2)
	require.ErrorIs(t, err, money.ErrOverflow)
	q, err := money.Qty(1500).Times(-3)
	require.NoError(t, err)
	require.Equal(t, money.Qty(-4500), q)
}

func BenchmarkSpread(b *testing.B) {
	amounts := make([]money.Amount, 50)
	for i := range amounts {
		amounts[i] = money.Amount(1000 + 7*i)
	}
	b.ReportAllocs()
	for b.Loop() {
		money.Spread(12_345, amounts)
	}
}

// Shares and taxes are exact quotients, rounded half up.
func TestSharesAndTaxes(t *testing.T) {
	t.Parallel()
	require.Zero(t, money.Share(5, 0, 0))
	require.Panics(t, func() { money.Share(5, 2, 1) })
	require.Panics(t, func() { money.Share(5, -1, 1) })
	rapid.Check(t, func(t *rapid.T) {
		n, whole := drawAmount(t, "n", 0), rapid.Int64Range(1, int64(money.MaxQty)).Draw(t, "whole")
		part := rapid.Int64Range(0, whole).Draw(t, "part")
		quotient := func(num, den int64) money.Amount {
			return money.Amount(roundHalfAway(new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(num)), big.NewInt(den)).Int64())
		}
		require.Equal(t, quotient(part, whole), money.Share(n, part, whole))
		rate := money.Percent(rapid.Int32Range(0, int32(money.MaxPercent)).Draw(t, "rate"))
		require.Equal(t, quotient(int64(rate), 10_000), money.TaxOn(n, rate))
		require.Equal(t, quotient(int64(rate), 10_000+int64(rate)), money.TaxWithin(n, rate))
	})
}
