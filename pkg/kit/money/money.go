// Package money holds exact number types: amounts in minor units, quantities in thousandths and percentages in basis
// points, with their JSON, database and schema encodings, and the formulas that all documents share. It uses no floating
// point; see docs/reference/rules.md#money.
//
// An [Amount] knows no currency: all amounts of a company are in its one. [LineAmount], [Discount], [Spread] and [Sum] are the formulas of
// documents; they round half away from zero. [LineAmount], [MulDiv] and [Sum] return [ErrOverflow] beyond what JSON can carry exactly.
package money

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5/pgtype"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// MaxAmount is the largest amount, 2^53-1 minor units, which every JSON parser represents exactly.
const MaxAmount Amount = 1<<53 - 1

// MaxQty is the largest quantity that DECIMAL(18,3) can store, in thousandths.
const MaxQty Qty = 1e18 - 1

// MaxPercent is one hundred percent in basis points.
const MaxPercent Percent = 10_000

// Amount is money in minor units (cents). In JSON it is an integer, in the database INT8.
type Amount int64

// Qty is a quantity in thousandths: 1500 is 1.5. In JSON it is a number with at most three decimal places
// and in the database DECIMAL(18,3). A struct tag `default` is read in thousandths too: default:"1000" is 1.
type Qty int64

// Percent is a share in basis points: 1050 is 10.5 percent. In JSON it is a number from 0 to 100 with
// at most two decimals, in the database an integer. A struct tag `default` is read in basis points.
type Percent int32

const (
	amountScale  = 0
	qtyScale     = 3
	percentScale = 2

	amountRule  = "must be a whole number of minor units between -9007199254740991 and 9007199254740991"
	qtyRule     = "must be a number with at most 3 decimal places, between -999999999999999.999 and 999999999999999.999"
	percentRule = "must be a number between 0 and 100 with at most 2 decimal places"
)

// Units returns a quantity of n whole units.
func Units(n int64) Qty { return Qty(n * 1000) }

// ParseAmount reads the JSON form of an amount; the error is a [*ParseError].
func ParseAmount[T string | []byte](text T) (Amount, error) {
	n, err := parse(text, amountScale, -int64(MaxAmount), int64(MaxAmount), amountRule)
	return Amount(n), err
}

// ParseQty reads the JSON form of a quantity; the error is a [*ParseError].
func ParseQty[T string | []byte](text T) (Qty, error) {
	n, err := parse(text, qtyScale, -int64(MaxQty), int64(MaxQty), qtyRule)
	return Qty(n), err
}

// ParsePercent reads the JSON form of a percentage; the error is a [*ParseError].
func ParsePercent[T string | []byte](text T) (Percent, error) {
	n, err := parse(text, percentScale, 0, int64(MaxPercent), percentRule)
	return Percent(n), err
}

// UnmarshalJSON implements [encoding/json.Unmarshaler]; null leaves the value unchanged.
func (a *Amount) UnmarshalJSON(b []byte) error { return unmarshal(a, b, ParseAmount) }

// UnmarshalJSON implements [encoding/json.Unmarshaler]; null leaves the value unchanged.
func (q *Qty) UnmarshalJSON(b []byte) error { return unmarshal(q, b, ParseQty) }

// UnmarshalJSON implements [encoding/json.Unmarshaler]; null leaves the value unchanged.
func (p *Percent) UnmarshalJSON(b []byte) error { return unmarshal(p, b, ParsePercent) }

func unmarshal[T any](target *T, b []byte, parse func([]byte) (T, error)) error {
	if string(b) == "null" {
		return nil
	}
	v, err := parse(b)
	if err != nil {
		return err
	}
	*target = v
	return nil
}

// MarshalJSON implements [encoding/json.Marshaler].
func (a Amount) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(a), 10), nil }

// MarshalJSON implements [encoding/json.Marshaler]; there are no trailing zeros.
func (q Qty) MarshalJSON() ([]byte, error) { return appendDecimal(int64(q), qtyScale), nil }

// MarshalJSON implements [encoding/json.Marshaler]; there are no trailing zeros.
func (p Percent) MarshalJSON() ([]byte, error) {
	return appendDecimal(int64(p), percentScale), nil
}

// String returns the amount in minor units.
func (a Amount) String() string { return strconv.FormatInt(int64(a), 10) }

// String returns the quantity as a decimal without trailing zeros.
func (q Qty) String() string { return string(appendDecimal(int64(q), qtyScale)) }

// String returns the percentage as a decimal without trailing zeros and without a sign.
func (p Percent) String() string { return string(appendDecimal(int64(p), percentScale)) }

// NumericValue lets pgx encode the quantity as DECIMAL.
func (q Qty) NumericValue() (pgtype.Numeric, error) {
	return pgtype.Numeric{Int: big.NewInt(int64(q)), Exp: -qtyScale, Valid: true}, nil
}

// ScanNumeric lets pgx decode a DECIMAL; null and more than three decimals are errors.
func (q *Qty) ScanNumeric(v pgtype.Numeric) error {
	if !v.Valid {
		return fmt.Errorf("scan quantity: the column is null; scan into *money.Qty or use COALESCE")
	}
	text, err := v.MarshalJSON()
	if err != nil {
		return fmt.Errorf("scan quantity: %w", err)
	}
	n, err := ParseQty(text)
	if err != nil {
		return fmt.Errorf("scan quantity %s: %w", text, err)
	}
	*q = n
	return nil
}

// Value implements [driver.Valuer] for code paths that send text parameters.
func (q Qty) Value() (driver.Value, error) { return q.String(), nil }

// Schema implements [huma.SchemaProvider].
func (Amount) Schema(huma.Registry) *huma.Schema {
	low, high := -float64(MaxAmount), float64(MaxAmount)
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &low, Maximum: &high}
}

// decimals states the number of decimal places allowed in a schema. It is an extension because most validators compute
// multipleOf in binary floating point and reject 0.3.
func decimals(n int) map[string]any { return map[string]any{"x-decimals": n} }

// Schema implements [huma.SchemaProvider].
func (Qty) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Extensions: decimals(3)}
}

// Schema implements [huma.SchemaProvider].
func (Percent) Schema(huma.Registry) *huma.Schema {
	low, high := 0.0, 100.0
	return &huma.Schema{Type: huma.TypeNumber, Minimum: &low, Maximum: &high, Extensions: decimals(2)}
}

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

// Symbol returns the sign of a currency, given by its ISO 4217 code, as people who read a language (a BCP 47 tag) write it: €, or CA$ where $
// is another currency. A currency without a sign, and a code that is not assigned, is written as its code.
func Symbol(code, lang string) string {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return code
	}
	return message.NewPrinter(language.Make(lang)).Sprint(currency.Symbol(unit))
}
