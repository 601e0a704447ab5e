package money

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// ErrOverflow is the fault for a result beyond [MaxAmount]: 400 VALIDATION_ERROR.
var ErrOverflow error = apierr.InvalidField("body", apierr.Max, "an amount of this document exceeds 9007199254740991 minor units; lower a quantity, a price or the number of lines")

// LineAmount returns quantity times unit price, rounded half away from zero; the error is [ErrOverflow].
func LineAmount(qty Qty, unitPrice Amount) (Amount, error) {
	return MulDiv(unitPrice, int64(qty), 1000)
}

// MulDiv returns a·num/den, rounded half away from zero, with an exact intermediate product. For example, the price of
// some minutes at an hourly price is MulDiv(price, minutes, 60). den must be positive; the error is [ErrOverflow].
func MulDiv(a Amount, num, den int64) (Amount, error) {
	if den <= 0 {
		panic(fmt.Sprintf("money: MulDiv by %d, the divisor must be positive", den))
	}
	hi, lo := bits.Mul64(magnitude(int64(a)), magnitude(num))
	d := uint64(den)
	if hi >= d {
		return 0, ErrOverflow
	}
	quotient, rest := bits.Div64(hi, lo, d)
	// rest < den <= 2^63-1, so doubling it cannot wrap.
	if 2*rest >= d {
		quotient++
	}
	if quotient > uint64(MaxAmount) {
		return 0, ErrOverflow
	}
	if (a < 0) != (num < 0) {
		return -Amount(quotient), nil
	}
	return Amount(quotient), nil
}

// Share returns n·part/whole, rounded half up: what belongs to a part of a whole that has n. n is at most [MaxAmount], part is between 0 and
// whole, and a part of nothing has nothing.
func Share(n Amount, part, whole int64) Amount {
	if part < 0 || part > whole {
		panic(fmt.Sprintf("money: Share of %d of %d, the part must be between 0 and the whole", part, whole))
	}
	if whole == 0 {
		return 0
	}
	v, err := MulDiv(n, part, whole)
	if err != nil {
		panic(fmt.Sprintf("money: Share of %d minor units, beyond the range of an amount", n))
	}
	return v
}

// Discount returns the share p of the subtotal, rounded half away from zero: (subtotal·bp + 5000) / 10000.
// p must be between 0 and [MaxPercent]; the result never exceeds the subtotal.
func Discount(subtotal Amount, p Percent) Amount {
	if p < 0 || p > MaxPercent {
		panic(fmt.Sprintf("money: Discount of %d basis points, must be between 0 and %d", p, MaxPercent))
	}
	d, err := MulDiv(subtotal, int64(p), int64(MaxPercent))
	if err != nil {
		panic(fmt.Sprintf("money: Discount of %d minor units, beyond the range of an amount", subtotal))
	}
	return d
}

// TaxOn returns the tax at a rate that is added to an amount, rounded half up. The amount is not negative; the tax never exceeds it.
func TaxOn(amount Amount, rate Percent) Amount { return Share(amount, int64(rate), int64(MaxPercent)) }

// TaxWithin returns the tax at a rate that an amount contains, rounded half up: amount·rate/(100 + rate).
func TaxWithin(amount Amount, rate Percent) Amount {
	return Share(amount, int64(rate), int64(MaxPercent)+int64(rate))
}

// Spread divides a document's discount among its lines in proportion to their amounts, by the largest remainder method;
// equal remainders favour the lower index. The shares add up to the discount exactly and none exceeds its amount.
// Amounts must not be negative, and the discount must be between 0 and their sum.
func Spread(discount Amount, amounts []Amount) []Amount {
	total := spreadTotal(discount, amounts)
	shares := make([]Amount, len(amounts))
	if discount == 0 {
		return shares
	}
	left := discount
	remainders := make([]uint64, len(amounts))
	order := make([]int, len(amounts))
	for i, a := range amounts {
		hi, lo := bits.Mul64(uint64(discount), uint64(a))
		// discount <= total, so the quotient is at most a and Div64 cannot overflow.
		quotient, rest := bits.Div64(hi, lo, total)
		shares[i], remainders[i], order[i] = Amount(quotient), rest, i
		left -= shares[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(remainders[j], remainders[i]) })
	for _, i := range order[:left] {
		shares[i]++
	}
	return shares
}

func spreadTotal(discount Amount, amounts []Amount) uint64 {
	var total uint64
	for i, a := range amounts {
		if a < 0 || a > MaxAmount {
			panic(fmt.Sprintf("money: Spread over the amount %d at index %d, must be between 0 and %d", a, i, MaxAmount))
		}
		total += uint64(a)
	}
	if discount < 0 || uint64(discount) > total {
		panic(fmt.Sprintf("money: Spread of %d over %d, the discount must be between 0 and the sum", discount, total))
	}
	return total
}

// Sum adds the amounts; the error is [ErrOverflow] if the result is beyond [MaxAmount].
func Sum(amounts ...Amount) (Amount, error) {
	var hi, lo uint64
	for _, a := range amounts {
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(a), 0)
		hi += uint64(a>>63) + carry
	}
	s := Amount(lo)
	if hi != uint64(s>>63) || s > MaxAmount || s < -MaxAmount {
		return 0, ErrOverflow
	}
	return s, nil
}

// Times returns the quantity multiplied by n, such as one portion per guest; the error is [ErrOverflow].
func (q Qty) Times(n int64) (Qty, error) {
	hi, lo := bits.Mul64(magnitude(int64(q)), magnitude(n))
	if hi > 0 || lo > uint64(MaxQty) {
		return 0, ErrOverflow
	}
	if (q < 0) != (n < 0) {
		return -Qty(lo), nil
	}
	return Qty(lo), nil
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}
