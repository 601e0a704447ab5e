package money

import (
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// ParseError is the rule that a number breaks; Code is one of the field codes of package fault.
type ParseError struct {
	Code string // apierr.Type, apierr.Step, apierr.Min or apierr.Max
	Rule string // a phrase without its subject, such as "must be a number …"
}

// Error implements error.
func (e *ParseError) Error() string { return e.Rule }

// number is a parsed decimal: ±digits · 10^exponent. The digits have neither leading nor trailing zeros; zero has no
// digits.
type number struct {
	negative bool
	digits   []byte
	exponent int64
}

// maxExponent caps exponents; anything beyond is out of range for every type.
const maxExponent = 1 << 30

// parse converts a JSON number exactly to an integer count of 10^-scale.
func parse[T string | []byte](text T, scale int64, low, high int64, rule string) (int64, error) {
	n, ok := split(text)
	if !ok {
		return 0, &ParseError{Code: apierr.Type, Rule: rule}
	}
	if len(n.digits) == 0 {
		return 0, nil
	}
	places := n.exponent + scale
	if places < 0 {
		return 0, &ParseError{Code: apierr.Step, Rule: rule}
	}
	limit := &ParseError{Code: apierr.Max, Rule: rule}
	if n.negative {
		limit.Code = apierr.Min
	}
	if int64(len(n.digits))+places > 18 {
		return 0, limit
	}
	var v int64
	for _, d := range n.digits {
		v = v*10 + int64(d-'0')
	}
	for range places {
		v *= 10
	}
	if n.negative {
		v = -v
	}
	if v < low || v > high {
		return 0, limit
	}
	return v, nil
}

// split parses a JSON number; ok is false for any other text.
func split[T string | []byte](text T) (n number, ok bool) {
	b := []byte(text)
	if len(b) > 0 && b[0] == '-' {
		n.negative, b = true, b[1:]
	}
	whole, b := takeDigits(b)
	if len(whole) == 0 || (len(whole) > 1 && whole[0] == '0') {
		return n, false
	}
	var fraction []byte
	if len(b) > 0 && b[0] == '.' {
		if fraction, b = takeDigits(b[1:]); len(fraction) == 0 {
			return n, false
		}
	}
	exponent, ok := readExponent(b)
	if !ok {
		return n, false
	}
	n.digits = make([]byte, 0, 24)
	n.digits = append(append(n.digits, whole...), fraction...)
	n.exponent = exponent - int64(len(fraction))
	n.trim()
	return n, true
}

// trim removes leading and trailing zeros from the digits.
func (n *number) trim() {
	for len(n.digits) > 0 && n.digits[0] == '0' {
		n.digits = n.digits[1:]
	}
	for last := len(n.digits) - 1; last >= 0 && n.digits[last] == '0'; last-- {
		n.digits = n.digits[:last]
		n.exponent++
	}
}

func takeDigits(b []byte) (digits, rest []byte) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return b[:i], b[i:]
}

// readExponent parses the text after the digits: nothing, or e with an optional sign and digits.
func readExponent(b []byte) (exponent int64, ok bool) {
	if len(b) == 0 {
		return 0, true
	}
	if b[0] != 'e' && b[0] != 'E' {
		return 0, false
	}
	b = b[1:]
	sign := int64(1)
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	digits, rest := takeDigits(b)
	if len(digits) == 0 || len(rest) > 0 {
		return 0, false
	}
	for _, d := range digits {
		if exponent = exponent*10 + int64(d-'0'); exponent > maxExponent {
			exponent = maxExponent
		}
	}
	return sign * exponent, true
}

// appendDecimal appends v · 10^-scale without trailing zeros.
func appendDecimal(v int64, scale int) []byte {
	var dst []byte
	u := uint64(v)
	if v < 0 {
		dst, u = append(dst, '-'), -u
	}
	unit := uint64(1)
	for range scale {
		unit *= 10
	}
	dst = strconv.AppendUint(dst, u/unit, 10)
	rest := u % unit
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for rest > 0 {
		unit /= 10
		dst = append(dst, byte('0'+rest/unit))
		rest %= unit
	}
	return dst
}
