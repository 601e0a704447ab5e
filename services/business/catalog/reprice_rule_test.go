package catalog

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

func TestPriceRules(t *testing.T) {
	t.Parallel()
	const huge = money.MaxAmount
	for _, row := range []struct {
		kind          string
		value         money.Qty // in thousandths
		roundTo       money.Amount
		before, after money.Amount
		fails         bool
	}{
		{"percent", 10_000, 1, 1990, 2189, false},
		{"percent", -10_000, 1, 1990, 1791, false},
		{"percent", 12_500, 1, 4, 5, false}, // 4.5
		{"percent", -12_500, 1, 4, 4, false},
		{"percent", 0, 1, 1234, 1234, false},
		{"percent", -100_000, 1, 1234, 0, false},
		{"percent", 1_000_000, 1, 100, 1100, false},
		{"percent", 50_000, 1, 0, 0, false},
		{"percent", 10, 1, 10_000, 10_001, false},
		{"percent", 10_000, 100, 1990, 2200, false},
		{"percent", 4_000, 100, 1394, 1400, false}, // 1449.76: rounded first to 1450, it would become 1500
		{"percent", 0, 1000, 499, 0, false},
		{"percent", 0, 1000, 500, 1000, false},
		{"percent", 10, 1, huge, 0, true},
		{"percent", 0, 1, huge, huge, false},
		{"percent", 0, 1000, huge, 0, true},
		{"amount", 250_000, 1, 100, 350, false},
		{"amount", -100_000, 1, 100, 0, false},
		{"amount", -101_000, 1, 100, 0, true},
		{"amount", -101_000, 1000, 100, 0, true}, // although -1 rounds to 0
		{"amount", 1_000, 1, huge, 0, true},
		{"amount", 1_000, 50, 1024, 1050, false},
		{"amount", 0, 50, 1024, 1000, false},
		{"set", 999_000, 1, 5, 999, false},
		{"set", 999_000, 10, 5, 1000, false},
		{"set", 0, 1, 5, 0, false},
	} {
		after, ok := RepriceRule{Type: row.kind, Value: row.value, RoundTo: row.roundTo}.price(row.before)
		require.Equal(t, !row.fails, ok, "%+v", row)
		require.Equal(t, row.after, after, "%+v", row)
	}
}

// A new price is the exact result, rounded once to the nearest multiple, half up; a higher price never gets below a lower one.
func TestPriceRulesAreExactAndKeepTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := RepriceRule{
			Type:    rapid.SampledFrom([]string{rulePercent, ruleAmount, ruleSet}).Draw(t, "type"),
			RoundTo: money.Amount(rapid.OneOf(rapid.Just(int64(1)), rapid.Int64Range(1, 1e9)).Draw(t, "roundTo")),
		}
		switch r.Type {
		case rulePercent:
			r.Value = money.Qty(rapid.Int64Range(-10_000, 100_000).Draw(t, "percent") * 10)
		case ruleAmount:
			r.Value = money.Qty(rapid.Int64Range(-1e12, 1e12).Draw(t, "amount") * 1000)
		case ruleSet:
			r.Value = money.Qty(rapid.Int64Range(0, 1e12).Draw(t, "set") * 1000)
		}
		require.NoError(t, r.check())
		prices := rapid.OneOf(rapid.Int64Range(0, 100_000), rapid.Int64Range(0, int64(money.MaxAmount)))
		low, high := money.Amount(prices.Draw(t, "price")), money.Amount(prices.Draw(t, "other price"))
		low, high = min(low, high), max(low, high)
		after, ok := r.price(low)
		higher, okHigh := r.price(high)
		if ok && okHigh {
			require.LessOrEqual(t, after, higher)
		}
		exact := big.NewRat(int64(low), 1)
		switch r.Type {
		case rulePercent:
			exact.Mul(exact, big.NewRat(100_000+int64(r.Value), 100_000))
		case ruleAmount:
			exact.Add(exact, big.NewRat(int64(r.Value), 1000))
		case ruleSet:
			exact.SetFrac64(int64(r.Value), 1000)
		}
		steps := new(big.Rat).Quo(exact, big.NewRat(int64(r.RoundTo), 1))
		steps.Add(steps, big.NewRat(1, 2))
		floor := new(big.Int).Div(steps.Num(), steps.Denom())
		want := floor.Mul(floor, big.NewInt(int64(r.RoundTo)))
		require.Equal(t, exact.Sign() >= 0 && want.Cmp(big.NewInt(int64(money.MaxAmount))) <= 0, ok)
		if ok {
			require.Equal(t, want.Int64(), int64(after))
		}
	})
}
