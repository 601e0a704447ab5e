package records

import (
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// isAmount reports whether a value is money: it has the bounds of [money.Amount].
func isAmount(s httpapi.Shape) bool {
	return s.Type == "integer" && s.Maximum != nil && *s.Maximum == float64(money.MaxAmount)
}

// decimalOf is an amount of the API as people type it: 1249 is 12.49. What is no amount stays.
func decimalOf(q *web.Request, minor string) string {
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

// versionOf is the version that a form was shown with; 0 = any.
func versionOf(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
