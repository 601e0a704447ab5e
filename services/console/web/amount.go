package web

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// narrow separates groups of three digits, and does not break.
const narrow = "\u202f"

// Written is a number of the API, such as -1234.5, with these characters between groups of three digits and before the decimal places.
func Written(number, group, point string) string {
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "−", number[1:]
	}
	whole, part, found := strings.Cut(number, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(group)
		}
		b.WriteRune(d)
	}
	if found {
		b.WriteString(point + part)
	}
	return b.String()
}

// WithSymbol is an amount that [Written] wrote with the sign of its currency, by a pattern in which 0 is the amount and ¤ the sign. The minus
// stands first, and a sign that ends in a letter, such as CHF, is set off.
func WithSymbol(amount, symbol, pattern string) string {
	number, negative := strings.CutPrefix(amount, "−")
	if last, _ := utf8.DecodeLastRuneInString(symbol); unicode.IsLetter(last) {
		symbol += strings.Repeat("\u00a0", strings.Count(pattern, "¤0"))
	}
	text := strings.NewReplacer("¤", symbol, "0", number).Replace(pattern)
	if negative {
		return "−" + text
	}
	return text
}

// PlainAmount is an amount in minor units of a currency as a number of the API: 1249 is 12.49.
func PlainAmount(minor int64, currency string) string {
	digits, text, sign := money.Digits(currency), strconv.FormatInt(minor, 10), ""
	if minor < 0 {
		sign, text = "-", text[1:]
	}
	if digits == 0 {
		return sign + text
	}
	text = strings.Repeat("0", max(digits+1-len(text), 0)) + text
	return sign + text[:len(text)-digits] + "." + text[len(text)-digits:]
}

// separators stand in numbers of the language between groups of three digits, and before decimal places. A request outside of an app is English.
func (q *Request) separators() (group, point string) {
	if q.app == nil {
		return narrow, "."
	}
	return q.T("number.group"), q.T("number.point")
}

// Number is a number of the API, such as a quantity, as people of the language read it.
func (q *Request) Number(text string) string {
	group, point := q.separators()
	return Written(text, group, point)
}

// Count is a whole number as people read it.
func (q *Request) Count(n int64) string { return q.Number(strconv.FormatInt(n, 10)) }

// Amount is money of the company as people read it: 1 234.50, without its currency.
func (q *Request) Amount(minor int64) string {
	return q.Number(PlainAmount(minor, q.Company.Currency))
}

// Percent is a number of the API, such as a tax rate, with the sign of percent as people of the language write it.
func (q *Request) Percent(number string) string {
	pattern := "0%"
	if q.app != nil {
		pattern = q.T("number.percent")
	}
	return strings.Replace(pattern, "0", q.Number(number), 1)
}

// Share is a share in percent, with one digit, as people of the language write it.
func (q *Request) Share(part float64) string {
	return q.Percent(strconv.FormatFloat(part, 'f', 1, 64))
}

// Symbol is the sign of the currency of the company: €.
func (q *Request) Symbol() string { return money.Symbol(q.Company.Currency, q.lang) }

// Money is an amount with the sign of its currency.
func (q *Request) Money(minor int64) string { return q.Priced(q.Amount(minor)) }

// Priced is a text of [Request.Amount] with the sign of the currency.
func (q *Request) Priced(amount string) string {
	pattern := "¤0"
	if q.app != nil {
		pattern = q.T("number.money")
	}
	return WithSymbol(amount, q.Symbol(), pattern)
}

// Typed is a number of the API as people of the language type it: 1234,5.
func (q *Request) Typed(number string) string {
	_, point := q.separators()
	return strings.Replace(number, ".", point, 1)
}

// Decimal is an amount as people type it: 1249 is 12.49.
func (q *Request) Decimal(minor int64) string {
	return q.Typed(PlainAmount(minor, q.Company.Currency))
}

// decimal is [Request.Decimal] for an amount of the API. What is no amount stays.
func (q *Request) decimal(minor string) string {
	n, err := strconv.ParseInt(minor, 10, 64)
	if err != nil {
		return minor
	}
	return q.Decimal(n)
}

// ParseAmount is an amount of money that somebody typed, such as 12.50 or 1 234,50, in minor units of the currency of the company, as the
// API takes it: an int64. What cannot be read stays the text that was typed, so that the API says what is wrong.
func (q *Request) ParseAmount(typed string) any {
	digits, thousands := money.Digits(q.Company.Currency), ""
	if digits < 3 { // else three digits may be decimal places
		thousands, _ = q.separators()
	}
	number, ok := parseNumber(typed, thousands)
	whole, part, _ := strings.Cut(number, ".")
	if !ok || len(part) > digits {
		return typed
	}
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", digits-len(part)), 10, 64)
	if err != nil {
		return typed
	}
	return n
}

// ParseNumber is a number that somebody typed, with a comma or a point before its decimal places, as one of the API; ok is false if it
// cannot be read. Groups of three digits may be separated by spaces, and by the other of the two characters.
func ParseNumber(typed string) (number string, ok bool) { return parseNumber(typed, "") }

// parseNumber is [ParseNumber] where the last separator, with three digits behind it, may be one of thousands.
func parseNumber(typed, thousands string) (number string, ok bool) {
	text := strings.NewReplacer(" ", "", "\u00a0", "", narrow, "", "−", "-").Replace(strings.TrimSpace(typed))
	unsigned, negative := strings.CutPrefix(text, "-")
	whole, part, groups := unsigned, "", thousands
	if at := strings.LastIndexAny(unsigned, ".,"); at >= 0 && (unsigned[at:at+1] != thousands || len(unsigned)-at != len(thousands)+3) {
		whole, part, groups = unsigned[:at], unsigned[at+1:], strings.Trim(".,", unsigned[at:at+1])
	}
	if whole, ok = ungrouped(whole, groups); !ok || strings.Trim(whole+part, "0123456789") != "" {
		return "", false
	}
	if part != "" {
		whole += "." + part
	}
	if negative {
		whole = "-" + whole
	}
	return whole, true
}

// ungrouped is a whole number without what separates its groups of three digits.
func ungrouped(whole, separator string) (string, bool) {
	groups := []string{whole}
	if separator != "" {
		groups = strings.Split(whole, separator)
	}
	for i, g := range groups {
		if g == "" || len(groups) > 1 && (len(g) > 3 || i > 0 && len(g) != 3) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}
