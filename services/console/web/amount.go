package web

import (
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// narrow separates groups of three digits, and does not break.
const narrow = "\u202f"

// Amount is money of the company as people read it: 1 234.50, without its currency.
func (q *Request) Amount(minor int64) string {
	digits := money.Digits(q.Company.Currency)
	text := strconv.FormatInt(minor, 10)
	sign := ""
	if minor < 0 {
		sign, text = "−", text[1:]
	}
	if n := digits + 1 - len(text); n > 0 {
		text = strings.Repeat("0", n) + text
	}
	whole, part := text[:len(text)-digits], text[len(text)-digits:]
	if part != "" {
		part = "." + part
	}
	return sign + grouped(whole) + part
}

// Money is an amount with its currency.
func (q *Request) Money(minor int64) string { return q.Amount(minor) + "\u00a0" + q.Company.Currency }

// Decimal is a number of the API, such as a quantity, as people read it.
func Decimal(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "−", text[1:]
	}
	whole, part, found := strings.Cut(text, ".")
	if found {
		part = "." + part
	}
	return sign + grouped(whole) + part
}

func grouped(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(narrow)
		}
		b.WriteRune(d)
	}
	return b.String()
}
