package web

import (
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

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
