package money

import "golang.org/x/text/currency"

// Digits returns the decimal places of a currency, given by its ISO 4217 code: amounts are whole numbers of its smallest unit. A code
// that is not assigned has two.
func Digits(code string) int {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return 2
	}
	scale, _ := currency.Standard.Rounding(unit)
	return scale
}
