package web

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTypedAmounts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		lang, currency, typed string
		want                  any
	}{
		{"en", "EUR", "12.50", int64(1250)},
		{"en", "EUR", "12,5", int64(1250)},
		{"en", "EUR", " 1 234.05 ", int64(123405)},
		{"en", "EUR", "1,234.05", int64(123405)},
		{"en", "EUR", "1\u202f234", int64(123400)},
		{"en", "EUR", "-0.01", int64(-1)},
		{"en", "EUR", "−3", int64(-300)},
		{"en", "JPY", "500", int64(500)},
		{"en", "KWD", "1.234", int64(1234)},
		{"de", "EUR", "12,50", int64(1250)},
		{"de", "EUR", "12.50", int64(1250)},
		{"de", "EUR", "1.234", int64(123400)},
		{"de", "EUR", "1.234.567,8", int64(123456780)},
		{"de", "EUR", "−1.234,50", int64(-123450)},
		{"ru", "EUR", "1 234,50", int64(123450)},
		{"ru", "EUR", "1234.5", int64(123450)},
		{"en", "EUR", "12.505", "12.505"},
		{"en", "JPY", "1.5", "1.5"},
		{"en", "EUR", "", ""},
		{"en", "EUR", "-", "-"},
		{"en", "EUR", "ten", "ten"},
		{"en", "EUR", "1.2.3", "1.2.3"},
		{"en", "EUR", "12,34.5", "12,34.5"},
		{"de", "EUR", "12.34.567", "12.34.567"},
		{"en", "EUR", "1e3", "1e3"},
		{"en", "EUR", "99999999999999999999", "99999999999999999999"},
	} {
		q := inLanguage(t, row.lang, row.currency)
		require.Equal(t, row.want, q.ParseAmount(row.typed), "%s %s %q", row.lang, row.currency, row.typed)
		if n, ok := row.want.(int64); ok { // what is shown can be typed
			require.Equal(t, n, q.ParseAmount(q.Amount(n)))
			require.Equal(t, n, q.ParseAmount(q.Decimal(n)))
		}
	}
}
