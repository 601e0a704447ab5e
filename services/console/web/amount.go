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

// ParseAmount is an amount of money that somebody typed, such as 12.50 or 1 234,50, in minor units of the currency of the company, as the
// API takes it: an int64. What cannot be read stays the text that was typed, so that the API says what is wrong.
func (q *Request) ParseAmount(typed string) any {
	text := strings.NewReplacer(" ", "", "\u00a0", "", narrow, "", "−", "-").Replace(strings.TrimSpace(typed))
	whole, part, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	digits := money.Digits(q.Company.Currency)
	unsigned := strings.TrimPrefix(whole, "-")
	if unsigned == "" || len(part) > digits || strings.Trim(unsigned+part, "0123456789") != "" {
		return typed
	}
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", digits-len(part)), 10, 64)
	if err != nil {
		return typed
	}
	return n
}

// Decimal is an amount as people type it: 1249 is 12.49.
func (q *Request) Decimal(minor int64) string { return q.decimal(strconv.FormatInt(minor, 10)) }

// decimal is [Request.Decimal] for an amount of the API. What is no amount stays.
func (q *Request) decimal(minor string) string {
	n, err := strconv.ParseInt(minor, 10, 64)
	if err != nil {
		return minor
	}
	digits, sign := money.Digits(q.Company.Currency), ""
	if n < 0 {
		sign, n = "-", -n
	}
	text := strconv.FormatInt(n, 10)
	if digits == 0 {
		return sign + text
	}
	text = strings.Repeat("0", max(digits+1-len(text), 0)) + text
	return sign + text[:len(text)-digits] + "." + text[len(text)-digits:]
}
